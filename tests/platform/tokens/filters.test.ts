import { compileFilter, OPERATORS, parseFilter } from '../../../src/platform/tokens/filters';
import { setLookups } from '../../../src/platform/tokens/filter-lookups';
import { listMemberships, combineNeeds } from '../../../src/platform/tokens/filter-needs';
import { ownTokens } from '../../../src/platform/tokens/substitute';

const data = {
  state: 'ca',
  geo_state: 'California',
  income: '$52,500.50',
  debt: '1000',
  zip: '90210-1234',
  company: 'In-N-Out',
  note: 'like new',
  number_called: '+13105550123',
};
const holds = (filter: string) => compileFilter(filter)?.(ownTokens(data));

describe('the spellings of filters', () => {
  test.each([
    ['state:==CA', true],
    ['state:== CA', true],
    ['state:=CA', true],
    ['state:=="CA"', true],
    ['state:!=CA', false],
    ['state:!~^C', true],
    ['state:!~(?i)^C', false],
    ['state:=~^c', true],
    ['gone:!~x', true],
    ['state:in CA, NV', true],
    ['state:IN CA,NV', true],
    ['state:In [CA, NV]', true],
    ['state:in (CA, NV)', true],
    ['state:in(CA,NV)', true],
    ['state:in ["CA","NV"]', true],
    [`state:NOT IN ('CA', 'NV')`, false],
    ['state:not_in [TX]', true],
    ['state:not  in TX|NV', true],
    ['company:In-N-Out', true],
    ['note:==like new', true],
    ['number_called:(310) 555-0123', true],
    ['number_called:!=3105550123', false],
    ['geo_state:CA', true],
    ['geo_state:in ca,nv', true],
    ['geo_state:==california', true],
  ])('%s is %s', (filter, expected) => expect(holds(filter)).toBe(expected));

  test.each([
    ['income:>=$52,500', true],
    ['income:>52500.50', false],
    ['income:<= 1,000,000', true],
    ['debt:>=$1,000.00', true],
    ['debt:<$1,000.01', true],
    ['debt:==$1,000', true],
    ['debt:!=$1,000.00', false],
    ['debt:in "$1,000"|x', true],
    ['income:==52500.5', true],
    ['income:in 1,52500.50', true],
    ['zip:==902101234', false],
  ])('numbers with $ and commas are numbers: %s is %s', (filter, expected) =>
    expect(holds(filter)).toBe(expected),
  );

  test.each([
    'age:=>18',
    'age:<>18',
    'age:===18',
    'age:~18',
    'age:!18',
    'age:!=~18',
    'age:&&18',
    'age:>=old',
    'age:>',
    'age:between 1 and 5',
    'state:contains CA',
    'state:eq CA',
    'age:gte 18',
    'state:notin CA,NV',
    'state:not CA',
    'state:not in',
    'state:not',
    'state:like C%',
    'state:is null',
    'state:in []',
    'state:in ,',
    'state:in [CA',
    'state:in_list ',
    'state:starts with C',
    'state=CA',
    'State:CA',
    'zip:=~(',
    'zip:!~(',
  ])('%s is not understood', (filter) => expect(parseFilter(filter)).toBeUndefined());

  test('IN alone is Indiana, and the message lists every operator', () => {
    expect(compileFilter('state:IN')!(() => 'in')).toBe(true);
    for (const operator of ['==', '!=', '>=', '<=', '=~', '!~', 'in', 'not in', 'in_list'])
      expect(OPERATORS).toContain(operator);
  });

  test('neither a pattern nor its opposite holds when the steps are used up', () => {
    const tokens = ownTokens({ a: 'a'.repeat(1_000) });
    const costly = compileFilter('a:=~(?:.?.?){30}[^a]')!;
    for (let n = 0; n < 100; n++) costly(tokens);
    expect(compileFilter('a:!~^b')!(tokens)).toBe(false);
    expect(compileFilter('a:=~^a')!(tokens)).toBe(false);
  });
});

describe('a value list', () => {
  const filters = ['zip:in_list West Coast', 'zip:NOT IN_LIST "east"', 'state:in_list [States]'];

  test('is looked up once for all filters, a ZIP+4 also as its ZIP', () => {
    const needs = combineNeeds([filters, filters, ['state:CA']]);
    expect(needs.lists.map(({ list }) => list)).toEqual(['West Coast', 'east', 'States']);
    expect(listMemberships(needs, ownTokens(data))).toEqual([
      { list: 'West Coast', value: '90210-1234' },
      { list: 'West Coast', value: '90210' },
      { list: 'east', value: '90210-1234' },
      { list: 'east', value: '90210' },
      { list: 'States', value: 'ca' },
    ]);
  });

  test('has a value as it was looked up; a blank value is in none', () => {
    const tokens = ownTokens(data);
    setLookups(tokens, { members: new Set(['west coast\n90210']) });
    expect(filters.map((filter) => compileFilter(filter)!(tokens))).toEqual([true, true, false]);
    expect(compileFilter('gone:in_list West Coast')!(ownTokens({}))).toBe(false);
    expect(compileFilter('gone:not in_list West Coast')!(ownTokens({}))).toBe(true);
  });

  test('that was not looked up is a mistake of ours, not a filter that does not hold', () =>
    expect(() => compileFilter(filters[0]!)!(ownTokens(data))).toThrow('not looked up'));
});
