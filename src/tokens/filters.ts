import { isAllowedPattern, matchesPattern } from './patterns';
import type { TokenSource } from './substitute';

export type FilterOperator = '=' | '!=' | '>=' | '<=' | '>' | '<' | '=~' | 'in' | 'not in';

export interface TokenFilter {
  name: string;
  operator: FilterOperator;
  operand: string;
}

const NAME = /^[a-z0-9_]{1,100}$/;
const OPERAND = /^(>=|<=|!=|=~|>|<|not in\b|in\b)?\s*((?:\S[^]*)?)$/;
const NUMERIC = new Set<FilterOperator>(['>=', '<=', '>', '<']);

/** Splits `key:value` at its first colon; undefined when the key is not a token name. */
export function parsePair(pair: string): [string, string] | undefined {
  const colon = pair.indexOf(':');
  const name = pair.slice(0, colon);
  return colon > 0 && NAME.test(name) ? [name, pair.slice(colon + 1)] : undefined;
}

/** The tokens of `key:value` pairs; of equal names the last counts. */
export const pairTokens = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(pairs.flatMap((pair) => [parsePair(pair)].filter((one) => one !== undefined)));

/**
 * Reads a filter such as `age:>=18` or `state:in CA,NV`. Undefined when it is malformed: without a
 * key, a comparison with something other than a number, or a regular expression beyond the limits.
 */
export function parseFilter(filter: string): TokenFilter | undefined {
  const parsed = splitFilter(filter);
  return parsed?.operator === '=~' && !isAllowedPattern(parsed.operand) ? undefined : parsed;
}

/** The regular expression of a filter, if it has one. */
export function patternOf(filter: string): string | undefined {
  const parsed = splitFilter(filter);
  return parsed?.operator === '=~' ? parsed.operand : undefined;
}

function splitFilter(filter: string): TokenFilter | undefined {
  const pair = parsePair(filter);
  if (!pair) return undefined;
  const [, symbol, operand = ''] = OPERAND.exec(pair[1].trim()) ?? [];
  const operator = (symbol ?? '=') as FilterOperator;
  if (NUMERIC.has(operator) && !/^-?\d+(\.\d+)?$/.test(operand)) return undefined;
  return { name: pair[0], operator, operand };
}

/** A number in a token; very large and very small ones are written with an exponent. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A filter as a predicate of tokens; undefined when it is malformed. An unknown token is blank:
 * `state:!=CA`, `state:not in CA` and `state:` hold for it. Case is ignored except in a regular
 * expression, which may match anywhere in the first 1,000 characters of the value.
 */
export function compileFilter(filter: string): ((tokens: TokenSource) => boolean) | undefined {
  const parsed = splitFilter(filter);
  if (!parsed) return undefined;
  const { name, operator, operand } = parsed;
  if (operator === '=~') return (tokens) => matchesPattern(operand, tokens(name) ?? '', tokens);
  const holds = condition(operator, operand);
  return (tokens) => holds(tokens(name) ?? '');
}

/** Whether all filters hold for these tokens; a malformed one holds for none. */
export const passesFilters = (filters: readonly string[], tokens: TokenSource): boolean =>
  filters.every((filter) => compileFilter(filter)?.(tokens) ?? false);

function condition(
  operator: Exclude<FilterOperator, '=~'>,
  operand: string,
): (value: string) => boolean {
  const wanted = folded(operand);
  const listed = new Set(operand.split(/[,|]/).map(folded).filter(Boolean));
  const number = Number(operand);
  switch (operator) {
    case '=':
      return (value) => folded(value) === wanted;
    case '!=':
      return (value) => folded(value) !== wanted;
    case 'in':
      return (value) => listed.has(folded(value));
    case 'not in':
      return (value) => !listed.has(folded(value));
    case '>=':
      return numeric((value) => value >= number);
    case '<=':
      return numeric((value) => value <= number);
    case '>':
      return numeric((value) => value > number);
    case '<':
      return numeric((value) => value < number);
  }
}

const folded = (text: string): string => text.trim().toLowerCase();

const numeric = (compare: (value: number) => boolean) => (value: string) =>
  NUMBER.test(value.trim()) && compare(Number(value));

/** Splits `key:value,key2:value2` at commas before a key: values may contain commas. */
export function splitPairs(text: string): string[] {
  return text
    .split(/,(?=\s*[a-z0-9_]{1,100}:)/)
    .map((pair) => pair.trim())
    .filter(Boolean);
}
