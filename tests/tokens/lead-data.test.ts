import fc from 'fast-check';
import { flattened, LIMITS, tokenName, tokensOf, type Data } from '../../src/tokens/lead-data';
import { CALL_TOKENS, leadTokens, type SystemFacts } from '../../src/tokens/system';

/** As JSON of a request gives it: a key `__proto__` is a key like any other. */
const parsed = (json: string) => JSON.parse(json) as Data;
const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, n]));
/** A value so many levels deep. */
const nested = (levels: number, inside: unknown = 1) =>
  parsed('{"a":'.repeat(levels) + JSON.stringify(inside) + '}'.repeat(levels));
const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype);
const untouched = () =>
  expect([Object.getOwnPropertyNames(Object.prototype), ({} as Data).polluted]).toEqual([
    PROTOTYPE_NAMES,
    undefined,
  ]);
afterEach(untouched);

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

  test('is a name, of which it is the name, or there is none', () => {
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
    expect(tokensOf(loose, data)).toEqual({ tokens, faults: [] }),
  );

  test('names of JavaScript are ordinary names', () => {
    const json =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"t","hasOwnProperty":"h","valueOf":"v"}';
    const { tokens, faults } = tokensOf(parsed(json), parsed('{"prototype":"p"}'));
    const plain =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":"p","has_own_property":"h","to_string":"t","value_of":"v"}';
    expect(Object.entries(tokens).sort()).toEqual(Object.entries(parsed(plain)).sort());
    expect(parsed(JSON.stringify(tokens))).toEqual(parsed(plain));
    expect([faults, tokens.polluted, 'polluted' in tokens]).toEqual([[], undefined, false]);
  });

  const wide = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  test.each<[string, Data]>([
    ['200 tokens', names(LIMITS.tokens)],
    ['200 tokens under more keys', { ...names(LIMITS.tokens), T0: 0, ' t1 ': 1 }],
    ['64 kB of JSON', wide(LIMITS.bytes)],
    ['5 levels', { a: nested(LIMITS.depth) }],
    ['5 levels of lists', { a: [[[[[]]]]] }],
    ['a list of ten thousand', { a: Array<number>(10_000).fill(1) }],
  ])('may be %s', (_name, data) => expect(tokensOf({}, data).faults).toEqual([]));
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
    ['more than 5 levels', { ok: 1 }, { b: nested(LIMITS.depth + 1) }, [`b ${deep}`]],
    ['more than 5 levels of lists', { a: [[[[[[]]]]]] }, {}, [`a ${deep}`]],
    [
      'levels without end',
      {},
      { a: parsed('['.repeat(100_000) + ']'.repeat(100_000)) },
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
    expect(tokensOf(loose, data).faults.map(({ field, message }) => `${field} ${message}`)).toEqual(
      faults,
    ),
  );
});

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
  ])('%s', (_name, data, found) => expect(flattened(data)).toMatchObject(found));

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
      nested(LIMITS.depth, { tel: '1' }),
      { caller_id: '1', tel: '1' },
    ],
    ['what is nested deeper stays', nested(LIMITS.depth + 1, { tel: '1' }), { a: { tel: '1' } }],
    ['keys that are no name are left out', { '?': 1, '!': { a: 1 } }, {}],
    [
      'a name that is too long together is left out',
      { ['b'.repeat(60)]: { ['c'.repeat(60)]: 2 }, ['c'.repeat(60)]: 1 },
      { ['c'.repeat(60)]: 1 },
    ],
  ])('%s', (_name, data, found) => expect({ ...flattened(data) }).toEqual(found));

  test('what was sent is left as it is', () => {
    const data = { a: { phone: '1', list: [{ name: 'x', value: {} }] } };
    const before = structuredClone(data);
    flattened(data);
    expect(data).toEqual(before);
  });
  test('names of JavaScript are ordinary names, at every level', () => {
    const found = flattened(
      parsed(
        '{"__proto__":"p","a":{"__proto__":{"polluted":1},"constructor":"c"},"f":[{"name":"__proto__","value":"q"}]}',
      ),
    );
    expect(Object.entries(found).sort()).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['polluted', 1],
    ]);
    expect(
      Object.getPrototypeOf(
        flattened(parsed('{"f":[{"name":"__proto__","value":{"polluted":1}}]}')),
      ),
    ).toBeNull();
  });

  const pair = (value: unknown) => [{ name: 'n', value }];
  const pairs = (levels: number) =>
    Array.from({ length: levels }).reduce<unknown>((inner) => pair(inner), 1);
  const many = <T>(value: (n: number) => T) => Array.from({ length: 100_000 }, (_, n) => value(n));
  test.each<[string, Data, number]>([
    ['levels without end', nested(20_000), 1],
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
    expect(Object.keys(flattened(data))).toHaveLength(tokens),
  );

  test('are tokens again, of plain values as deep as they may be; made plain twice they stay the same', () => {
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
        const found = flattened(data);
        for (const [name, value] of Object.entries(found))
          expect([tokenName(name), isPlain(value)]).toEqual([name, true]);
        const again = flattened(found);
        // A list of pairs may come out of a list of pairs.
        if (!JSON.stringify(found).includes('[{')) expect(again).toEqual(found);
        expect(tokensOf({}, found).tokens).toEqual(found);
        untouched();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the tokens of a lead', () => {
  const facts: SystemFacts = {
    ...{
      caller_id: '+13105550123',
      service_number: '+18005550100',
      offer_name: 'Solar',
      buyer_name: 'Acme',
      call_uuid: 'u-1',
      total_duration: 0,
    },
    ...{
      revenue: '12.50',
      payout: '0.00',
      previous_buyer_fleet_ids: ['3', '5'],
      calls_last: { 1: 0, 7: 2, 30: 4, 90: 8 },
    },
  };
  const nothing = {
    ...facts,
    service_number: undefined,
    offer_name: undefined,
    buyer_name: undefined,
    call_uuid: undefined,
    total_duration: undefined,
  };
  const system = {
    ...{
      caller_id: '+13105550123',
      buyer_name: 'Acme',
      offer_name: 'Solar',
      call_uuid: 'u-1',
      total_duration: '0',
      revenue: '12.50',
      payout: '0.00',
    },
    ...{ service_number: '+18005550100', previous_buyer_fleet_ids: '3,5' },
    ...{
      calls_last_1_days: '0',
      calls_last_7_days: '2',
      calls_last_30_days: '4',
      calls_last_90_days: '8',
    },
  };

  test.each(Object.entries(system))(
    '%s is what the service knows, %j, unless the lead has its own',
    (name, value) => {
      expect(leadTokens({}, facts)(name)).toBe(value);
      expect(leadTokens({ [name]: null }, facts)(name)).toBe(value);
      expect(leadTokens({ [name]: 'own' }, facts)(name)).toBe('own');
    },
  );
  test('there is none of what the service does not know', () => {
    const tokens = leadTokens({}, nothing);
    expect(
      ['service_number', 'offer_name', 'buyer_name', 'call_uuid', 'total_duration'].map(tokens),
    ).toEqual(Array(5).fill(undefined));
  });
  test.each<[string, string, Data, string | undefined]>([
    [
      'the lead’s own first name',
      'first_name',
      { first_name: 'Ada', full_name: 'Grace Hopper' },
      'Ada',
    ],
    [
      'the first name out of the full name',
      'first_name',
      { full_name: 'Ada King Lovelace', name: 'Grace' },
      'Ada',
    ],
    ['one word', 'first_name', { full_name: 'Ada' }, 'Ada'],
    ['blanks around it', 'first_name', { full_name: ' \tAda\n Lovelace' }, 'Ada'],
    [
      'the first name out of the name',
      'first_name',
      { full_name: ' ', name: 'Grace Hopper' },
      'Grace',
    ],
    ['no name', 'first_name', { full_name: '', name: ' ' }, undefined],
    ['nothing of a name', 'first_name', {}, undefined],
    ['the state', 'geo_state', { state: 'CA' }, 'CA'],
    ['the state or province first', 'geo_state', { state_province: 'ON', state: 'CA' }, 'ON'],
    [
      'the state when the province is blank',
      'geo_state',
      { state_province: '', state: 'CA' },
      'CA',
    ],
    ['its own geo_state', 'geo_state', { geo_state: 'NV', state: 'CA' }, 'NV'],
    ['no state', 'geo_state', {}, undefined],
    ['other data', 'zip', { zip: 90210 }, '90210'],
  ])('%s', (_name, token, data, value) => expect(leadTokens(data, facts)(token)).toBe(value));

  test.each([
    'gone',
    '',
    'FIRST_NAME',
    'calls_last_2_days',
    '__proto__',
    'constructor',
    'toString',
    'to_string',
    'hasOwnProperty',
    'valueOf',
  ])('there is none of the name %j', (name) => expect(leadTokens({}, facts)(name)).toBeUndefined());
  test('data under names of JavaScript are data', () => {
    const tokens = leadTokens(parsed('{"__proto__":"p","constructor":"c"}'), facts);
    expect(['__proto__', 'constructor', 'toString'].map(tokens)).toEqual(['p', 'c', undefined]);
  });
  test('those that cost a look at the calls are tokens', () =>
    expect(CALL_TOKENS.map(leadTokens({}, facts))).not.toContain(undefined));
});
