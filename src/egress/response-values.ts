import { firstMatch, isAllowedPattern, PATTERN_LIMITS } from '../tokens/patterns';

// Where a response has a value: a path such as `$.bids[0].price`, or `=~` and a regular expression
// for its text.

const PATTERN_MARK = '=~';
const MAX_STEPS = 20;

/** A step of a path: a name, a quoted name in brackets, or a place in a list. */
const STEP = /\.?([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\[(?:'([^']{1,200})'|"([^"]{1,200})")\]/y;

/** The names and places of a path; undefined where it is not one. */
function stepsOf(path: string): string[] | undefined {
  const steps: string[] = [];
  STEP.lastIndex = path.startsWith('$') ? 1 : 0;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (!found) return undefined;
    steps.push(found[1] ?? found[2] ?? found[3] ?? found[4]!);
  }
  return steps.length > 0 && steps.length <= MAX_STEPS ? steps : undefined;
}

/** Why no value can be found at a place, in words that follow the name of a field. */
export function refusedPlace(place: string): string | undefined {
  if (place.startsWith(PATTERN_MARK))
    return isAllowedPattern(place.slice(PATTERN_MARK.length))
      ? undefined
      : `must be, after =~, ${PATTERN_LIMITS}`;
  return stepsOf(place)
    ? undefined
    : `must be a path such as $.bids[0].price of at most ${MAX_STEPS} steps, or =~ and a regular expression`;
}

/** Whether a place is looked up in the JSON of a response. */
export const isPath = (place: string): boolean => !place.startsWith(PATTERN_MARK);

/**
 * The value at a place of a response: of its JSON, as it is there, or of its text. Undefined where
 * there is none.
 */
export function valueAt(place: string, { json, text }: { json: unknown; text: string }): unknown {
  if (!isPath(place)) return firstMatch(place.slice(PATTERN_MARK.length), text);
  let value = json;
  for (const step of stepsOf(place) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value ?? undefined;
}
