import fc from 'fast-check';
import {
  flattenData,
  LIMITS,
  tokenName,
  buildTokens,
  type Data,
} from '../../../src/platform/tokens/lead-data';
import { checkPrototype, buildNested, parseData, checkUntouched } from '../../support/lead-data';

checkPrototype();

describe('data of a foreign shape, made plain', () => {
  test.each<[string, Data, Data]>([
    ['phone', { phone: '3105550123' }, { caller_id: '3105550123' }],
    [
      'phone_number and Email Address',
      { phone_number: '1', 'Email Address': 'a@b.c' },
      { caller_id: '1', email: 'a@b.c' },
    ],
    [
      'firstName, lname and postcode',
      { firstName: 'Ada', lname: 'Lovelace', postcode: 'W1A' },
      { first_name: 'Ada', last_name: 'Lovelace', zip: 'W1A' },
    ],
    [
      'what is nested',
      { contact: { mobile: '1', name: { first: 'Ada' } } },
      { caller_id: '1', mobile: '1', first_name: 'Ada', first: 'Ada' },
    ],
    [
      'names and lists of values',
      {
        f: [
          { name: 'email', values: ['a@b.c', 'x'] },
          { name: 'Phone Number', values: ['1'] },
        ],
      },
      { email: 'a@b.c', caller_id: '1' },
    ],
    [
      'keys and values, without hindrance by a blank one',
      {
        f: [
          { key: 'cell', value: '1' },
          { field: 'zip', value: null },
          { key: 'x', values: [] },
        ],
      },
      { caller_id: '1', cell: '1', zip: null, x: null },
    ],
    [
      'lists in what is nested',
      { lead: { fields: [{ name: 'contact', value: { tel: '1' } }] } },
      { caller_id: '1', tel: '1' },
    ],
    [
      'other lists stay',
      {
        tags: ['a', 'b'],
        people: [{ name: 'Ada', age: 3 }],
        none: [],
        odd: [{ name: 'a', value: 1 }, 2],
      },
      {
        tags: ['a', 'b'],
        people: [{ name: 'Ada', age: 3 }],
        none: [],
        odd: [{ name: 'a', value: 1 }, 2],
      },
    ],
  ])('%s', (_name, data, expected) => expect(flattenData(data)).toMatchObject(expected));

  test.each<[string, Data, Data]>([
    [
      'what has its own name is not overwritten',
      { phone: '1', caller_id: '2', mobile: '3' },
      { caller_id: '2', phone: '1', mobile: '3' },
    ],
    [
      'nor by what is nested in front of it',
      { contact: { email: 'in' }, email: 'out' },
      { email: 'out', contact_email: 'in' },
    ],
    [
      'nor by what is nested behind it',
      { email: 'out', a: { b: { email: 'in' } } },
      { email: 'out', a_b_email: 'in' },
    ],
    ['nor by a list', { f: [{ name: 'email', value: 'in' }], email: 'out' }, { email: 'out' }],
    [
      'the first of two that are nested as much',
      { a: { zip: '1' }, b: { zip: '2' } },
      { zip: '1', b_zip: '2' },
    ],
    ['a blank is not filled by a blank', { email: null, a: { email: ' ' } }, { email: null }],
    [
      'a blank one gives way to what is nested',
      { phone: '', lead: { phone: '1' } },
      { phone: '1', caller_id: '1' },
    ],
    [
      'a blank one gives way to another name',
      { caller_id: ' ', tel: '1' },
      { caller_id: '1', tel: '1' },
    ],
    [
      'the better known name is believed',
      { work_phone: '2', phone: '1' },
      { caller_id: '1', phone: '1', work_phone: '2' },
    ],
    [
      'what is nested as deep as it may be is lifted',
      buildNested(LIMITS.depth, { tel: '1' }),
      { caller_id: '1', tel: '1' },
    ],
    [
      'what is nested deeper stays',
      buildNested(LIMITS.depth + 1, { tel: '1' }),
      { a: { tel: '1' } },
    ],
    ['keys that are no name are left out', { '?': 1, '!': { a: 1 } }, {}],
    [
      'a name that is too long together is left out',
      { ['b'.repeat(60)]: { ['c'.repeat(60)]: 2 }, ['c'.repeat(60)]: 1 },
      { ['c'.repeat(60)]: 1 },
    ],
  ])('%s', (_name, data, expected) => expect({ ...flattenData(data) }).toEqual(expected));

  test('what was sent is left as it is', () => {
    const data = { a: { phone: '1', list: [{ name: 'x', value: {} }] } };
    const before = structuredClone(data);
    flattenData(data);
    expect(data).toEqual(before);
  });
  test('names of JavaScript are ordinary names, at every level', () => {
    const result = flattenData(
      parseData(
        '{"__proto__":"p","a":{"__proto__":{"polluted":1},"constructor":"c"},' +
          '"f":[{"name":"__proto__","value":"q"}]}',
      ),
    );
    expect(Object.entries(result).sort()).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['polluted', 1],
    ]);
    expect(
      Object.getPrototypeOf(
        flattenData(parseData('{"f":[{"name":"__proto__","value":{"polluted":1}}]}')),
      ),
    ).toBeNull();
  });

  const pair = (value: unknown) => [{ name: 'n', value }];
  const pairs = (levels: number) =>
    Array.from({ length: levels }).reduce<unknown>((inner) => pair(inner), 1);
  const many = <T>(value: (n: number) => T) => Array.from({ length: 100_000 }, (_, n) => value(n));
  test.each<[string, Data, number]>([
    ['levels without end', buildNested(20_000), 1],
    ['lists of pairs without end', { a: pairs(20_000) }, 1],
    [
      'a hundred thousand keys of one name',
      Object.fromEntries(many((n) => [`k${n}`, { phone: n }])),
      100_001,
    ],
    [
      'a hundred thousand pairs of few names',
      { a: many((n) => ({ name: `n${n % 7}`, values: [n] })) },
      7,
    ],
    ['a key of a million underscores', { a: { [`A${'_'.repeat(1_000_000)}a`]: 1 } }, 0],
  ])('%s come to an end', (_name, data, tokens) =>
    expect(Object.keys(flattenData(data))).toHaveLength(tokens),
  );

  test(
    'are tokens again, of plain values as deep as they may be; made plain twice ' +
      'they stay the same',
    () => {
      const key = fc.oneof(
        fc.constantFrom(
          '__proto__',
          'constructor',
          'phone',
          'email',
          'firstName',
          'name',
          'value',
          'values',
          'key',
        ),
        fc.string({ maxLength: 5 }),
      );
      const { tree } = fc.letrec((tie) => ({
        leaf: fc.oneof(
          fc.constantFrom('', null, 'phone', 'email', 7, true),
          fc.string({ maxLength: 5 }),
        ),
        tree: fc.oneof(
          { maxDepth: 4 },
          tie('leaf'),
          fc.array(tie('tree'), { maxLength: 3 }),
          fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
        ),
      }));
      const isPlain = (value: unknown) =>
        typeof value !== 'object' || value === null || Array.isArray(value);
      fc.assert(
        fc.property(fc.dictionary(key, tree, { maxKeys: 5 }), (data) => {
          const result = flattenData(data);
          for (const [name, value] of Object.entries(result))
            expect([tokenName(name), isPlain(value)]).toEqual([name, true]);
          const second = flattenData(result);
          // A list of pairs may come out of a list of pairs.
          if (!JSON.stringify(result).includes('[{')) expect(second).toEqual(result);
          expect(buildTokens({}, result).tokens).toEqual(result);
          checkUntouched();
        }),
        { numRuns: 1_000 },
      );
    },
  );
});
