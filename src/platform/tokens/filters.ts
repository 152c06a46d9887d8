import { isMember } from './filter-lookups';
import { isFormatted, isNumeric, keyFor, numberIn } from './filter-values';
import { isAllowedPattern, matchesPattern } from './patterns';
import type { TokenSource } from './substitute';

/** The operators, one spelling of each. */
export type FilterOperator =
  '=' | '!=' | '>=' | '<=' | '>' | '<' | '=~' | '!~' | 'in' | 'not in' | 'in_list' | 'not in_list';

export interface TokenFilter {
  name: string;
  operator: FilterOperator;
  /** For `in` and `not in`: the whole list as written. */
  operand: string;
}

/** The operators with what may follow them, for errors and documents. */
export const OPERATORS =
  'key:value, or key: and an operator: == or != and a text; >=, <=, > or < and a number;' +
  ' =~ or !~ and a regular expression; in or not in and values separated by commas,' +
  ' with or without brackets; in_list or not in_list and the name of a value list';

const NAME = /^[a-z0-9_]{1,100}$/;
/** Longer operators first, so that none is taken for the beginning of another. */
const SYMBOL = /^(?:>=|<=|==|=~|!=|!~|>|<|=)/;
const SYMBOLS: Record<string, FilterOperator> = { '==': '=', '=': '=' };
const WORD = /^(not\s+|not_)?(in_list|in)(?=\s|[[(])\s*/i;
/** Characters that no value begins with, but operators of other systems: <>, =>, ~, !, ^=, &&. */
const UNKNOWN_SYMBOL = /^(?:[=!<>~]|[*^$&|]{1,2}=|&&|\|\|)/;
/** Operators of other systems in words. A text that begins with one can be written after ==. */
const UNKNOWN_WORD =
  /^(?:between|contains|eq|neq|gte?|lte|nin|notin|includes|excludes|like|ilike|matches|equals|starts[ _]with|begins[ _]with|ends[ _]with|in_list|not|not_in|not_in_list|is[ _](?:not|null|empty|blank|in))(?=\s|[[(]|$)/i;

/** Splits `key:value` at its first colon; undefined when the key is not a token name. */
export function parsePair(pair: string): [string, string] | undefined {
  const colon = pair.indexOf(':');
  const name = pair.slice(0, colon);
  return colon > 0 && NAME.test(name) ? [name, pair.slice(colon + 1)] : undefined;
}

/** The tokens of `key:value` pairs; of equal names the last counts. */
export const pairTokens = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.flatMap((pair) => [parsePair(pair)].filter((token) => token !== undefined)),
  );

/**
 * Reads a filter such as `age:>=18`, `state:in CA,NV` or `state:NOT IN (CA, NV)`. Undefined when
 * it is not understood: without a key, with another operator, with an operator that lacks what
 * must follow it, or with a regular expression beyond the limits.
 */
export function parseFilter(filter: string): TokenFilter | undefined {
  const parsed = splitFilter(filter);
  const hasPattern = parsed?.operator === '=~' || parsed?.operator === '!~';
  return hasPattern && !isAllowedPattern(parsed.operand) ? undefined : parsed;
}

export function readPattern(filter: string): string | undefined {
  const parsed = splitFilter(filter);
  return parsed?.operator === '=~' || parsed?.operator === '!~' ? parsed.operand : undefined;
}

/**
 * Like `parseFilter`, without the limits of regular expressions: stored filters were checked
 * before.
 */
export function splitFilter(filter: string): TokenFilter | undefined {
  const pair = parsePair(filter);
  if (!pair) return undefined;
  const [name, text] = [pair[0], pair[1].trim()];
  const symbol = SYMBOL.exec(text)?.[0];
  if (symbol !== undefined)
    return parseSymbolFilter(
      name,
      SYMBOLS[symbol] ?? (symbol as FilterOperator),
      text.slice(symbol.length),
    );
  const word = WORD.exec(text);
  if (word) return parseWordFilter(name, word, text.slice(word[0].length));
  if (UNKNOWN_SYMBOL.test(text) || UNKNOWN_WORD.test(text)) return undefined;
  return { name, operator: '=', operand: text };
}

const NUMERIC: ReadonlySet<FilterOperator> = new Set<FilterOperator>(['>=', '<=', '>', '<']);

function parseSymbolFilter(
  name: string,
  operator: FilterOperator,
  rest: string,
): TokenFilter | undefined {
  const operand = rest.trim();
  if (operator === '=~' || operator === '!~') return { name, operator, operand };
  // The rest begins with another operator, as in <>, => or ===.
  if (/^[=<>~]/.test(rest)) return undefined;
  if (NUMERIC.has(operator)) return isNumeric(operand) ? { name, operator, operand } : undefined;
  return { name, operator, operand: removeQuotes(operand) };
}

function parseWordFilter(name: string, [, not, word]: RegExpExecArray, rest: string) {
  const kind = word!.toLowerCase() as 'in' | 'in_list';
  const operator: FilterOperator = not ? `not ${kind}` : kind;
  const operand = removeBrackets(rest.trim());
  if (operand === undefined) return undefined;
  if (kind === 'in_list') {
    const list = removeQuotes(operand);
    return list ? { name, operator, operand: list } : undefined;
  }
  return splitList(operand).length > 0 ? { name, operator, operand } : undefined;
}

/** A value in quotes at the beginning of the rest of a list. */
const QUOTED = /^ ?(?:"[^"]*"|'[^']*')/;

const BRACKETS: Record<string, string> = { '[': ']', '(': ')' };

/** Undefined when a bracket is not closed at the end. */
function removeBrackets(text: string): string | undefined {
  const close = BRACKETS[text.charAt(0)];
  if (close === undefined) return text;
  return text.endsWith(close) ? text.slice(1, -1).trim() : undefined;
}

function removeQuotes(text: string): string {
  const quote = text.charAt(0);
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1).trim() : text;
}

/** The values of a list, separated by commas or bars; those in quotes may contain either. */
function splitList(text: string): string[] {
  const values: string[] = [];
  for (let from = 0; from <= text.length;) {
    const quoted = QUOTED.exec(text.slice(from))?.[0].length ?? 0;
    const separator = text.slice(from + quoted).search(/[,|]/);
    const to = separator < 0 ? text.length : from + quoted + separator;
    values.push(removeQuotes(text.slice(from, to).trim()));
    from = to + 1;
  }
  return values.filter(Boolean);
}

/**
 * A filter as a predicate of tokens; undefined when it is not understood. An unknown token is
 * blank: `state:!=CA`, `state:not in CA`, `state:!~^C` and `state:` hold for it. Case is ignored
 * except in a regular expression, which may match anywhere in the first 1,000 characters of the
 * value. Memberships for `in_list` must have been looked up
 * (src/platform/tokens/filter-lookups.ts).
 */
export function compileFilter(filter: string): ((tokens: TokenSource) => boolean) | undefined {
  const parsed = splitFilter(filter);
  if (!parsed) return undefined;
  const { name, operator, operand } = parsed;
  switch (operator) {
    case '=~':
      return (tokens) => matchesPattern(operand, tokens(name) ?? '', tokens) === true;
    case '!~':
      // Undefined, neither true nor false, when the steps of the decision are used up.
      return (tokens) => matchesPattern(operand, tokens(name) ?? '', tokens) === false;
    case 'in_list':
      return (tokens) => isMember(tokens, operand, tokens(name) ?? '');
    case 'not in_list':
      return (tokens) => !isMember(tokens, operand, tokens(name) ?? '');
    default: {
      const holds = condition(name, operator, operand);
      return (tokens) => holds(tokens(name) ?? '');
    }
  }
}

/** A filter that is not understood never holds. */
export const passesFilters = (filters: readonly string[], tokens: TokenSource): boolean =>
  filters.every((filter) => compileFilter(filter)?.(tokens) ?? false);

type ComparisonOperator = Exclude<FilterOperator, '=~' | '!~' | 'in_list' | 'not in_list'>;
type Condition = (value: string) => boolean;

function condition(name: string, operator: ComparisonOperator, operand: string): Condition {
  switch (operator) {
    case '=':
      return matchAny(name, [operand]);
    case '!=':
      return not(matchAny(name, [operand]));
    case 'in':
      return matchAny(name, splitList(operand));
    case 'not in':
      return not(matchAny(name, splitList(operand)));
    case '>=':
      return numeric(operand, (value, number) => value >= number);
    case '<=':
      return numeric(operand, (value, number) => value <= number);
    case '>':
      return numeric(operand, (value, number) => value > number);
    case '<':
      return numeric(operand, (value, number) => value < number);
  }
}

const not =
  (holds: Condition): Condition =>
  (value) =>
    !holds(value);

/** Texts are equal without regard to case; $1,000.00 and 1000 are equal as numbers. */
function matchAny(name: string, expected: readonly string[]): Condition {
  const key = keyFor(name);
  const keys = new Set(expected.map(key));
  const numbers = new Set(expected.map(numberIn).filter((number) => number !== undefined));
  const formatted = new Set(expected.filter(isFormatted).map(numberIn));
  return (value) => {
    if (keys.has(key(value))) return true;
    const number = numbers.size > 0 ? numberIn(value) : undefined;
    return number !== undefined && (isFormatted(value) ? numbers : formatted).has(number);
  };
}

function numeric(operand: string, compare: (value: number, number: number) => boolean): Condition {
  const number = numberIn(operand)!;
  return (value) => {
    const valueNumber = numberIn(value);
    return valueNumber !== undefined && compare(valueNumber, number);
  };
}

/** Splits `key:value,key2:value2` at commas before a key: values may contain commas. */
export function splitPairs(text: string): string[] {
  return text
    .split(/,(?=\s*[a-z0-9_]{1,100}:)/)
    .map((pair) => pair.trim())
    .filter(Boolean);
}
