import { RE2JS } from 're2js';
import { cutText } from '../storable-text';
import type { TokenSource } from './substitute';

// Regular expressions that customers write. RE2 takes linear time, but not little: its work is the
// size of the compiled program times the length of the value. Both are bounded here, and so is the
// work of all patterns that one decision evaluates.

/**
 * Instructions of a compiled pattern: with values of 1,000 characters, the most that RE2 still
 * backtracks with a bitmap.
 */
const MAX_PROGRAM = 256;
/** Instructions to compile, as estimated without compiling and before equal parts are merged. */
const MAX_COMPILING = 1_000;
/** Instructions that a Unicode class such as \p{L} adds: hundreds of ranges, which are sorted. */
const UNICODE_CLASS_COST = 110;
/** With (?i), every character of a range costs a look-up. */
const FOLDED_PER_INSTRUCTION = 60;
/** A longer value is matched up to here. */
const MAX_VALUE_LENGTH = 1_000;
/** Instructions times characters, of all patterns of a decision. */
const MAX_STEPS = 5_000_000;
/** Compiling an instruction takes as long as so many steps. */
const STEPS_TO_COMPILE = 400;

export const PATTERN_LIMITS =
  `a regular expression in RE2 syntax of at most ${MAX_PROGRAM} instructions: a character or a` +
  ' class is one, {n} repeats them; at most 9 Unicode classes, and (?i) without long ranges';

/** Instructions and characters of all compiled patterns together: some 40 MB. */
const MAX_CACHED = 250_000;
/** Compiled patterns by their text; the one used last is at the end. */
const cache = new Map<string, RE2JS>();
let cached = 0;

const computeWeight = (pattern: RE2JS): number => pattern.programSize() + pattern.pattern().length;

function remember(pattern: RE2JS): void {
  cache.set(pattern.pattern(), pattern);
  cached += computeWeight(pattern);
  for (const [text, oldest] of cache) {
    if (cached <= MAX_CACHED) return;
    cache.delete(text);
    cached -= computeWeight(oldest);
  }
}

function recall(text: string): RE2JS | undefined {
  const pattern = cache.get(text);
  if (!pattern) return undefined;
  cache.delete(text);
  cache.set(text, pattern);
  return pattern;
}

/** A pattern within the limits that RE2 accepts: no back-references, no lookaround. */
export const isAllowedPattern = (text: string): boolean => compilePattern(text) !== undefined;

function compilePattern(text: string): RE2JS | undefined {
  const cachedPattern = recall(text);
  if (cachedPattern || !isSmall(text)) return cachedPattern;
  try {
    const pattern = RE2JS.compile(text);
    if (pattern.programSize() > MAX_PROGRAM) return undefined;
    remember(pattern);
    return pattern;
  } catch {
    return undefined;
  }
}

/** Steps that are left to the decision that reads its tokens from a source. */
const stepsLeft = new WeakMap<TokenSource, number>();

/**
 * Matches anywhere in a value. Undefined when earlier patterns have used up the steps of the
 * decision that `tokens` belongs to.
 */
export function matchesPattern(
  text: string,
  value: string,
  tokens: TokenSource,
): boolean | undefined {
  const pattern = recall(text) ?? compileWithinSteps(tokens, text);
  if (!pattern) return undefined;
  const part = value.length > MAX_VALUE_LENGTH ? cutText(value, MAX_VALUE_LENGTH) : value;
  if (!take(tokens, pattern.programSize() * (part.length + 1))) return undefined;
  // A matcher backtracks with a bitmap of instructions and characters; `test` would build an
  // automaton, which may take megabytes for each pattern.
  return pattern.matcher(part).find();
}

function compileWithinSteps(tokens: TokenSource, text: string): RE2JS | undefined {
  return take(tokens, STEPS_TO_COMPILE * Math.min(text.length, MAX_PROGRAM))
    ? compilePattern(text)
    : undefined;
}

function take(tokens: TokenSource, steps: number): boolean {
  const left = (stepsLeft.get(tokens) ?? MAX_STEPS) - steps;
  stepsLeft.set(tokens, left);
  return left >= 0;
}

/** The pattern can be compiled in little time. */
const isSmall = (text: string): boolean =>
  estimateProgram(text) + costOfClasses(text) <= MAX_COMPILING;

/** The ends of ranges beyond ASCII. */
const RANGE = /(?<=([^]))-(?=([^\0-\x7f]|\\x))/gu;
const MAX_CODE_POINT = 0x10ffff;

function costOfClasses(text: string): number {
  const classes = text.match(/\\p/gi)?.length ?? 0;
  let folded = 0;
  if (/\(\?[a-z-]*i/i.test(text))
    for (const [, low, high] of text.matchAll(RANGE))
      folded +=
        high === '\\x' ? MAX_CODE_POINT : Math.max(0, high!.codePointAt(0)! - low!.codePointAt(0)!);
  return classes * UNICODE_CLASS_COST + folded / FOLDED_PER_INSTRUCTION;
}

/** Where the class ends that begins at a bracket; Infinity if it is not closed. */
function endOfClass(text: string, start: number): number {
  let index = start + (text[start + 1] === '^' ? 2 : 1);
  if (text[index] === ']') index++;
  while (index < text.length) {
    if (text[index] === ']') return index + 1;
    const nameEnd = text.startsWith('[:', index) ? text.indexOf(':]', index) : -1;
    if (nameEnd >= 0) index = nameEnd + 2;
    else index += text[index] === '\\' ? 2 : 1;
  }
  return Infinity;
}

/** Where an escape ends, such as `\d`, `\p{Greek}` or `\Q...\E`. */
function endOfEscape(text: string, start: number): number {
  const kind = text[start + 1];
  if (kind === 'Q') return addLength(text.indexOf('\\E', start), 2);
  if (kind && 'pPx'.includes(kind) && text[start + 2] === '{')
    return addLength(text.indexOf('}', start), 1);
  return start + 2;
}

const addLength = (index: number, length: number): number =>
  index < 0 ? Infinity : index + length;

const COUNT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** The maximum of a counted repetition at an index, and the index where it ends. */
function countAt(text: string, index: number): { most: number; end: number } | undefined {
  COUNT.lastIndex = index;
  const match = COUNT.exec(text);
  if (!match) return undefined;
  return { most: Math.max(1, Number(match[1]), Number(match[2] ?? 0)), end: COUNT.lastIndex };
}

/** About as many instructions as a pattern compiles to, and hardly ever fewer. */
function estimateProgram(text: string): number {
  const groups: number[] = [];
  // Instructions of the open group, and of the last thing in it, which a repetition multiplies.
  let [group, last] = [0, 0];
  for (let index = 0; index < text.length;) {
    const character = text[index]!;
    const count = countAt(text, index);
    let end = count?.end ?? index + 1;
    if (count) [group, last] = repeatLast(group, last, count.most);
    else if ('*+?'.includes(character)) [group, last] = [group + 1, last + 1];
    else if (character === '(') {
      groups.push(group);
      [group, last] = [0, 0];
    } else if (character === ')') {
      last = group + 2;
      group = (groups.pop() ?? 0) + last;
    } else {
      if (character === '[') end = endOfClass(text, index);
      if (character === '\\') end = endOfEscape(text, index);
      last = text.startsWith('\\Q', index) ? Math.min(end, text.length) - index : 1;
      group += last;
    }
    index = end;
  }
  return groups.reduce((sum, size) => sum + size, group);
}

const repeatLast = (group: number, last: number, times: number): [number, number] => {
  const size = (last + 1) * times + 1;
  return [group - last + size, size];
};

/**
 * The text of the first group of a pattern in the beginning of a text, or of the whole match where
 * it has no group; undefined without a match.
 */
export function firstMatch(patternText: string, text: string): string | undefined {
  const pattern = compilePattern(patternText);
  const matcher = pattern?.matcher(cutText(text, MAX_VALUE_LENGTH));
  if (!pattern || !matcher?.find()) return undefined;
  return matcher.group(pattern.groupCount() > 0 ? 1 : 0) ?? '';
}
