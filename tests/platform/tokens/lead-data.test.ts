import fc from 'fast-check';
import { LIMITS, tokenName, buildTokens, type Data } from '../../../src/platform/tokens/lead-data';
import { checkPrototype, names, buildNested, parseData } from '../../support/lead-data';

checkPrototype();

describe('the name of a token', () => {
  test.each([
    ['first_name', 'first_name'],
    ['firstName', 'first_name'],
    ['First Name', 'first_name'],
    ['first-name', 'first_name'],
    ['FIRST NAME', 'first_name'],
    [' First.Name? ', 'first_name'],
    ['address1', 'address1'],
    ['addressLine2Text', 'address_line2_text'],
    ['lead[zip]', 'lead_zip'],
    ['_id', '_id'],
    ['__Id__', 'id'],
    ['a__b', 'a__b'],
    ['7', '7'],
    ['Straße', 'stra_e'],
    ['a'.repeat(100), 'a'.repeat(100)],
    [`${' '.repeat(500)}A${'-'.repeat(500)}b`, 'a_b'],
    ['a'.repeat(101), undefined],
    ['', undefined],
    ['---', undefined],
    ['___ ', undefined],
    ['名前', undefined],
    ['__proto__', '__proto__'],
    ['toString', 'to_string'],
  ])('%j is %j', (key, name) => expect(tokenName(key)).toBe(name));

  test('is a valid name, whose name is itself, or there is none', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.stringMatching(/^[A-Za-z_ .-]{0,120}$/),
        ),
        (key) => {
          const name = tokenName(key);
          if (name === undefined) return;
          expect(name).toMatch(/^[a-z0-9_]{1,100}$/);
          expect(tokenName(name)).toBe(name);
        },
      ),
      { numRuns: 1_000 },
    );
  });
  // A reading that is not linear would take half an hour.
  test.each([
    ['_', 'A', 'a', undefined],
    ['_', 'A', '', 'a'],
    ['_', '', '', undefined],
    [' ', 'A', 'a', 'a_a'],
    ['-_', '', 'a', 'a'],
    ['_ ', 'a', '', 'a'],
    ['aA', '', '', undefined],
    ['é', 'a', 'a', 'a_a'],
  ])('a million of %j between %j and %j are read', (unit, before, after, name) => {
    expect(tokenName(before + unit.repeat(1_000_000 / unit.length) + after)).toBe(name);
  });
});

describe('the tokens of a submission', () => {
  test.each<[string, Data, Data, Data]>([
    [
      'are its unknown keys and its data, under the names of tokens',
      { firstName: 'Ada' },
      { 'Zip Code': '90210' },
      { first_name: 'Ada', zip_code: '90210' },
    ],
    ['data beats loose keys', { zip: '1', city: 'a' }, { zip: '2' }, { zip: '2', city: 'a' }],
    [
      'data beats loose keys in any spelling',
      { first_name: 'loose' },
      { firstName: 'data' },
      { first_name: 'data' },
    ],
    [
      'an exact name beats what is made one, before it',
      {},
      { first_name: 'exact', firstName: 'made' },
      { first_name: 'exact' },
    ],
    [
      'an exact name beats what is made one, behind it',
      {},
      { firstName: 'made', first_name: 'exact' },
      { first_name: 'exact' },
    ],
    [
      'values stay as they are, null too',
      {},
      { a: null, b: 0, c: '', d: [{ E: 1 }], f: false },
      { a: null, b: 0, c: '', d: [{ E: 1 }], f: false },
    ],
  ])('%s', (_name, loose, data, tokens) =>
    expect(buildTokens(loose, data)).toEqual({ tokens, faults: [] }),
  );

  test('names of JavaScript are ordinary names', () => {
    const json =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},' +
      '"toString":"t","hasOwnProperty":"h","valueOf":"v"}';
    const { tokens, faults } = buildTokens(parseData(json), parseData('{"prototype":"p"}'));
    const plain =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},' +
      '"prototype":"p","has_own_property":"h","to_string":"t","value_of":"v"}';
    expect(Object.entries(tokens).sort()).toEqual(Object.entries(parseData(plain)).sort());
    expect(parseData(JSON.stringify(tokens))).toEqual(parseData(plain));
    expect([faults, tokens.polluted, 'polluted' in tokens]).toEqual([[], undefined, false]);
  });

  const wide = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  test.each<[string, Data]>([
    ['200 tokens', names(LIMITS.tokens)],
    ['200 tokens under more keys', { ...names(LIMITS.tokens), T0: 0, ' t1 ': 1 }],
    ['64 kB of JSON', wide(LIMITS.bytes)],
    ['5 levels', { a: buildNested(LIMITS.depth) }],
    ['5 levels of lists', { a: [[[[[]]]]] }],
    ['a list of ten thousand', { a: Array<number>(10_000).fill(1) }],
  ])('may be %s', (_name, data) => expect(buildTokens({}, data).faults).toEqual([]));
  const [many, large] = [
    `must have at most ${LIMITS.tokens} tokens`,
    `must be at most ${LIMITS.bytes} bytes as JSON`,
  ];
  const deep = `must not be nested deeper than ${LIMITS.depth} levels`;
  test.each<[string, Data, Data, string[]]>([
    ['more than 200 tokens', {}, names(LIMITS.tokens + 1), [`data ${many}`]],
    ['more than 200 tokens together', { more: 1 }, names(LIMITS.tokens), [`data ${many}`]],
    ['more than 64 kB', {}, wide(LIMITS.bytes + 1), [`data ${large}`]],
    [
      'more than 64 kB in bytes, not characters',
      {},
      { a: 'é'.repeat(LIMITS.bytes / 2) },
      [`data ${large}`],
    ],
    ['a list without end', {}, { a: Array<number>(500_000).fill(1) }, [`data ${large}`]],
    ['more than 5 levels', { ok: 1 }, { b: buildNested(LIMITS.depth + 1) }, [`b ${deep}`]],
    ['more than 5 levels of lists', { a: [[[[[[]]]]]] }, {}, [`a ${deep}`]],
    [
      'levels without end',
      {},
      { a: parseData('['.repeat(100_000) + ']'.repeat(100_000)) },
      [`a ${deep}`],
    ],
    [
      'keys that are no name',
      { '?': 1 },
      { '': 1, ['b'.repeat(101)]: 1 },
      ['?', 'data', 'b'.repeat(100)].map(
        (field) =>
          `${field} must be a name of letters, digits and underscores, at most 100 of them`,
      ),
    ],
  ])('must not be %s', (_name, loose, data, faults) =>
    expect(
      buildTokens(loose, data).faults.map(({ field, message }) => `${field} ${message}`),
    ).toEqual(faults),
  );
});
