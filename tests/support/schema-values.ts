import fc from 'fast-check';
import { contract, facets, type Schema } from '../../src/platform/contract/contract';

// Values for the schemas of the contract: those that they allow, with the bounds more often than
// the rest, and those that no schema allows.

const NASTY = [
  ...['', ' ', '0', '-1', '1e308', '9'.repeat(30), 'NaN', 'null', 'true', '%', '\\', '{}', '{1}'],
  ...[
    '[]',
    '[',
    '{',
    '\u0000',
    '\ud800',
    '🙂',
    '../..',
    'a:b',
    'a:=~(a+)+$',
    'a:=~[',
    '+1',
    'sip:',
  ],
  ...["'; DROP TABLE buyers; --", '2026-02-30', '2026-01-01T25:00:00Z', '00:00..24:00', 'UTC\n'],
  ...['__proto__', 'constructor', 'x'.repeat(5_000), '1,2,3', ',', 'a,,b', '019a9e6c-3f0e-7c52'],
];
const WELL_FORMED = NASTY.filter((text) => text.isWellFormed());

/** Text that a query string or a path can hold, whatever it is for. */
export const junkText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...WELL_FORMED),
  fc.string({ maxLength: 20 }),
);

/** Values that a JSON body can hold, whatever it is for. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY),
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1.005, 1e15, 1e300, 2 ** 53),
  fc.constantFrom<unknown>([], {}, [[]], [null], [{}], { a: 1 }, ['', 'x'], { times: ['09:00'] }),
  fc.string({ maxLength: 40 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 4 }),
);

const BY_FORMAT: Record<string, fc.Arbitrary<unknown>> = {
  'date-time': fc
    .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  mailbox: fc.emailAddress().map((address) => `Desk <${address}>`),
  'time-zone': fc.constantFrom(
    'America/New_York',
    'UTC',
    'Asia/Kathmandu',
    'Pacific Time (US & Canada)',
  ),
  telephone: fc
    .integer({ min: 2, max: 9_999_999 })
    .map((n) => `+1310${String(n).padStart(7, '5')}`),
  'call-destination': fc.constantFrom('+13105550123', 'sip:desk@example.com', '+442079460000'),
  'time-range': fc.constantFrom('00:00..23:59', '09:00..17:00', '23:00..01:00'),
  'token-pair': fc.constantFrom('state:ca', 'age:30'),
  'token-pairs': fc.constantFrom('state:ca,age:30', ''),
  'token-filter': fc.constantFrom('state:ca', 'age:>=30', 'zip:in 90210|10001', 'city:=~^San'),
  money: fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100),
  'http-url': fc.constantFrom('https://example.com/hook', 'https://203.0.113.7/x?y=[lead_id]'),
  uri: fc.webUrl(),
};

/** How deep generated values are nested. */
const MAX_DEPTH = 4;

interface Bounds {
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

/** Values that a schema allows, as far as it says; some rules are the server's alone. */
export function allowedBy(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const plain = contract.resolve(schema) as Schema & Bounds;
  if (depth > MAX_DEPTH) return fc.constant(null);
  if (plain.enum) return fc.constantFrom(...plain.enum);
  const parts = plain.oneOf ?? plain.anyOf;
  if (parts) return fc.oneof(...parts.map((part) => allowedBy(part, depth)));
  const format = [plain['x-format'], plain.format].find((name = '') => BY_FORMAT[name]);
  if (format) return BY_FORMAT[format]!;
  const types = [...facets(schema).types];
  if (types.length === 0) return junk;
  return fc.oneof(...types.map((type) => ofType(type, plain, depth)));
}

function ofType(type: string, schema: Schema & Bounds, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'array':
      return lists(schema, depth);
    case 'object':
      return objects(schema, depth);
    default:
      return texts(schema);
  }
}

function numbers({ minimum = -1_000, maximum = 1_000_000 }: Bounds): fc.Arbitrary<number> {
  const [min, max] = [Math.ceil(minimum), Math.floor(Math.min(maximum, Number.MAX_SAFE_INTEGER))];
  return fc.oneof(
    fc.constantFrom(min, max),
    fc.integer({ min, max }),
    fc.integer({ min, max: Math.min(max, min + 10) }),
  );
}

function texts({ pattern, minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<string> {
  if (pattern) return fc.stringMatching(new RegExp(pattern)).map((text) => text.slice(0, 200));
  return fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 30) }),
    fc.constantFrom('x'.repeat(Math.max(1, minLength)), 'x'.repeat(Math.min(maxLength, 2_000))),
  );
}

function lists(schema: Schema & Bounds, depth: number): fc.Arbitrary<unknown> {
  const { items } = facets(schema);
  return fc.array(items ? allowedBy(items, depth + 1) : junk, {
    minLength: schema.minItems ?? 0,
    maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
  });
}

function objects(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const { properties } = facets(schema);
  const names = Object.keys(properties);
  const required = names.filter((name) => schema.required?.includes(name));
  if (names.length === 0)
    return fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string({ maxLength: 10 }), {
      maxKeys: 3,
    });
  return fc.subarray(names, { maxLength: Math.min(6, names.length) }).chain((chosen) => {
    const all = [...new Set([...required, ...chosen])];
    return fc.record(
      Object.fromEntries(all.map((name) => [name, allowedBy(properties[name]!, depth + 1)])),
    );
  });
}
