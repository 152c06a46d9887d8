import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { roundToCents } from '../../../src/platform/dollars';
import { Faults } from '../../../src/api/request/faults';
import { compileValue } from '../../../src/api/request/read-value';
import { useWorld } from '../../support/use-world';

// An amount is rounded before anything is checked: what is checked is what is stored. A deposit of
// 1e-9 was stored as 0.00, which no deposit may be.

const world = useWorld();
const { create, api } = world;
let buyerId: number;
let trafficSourceId: number;
beforeAll(async () => {
  buyerId = await create('buyers', { name: 'B', prepaid: true });
  trafficSourceId = await create('traffic_sources', { name: 'S' });
});

const createEntry = (body: object) => api('post', 'account_entries', { body });

test.each([
  ['deposit', 1e-9],
  ['deposit', 4e-9],
  ['deposit', '0.0000000010'],
  ['payment', -1e-9],
  ['adjustment', 1e-9],
  ['adjustment', -1e-9],
])('a %s of %s is one of 0.00, and refused', async (kind, amount) => {
  const account =
    kind === 'payment' ? { traffic_source_id: trafficSourceId } : { buyer_id: buyerId };
  const res = await createEntry({ ...account, kind, amount });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['amount']]);
});

test.each([0.005, 0.001, 1.005, -0.004, 99_999_999.999])(
  'an adjustment of %s is no whole number of cents, and refused',
  async (amount) => {
    const res = await createEntry({ buyer_id: buyerId, kind: 'adjustment', amount });
    expect([res.status, res.body.errors]).toEqual([
      422,
      { amount: ['must be dollars in steps of 0.01'] },
    ]);
  },
);

test.each([
  [0.1 + 0.2, 0.3],
  [1.1 * 3, 3.3],
  [999_999_999.99, 999_999_999.99],
  [-0.07 * 100, -7],
])('an adjustment of %s is entered as %s', async (amount, entered) => {
  const res = await createEntry({ buyer_id: buyerId, kind: 'adjustment', amount });
  expect([res.status, res.body.account_entry?.amount]).toEqual([201, entered]);
});

test('a bound is that of the rounded amount', async () => {
  const conversion = { current_conversion_duration: 0, current_conversion_revenue: 1 };
  const step = (currentConversionRevenueIncrement: number) =>
    api('post', 'buyers', {
      body: {
        ...conversion,
        current_conversion_revenue_increment: currentConversionRevenueIncrement,
      },
    });
  expect((await step(0.01 - 1e-10)).body.buyer).toMatchObject({
    current_conversion_revenue_increment: 0.01,
  });
  expect(Object.keys((await step(1e-9)).body.errors)).toEqual([
    'current_conversion_revenue_increment',
  ]);
});

test.each([
  [1.005, 1.01],
  [0.005, 0.01],
  [0.004999, 0],
  [-0.005, -0.01],
  [-1.005, -1.01],
  [2.675, 2.68],
  [10.05 * 0.5, 5.03],
  [999_999_999.985, 999_999_999.99],
])('%s is rounded to %s, as PostgreSQL rounds it', async (dollars, cents) => {
  const [row] = await world.sql<{ cents: number }>(
    'SELECT round($1::text::numeric, 2)::float8 AS cents',
    [String(dollars)],
  );
  expect([roundToCents(dollars), row!.cents]).toEqual([cents, cents]);
});

/** A field of a request, and a body that has a value there and nothing else. */
interface NumberField {
  path: string[];
  schema: Schema;
  bodyWith: (value: unknown) => unknown;
}

function listNumberFields(
  schema: Schema,
  { path, bodyWith }: Omit<NumberField, 'schema'>,
): NumberField[] {
  const { types, properties, items } = facets(schema);
  const inner = [
    ...Object.entries(properties).map(([name, field]) =>
      listNumberFields(field, {
        path: [...path, name],
        bodyWith: (value) => bodyWith({ [name]: value }),
      }),
    ),
    ...(items ? [listNumberFields(items, { path, bodyWith: (value) => bodyWith([value]) })] : []),
  ].flat();
  return types.has('number') ? [{ path, schema, bodyWith }, ...inner] : inner;
}

const numbers = contract.operations.flatMap((operation) =>
  operation.body
    ? listNumberFields(operation.body, { path: [], bodyWith: (value) => value }).map((field) => ({
        operation,
        ...field,
      }))
    : [],
);
const isMoney = ({ schema }: NumberField) => facets(schema).formats.has('money');

test('every field of a request that is stored in cents is declared as money', async () => {
  const columns = await world.sql<{ name: string }>(
    `SELECT DISTINCT column_name::text AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = 'numeric' AND numeric_scale = 2`,
  );
  const names = new Set(columns.map(({ name }) => name));
  const inCents = numbers.filter(({ path }) =>
    names.has(path.at(-1)!.replace(/^current_conversion_|^add_/, '')),
  );
  expect(inCents.length).toBeGreaterThan(30);
  expect(inCents.filter((field) => !isMoney(field)).map(({ path }) => path.join('.'))).toEqual([]);
});

const money = numbers.filter(isMoney);
test.each(money.map((field) => [`${field.operation.id} ${field.path.join('.')}`, field] as const))(
  '%s is rounded before it is checked',
  (_, { operation, bodyWith }) => {
    for (const amount of [1e-9, '0.0000000010', 0.1 + 0.2, 7.000000001])
      expect(readBody(operation, bodyWith(amount))).toEqual(bodyWith(roundToCents(Number(amount))));
    expect(readBody(operation, bodyWith(0.004))).toEqual(bodyWith(0.004));
  },
);

const readBody = (operation: Operation, body: unknown): unknown => {
  const context = { faults: new Faults(), zone: 'UTC', unknown_fields: 0 };
  return compileValue(operation.body!)(body, '', { ...context, requestPart: 'body' });
};
