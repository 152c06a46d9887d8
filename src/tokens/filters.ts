import { RE2JS } from 're2js';
import type { TokenSource } from './substitute';

export type FilterOperator = '=' | '!=' | '>=' | '<=' | '>' | '<' | '=~' | 'in' | 'not in';

export interface TokenFilter {
  name: string;
  operator: FilterOperator;
  operand: string;
}

const NAME = /^[a-z0-9_]{1,100}$/;
const OPERAND = /^(>=|<=|!=|=~|>|<|not in\b|in\b)?\s*([^]*)$/;
const NUMERIC = new Set<FilterOperator>(['>=', '<=', '>', '<']);

/** Splits `key:value` at its first colon; undefined when the key is no token name. */
export function parsePair(pair: string): [string, string] | undefined {
  const colon = pair.indexOf(':');
  const name = pair.slice(0, colon);
  return colon > 0 && NAME.test(name) ? [name, pair.slice(colon + 1)] : undefined;
}

/** The tokens among `key:value` pairs; the last of one name counts. */
export const pairTokens = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(pairs.flatMap((pair) => [parsePair(pair)].filter((one) => one !== undefined)));

/**
 * Reads a filter such as `age:>=18` or `state:in CA,NV`. Undefined when it is malformed: no key, a comparison with something that is
 * no number, or a regular expression that RE2 (linear time, no back-references) does not take.
 */
export function parseFilter(filter: string): TokenFilter | undefined {
  const pair = parsePair(filter);
  if (!pair) return undefined;
  const [, symbol, operand = ''] = OPERAND.exec(pair[1].trim()) ?? [];
  const operator = (symbol ?? '=') as FilterOperator;
  if (NUMERIC.has(operator) && !/^-?\d+(\.\d+)?$/.test(operand)) return undefined;
  if (operator === '=~' && !isLinearPattern(operand)) return undefined;
  return { name: pair[0], operator, operand };
}

/** How a number in a token is written; the exponent is how very large and very small ones become text. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A filter as a question about tokens; undefined when it is malformed. An unknown token is blank: `state:!=CA` and `state:not in CA` hold for
 * it, and so does `state:`. Upper and lower case are the same except in a regular expression, which may match anywhere in the value.
 */
export function compileFilter(filter: string): ((tokens: TokenSource) => boolean) | undefined {
  const parsed = parseFilter(filter);
  if (!parsed) return undefined;
  const holds = condition(parsed);
  return (tokens) => holds(tokens(parsed.name) ?? '');
}

function condition({ operator, operand }: TokenFilter): (value: string) => boolean {
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
    case '=~':
      return matches(operand);
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

function matches(pattern: string): (value: string) => boolean {
  const compiled = RE2JS.compile(pattern);
  return (value) => compiled.matcher(value).find();
}

function isLinearPattern(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Splits `key:value,key2:value2` where a comma is followed by a key, so that values may hold commas. */
export function splitPairs(text: string): string[] {
  return text
    .split(/,(?=\s*[a-z0-9_]{1,100}:)/)
    .map((pair) => pair.trim())
    .filter(Boolean);
}
