import { contract, facets, type Operation } from '../../../src/platform/contract/contract';
import { expectNoHold } from '../../support/event-loop';
import { useWorld } from '../../support/use-world';

// The attack: a list of a million blanks took 23 s, and its answer had 118 MB; 20,000 bad entries
// of a schedule took 5 s.

const world = useWorld();

const post = (path: string, body: unknown) =>
  world.company.api('post', path, {
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
const fillList = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

interface Attack {
  path: string;
  body: unknown;
  /** The field that is named. */
  field: string;
  says: string;
}
const ATTACKS: [string, Attack][] = [
  [
    '340,000 blanks',
    {
      path: 'buyer_groups',
      body: { name: 'g', buyer_ids: fillList(340_000, '') },
      field: 'body',
      says: 'must not have more than 50000 values',
    },
  ],
  [
    '340,000 empty objects',
    {
      path: 'buyer_groups',
      body: { name: 'g', buyer_ids: fillList(340_000, {}) },
      field: 'body',
      says: 'must not have more than 50000 values',
    },
  ],
  [
    '40,000 blanks',
    {
      path: 'buyer_groups',
      body: { name: 'g', buyer_ids: fillList(40_000, '') },
      field: 'buyer_ids',
      says: 'must NOT have more than 10000 items',
    },
  ],
  [
    'a million commas',
    {
      path: 'buyer_groups',
      body: { name: 'g', buyer_ids: ','.repeat(1_000_000) },
      field: 'buyer_ids',
      says: 'must NOT have more than',
    },
  ],
  [
    '300,000 commas',
    {
      path: 'buyer_groups',
      body: { name: 'g', buyer_ids: ','.repeat(300_000) },
      field: 'buyer_ids',
      says: 'must NOT have more than 10000 items',
    },
  ],
  [
    '10,000 bad entries of a schedule',
    {
      path: 'buyers',
      body: { business_hours_schedule: fillList(10_000, { schedule: [{ day: 9 }] }) },
      field: 'business_hours_schedule',
      says: 'must NOT have more than 50 items',
    },
  ],
  [
    'lists of 10,000 in 4 entries',
    {
      path: 'buyers',
      body: { business_hours_schedule: fillList(4, { schedule: fillList(10_000, 1) }) },
      field: 'business_hours_schedule.0.schedule',
      says: 'must NOT have more than',
    },
  ],
  [
    '40,000 unknown fields',
    {
      path: 'buyers',
      body: Object.fromEntries(fillList(40_000, 0).map((_, n) => [`k${n}`, 1])),
      field: 'body',
      says: 'must not have more than 1000 fields',
    },
  ],
  [
    'a text of a megabyte',
    {
      path: 'buyers',
      body: { name: 'x'.repeat(1_000_000) },
      field: 'name',
      says: 'must NOT have more than 255 characters',
    },
  ],
];

test.each(ATTACKS)('%s are refused in one line, and hold up nobody', async (_, attack) => {
  await post(attack.path, {});
  await expectNoHold(async () => {
    const { status, body, text } = await post(attack.path, attack.body);
    expect([status, body.errors[attack.field]]).toEqual([
      422,
      [expect.stringContaining(attack.says)],
    ]);
    expect(text.length).toBeLessThan(2_000);
  });
});

describe('an answer names a hundred errors, and says how many there are', () => {
  const count = (errors: Record<string, string[]>) => Object.values(errors).flat().length;
  const wrong: [string, string, unknown, number][] = [
    ['wrong items', 'buyer_groups', { name: 'g', team_ids: fillList(10_000, 'x y') }, 10_000],
    ['items too long', 'buyer_groups', { name: 'g', team_ids: fillList(500, 'x'.repeat(99)) }, 500],
    [
      'unknown fields',
      'buyers',
      Object.fromEntries(fillList(1_000, 0).map((_, n) => [`k${n}`, n])),
      1_000,
    ],
    [
      'unknown fields of entries',
      'buyers',
      {
        business_hours_schedule: fillList(
          50,
          Object.fromEntries([
            ['schedule', []],
            ...fillList(100, 0).map((_, n): [string, unknown] => [`k${n}`, n]),
          ]),
        ),
      },
      5_000,
    ],
  ];
  test.each(wrong)('%s', async (_, path, body, errors) => {
    await post(path, {});
    await expectNoHold(async () => {
      const res = await post(path, body);
      expect([res.status, count(res.body.errors), count(res.body.error_codes)]).toEqual([
        422, 100, 100,
      ]);
      expect(res.body.error_count).toBe(errors);
    });
  });

  test('a hundred errors are all of them: nothing is said of their number', async () => {
    const { body } = await post('buyer_groups', { name: 'g', team_ids: fillList(100, 'x y') });
    expect([count(body.errors), 'error_count' in body]).toEqual([100, false]);
  });
});

/** The lists among the fields of a body, with how many items they may have. */
const listArrayFields = ({ body }: Operation): [name: string, limit: number][] =>
  Object.entries(body ? facets(body).properties : {}).flatMap(([name, schema]) => {
    const { types, max } = facets(schema);
    return types.has('array') ? [[name, max.items!] as [string, number]] : [];
  });
const lists = contract.operations
  .filter(({ credentials, path, method }) => {
    return credentials === 'account' && !path.includes('{') && method === 'post';
  })
  .flatMap((operation) =>
    listArrayFields(operation).map(
      ([name, limit]) => [operation.id, name, limit, operation] as const,
    ),
  );

test.each(lists)('%s refuses one item too many in %s', async (_, name, limit, operation) => {
  expect(limit).toBeLessThanOrEqual(10_000);
  const { status, body } = await post(operation.path, { [name]: fillList(limit + 1, '') });
  const allowed = `must NOT have more than ${limit} items`;
  expect([status, body.errors[name]]).toEqual([422, [allowed]]);
});
