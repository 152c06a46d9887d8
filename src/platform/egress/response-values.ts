import { firstMatch, isAllowedPattern, PATTERN_LIMITS } from '../tokens/patterns';

// Selectors of values in a response: a path such as `$.bids[0].price`, or `=~` and a regular
// expression for its text.

const PATTERN_MARK = '=~';
const MAX_STEPS = 20;

/** A step of a path: a name, a quoted name in brackets, or an index of a list. */
const STEP = /\.?([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\[(?:'([^']{1,200})'|"([^"]{1,200})")\]/y;

/** The names and indexes of a path; undefined for an invalid path. */
function parseSteps(path: string): string[] | undefined {
  const steps: string[] = [];
  STEP.lastIndex = path.startsWith('$') ? 1 : 0;
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (!match) return undefined;
    steps.push(match[1] ?? match[2] ?? match[3] ?? match[4]!);
  }
  return steps.length > 0 && steps.length <= MAX_STEPS ? steps : undefined;
}

/** Finds out why a selector is invalid, in words that follow the name of a field. */
export function findSelectorFault(selector: string): string | undefined {
  if (selector.startsWith(PATTERN_MARK))
    return isAllowedPattern(selector.slice(PATTERN_MARK.length))
      ? undefined
      : `must be, after =~, ${PATTERN_LIMITS}`;
  return parseSteps(selector)
    ? undefined
    : `must be a path such as $.bids[0].price of at most ${MAX_STEPS} steps, ` +
        'or =~ and a regular expression';
}

/** A path selects from the JSON of a response, a pattern from its text. */
export const isPath = (selector: string): boolean => !selector.startsWith(PATTERN_MARK);

/** The selected value of a response, from its JSON or its text. Undefined where there is none. */
export function extractValue(
  selector: string,
  { json, text }: { json: unknown; text: string },
): unknown {
  if (!isPath(selector)) return firstMatch(selector.slice(PATTERN_MARK.length), text);
  let value = json;
  for (const step of parseSteps(selector) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value ?? undefined;
}
