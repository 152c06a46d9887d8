// Token filters as the API has them (`state:in CA,NV`), and in their parts. Nothing here draws.

export const OPERATORS = [
  ['==', 'is'],
  ['!=', 'is not'],
  ['in', 'is one of'],
  ['not in', 'is none of'],
  ['>=', 'is at least'],
  ['<=', 'is at most'],
  ['>', 'is more than'],
  ['<', 'is less than'],
  ['in_list', 'is in the value list'],
  ['not in_list', 'is not in the value list'],
  ['=~', 'matches the pattern'],
  ['!~', 'does not match the pattern'],
] as const;

export type Operator = (typeof OPERATORS)[number][0];

export interface TokenFilter {
  name: string;
  operator: Operator;
  value: string;
}

const NAME = /^[a-z0-9_]{1,100}$/;
const SYMBOL = /^(>=|<=|==|=~|!=|!~|>|<)/;
const WORD = /^(not in_list|not in|in_list|in) /;

/** The parts of a filter; undefined where printing them would not give the text back. */
export function parseFilter(text: string): TokenFilter | undefined {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (colon < 1 || !NAME.test(name)) return undefined;
  const operator = (SYMBOL.exec(rest)?.[1] ?? WORD.exec(rest)?.[1] ?? '') as Operator | '';
  const isWord = WORD.test(rest);
  const filter: TokenFilter = {
    name,
    operator: operator === '' ? '==' : operator,
    value: rest.slice(operator.length + (isWord ? 1 : 0)),
  };
  const isPlain = operator === '' && `${name}:${filter.value}` === text && isSafe(filter.value);
  return isPlain || printFilter(filter) === text ? filter : undefined;
}

/** Without an operator, a text must not look as if it began with one. */
const isSafe = (value: string): boolean =>
  /^[\w+]/.test(value) && !/^(not|in|in_list)\b/i.test(value);

export const printFilter = ({ name, operator, value }: TokenFilter): string =>
  `${name}:${operator}${/^[a-z]/.test(operator) ? ' ' : ''}${value}`;

/** Facts of each call, which are tokens too. */
export const FACTS = [
  'geo_state',
  'geo_city',
  'geo_zip',
  'geo_country',
  'area_code',
  'number_called',
  'traffic_source_id',
  'user_traffic_source_id',
  'sub_id',
];
