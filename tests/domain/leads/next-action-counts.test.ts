import { foldNextActions } from '../../../src/domain/leads/fold-next-actions';
import { openShop, submit } from '../../support/leads';
import { useWorld } from '../../support/use-world';
import type { Company } from '../../support/world';
import { leadUpdate } from '../../support/write-leads';

const world = useWorld();
let company: Company;
let leadToken: string;

beforeEach(async () => {
  company = world.company = await world.addCompany();
  const shop = await openShop(world, [{ action_type: 'wait', wait_amount: 1, wait_unit: 'days' }]);
  leadToken = shop.schedule.lead_token;
});

const HOUR_MS = 3_600_000;
const START = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
/** Minutes after the beginning of an hour. */
const minute = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

const listLeads = async (query: Record<string, unknown>) => {
  const { status, body } = await company.api('get', 'leads', { query });
  expect([query, status]).toEqual([query, 200]);
  return body as {
    leads: { id: number }[];
    metadata: { total_count: number; next_cursor: number };
  };
};
const change = (set: string, where: string, values: unknown[] = []) =>
  world.deps.database.pool.query(leadUpdate(set, `l.company_id = $1 AND ${where}`), [
    company.id,
    ...values,
  ]);

async function addLeads(n: number): Promise<string[]> {
  const numbers = Array.from({ length: n }, (_, i) => `3105550${100 + i}`);
  await Promise.all(numbers.map((callerId) => submit(world, leadToken, { caller_id: callerId })));
  const rows = await world.sql<{ id: string }>(
    'SELECT id FROM leads WHERE company_id = $1 ORDER BY id',
    [company.id],
  );
  expect(rows).toHaveLength(n);
  return rows.map(({ id }) => id);
}

const moveTo = (id: string, minutes: number) =>
  change('next_action_at = $3, due_at = $3', 'id = $2', [id, minute(minutes)]);

/** Every period, with one end and with both, within hours and at their borders. */
const ENDS = [-90, 0, 17, 59.99, 60, 61, 120, 200, 400];
const PERIODS = [
  ...ENDS.flatMap((end) => [
    { next_action_at_from: minute(end) },
    { next_action_at_to: minute(end) },
  ]),
  ...ENDS.flatMap((from) =>
    ENDS.map((to) => ({ next_action_at_from: minute(from), next_action_at_to: minute(to) })),
  ),
];

async function expectCounted(): Promise<void> {
  for (const period of PERIODS) {
    const [counted] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n
      FROM (SELECT coalesce(callback_at, next_action_at) AS at FROM leads
        WHERE company_id = $1 AND due_at IS NOT NULL) x
      WHERE at >= coalesce($2::timestamptz, '-infinity')
        AND at <= coalesce($3::timestamptz, 'infinity')`,
      [
        company.id,
        'next_action_at_from' in period ? period.next_action_at_from : null,
        'next_action_at_to' in period ? period.next_action_at_to : null,
      ],
    );
    const { leads, metadata } = await listLeads({ ...period, columns: 'id', per_page: 100 });
    expect([period, metadata.total_count, leads.length]).toEqual([period, counted!.n, counted!.n]);
  }
}

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const fold = () =>
  world.sql(
    `SELECT fold_next_actions($1, array_agg(hour))
    FROM next_action_counts WHERE company_id = $1`,
    [company.id],
  );

test('every period is counted exactly, after any concurrent changes of leads', async () => {
  const ids = await addLeads(30);
  const random = createRandom(7);
  const changeOne = async (id: string) => {
    const kind = random(6);
    if (kind < 3) return moveTo(id, ENDS[random(ENDS.length)]!);
    if (kind === 3) return change('callback_at = $3', 'id = $2', [id, minute(random(400))]);
    if (kind === 4) return change('callback_at = NULL, next_action_at = NULL', 'id = $2', [id]);
    return change('due_at = NULL, claim_id = NULL', 'id = $2', [id]);
  };
  for (let round = 0; round < 4; round++) {
    await Promise.all([...ids.map(changeOne), ...ids.slice(0, 10).map(changeOne), fold(), fold()]);
    await expectCounted();
  }
  await change('deleted_at = now(), is_live = false, due_at = NULL', 'id % 2 = 0');
  await expectCounted();
});

test('a change that is rolled back, or not yet committed, is not counted', async () => {
  const ids = await addLeads(4);
  for (const id of ids) await moveTo(id, 30);
  const period = { next_action_at_from: minute(0), next_action_at_to: minute(59) };
  for (const [end, n] of [
    ['ROLLBACK', 4],
    ['COMMIT', 0],
  ] as const) {
    const client = await world.deps.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        leadUpdate('next_action_at = $2', 'l.company_id = $1 AND l.due_at IS NOT NULL'),
        [company.id, minute(130)],
      );
      expect((await listLeads(period)).metadata.total_count).toBe(4);
      await client.query(end);
    } finally {
      client.release();
    }
    expect((await listLeads(period)).metadata.total_count).toBe(n);
  }
});

const rowsOfCounts = async () =>
  (
    await world.sql<{ hour: Date; n: number }>(
      'SELECT hour, n::int FROM next_action_counts WHERE company_id = $1 ORDER BY hour',
      [company.id],
    )
  ).map(({ hour, n }) => [hour.toISOString(), n]);

test('the rows of an hour are folded into one, and into none where no lead is left', async () => {
  const ids = await addLeads(5);
  for (const minutes of [10, 70, 20, 130, 30]) for (const id of ids) await moveTo(id, minutes);
  await fold();
  expect(await rowsOfCounts()).toEqual([[minute(0), 5]]);
  await expectCounted();
});

test('writers fold the rows as they go, so that they stay few', async () => {
  const ids = await addLeads(2);
  for (let n = 0; n < 400; n++) await moveTo(ids[n % 2]!, n % 4 < 2 ? 10 : 70);
  // Each adds two rows, 800 in all. One in sixteen folds: once in 10^8 runs, the last 300 do not.
  expect((await rowsOfCounts()).length).toBeLessThan(600);
  await expectCounted();
});

test('an hour that has passed leaves no rows behind', async () => {
  const ids = await addLeads(3);
  for (const minutes of [-90, -30, 10]) for (const id of ids) await moveTo(id, minutes);
  await foldNextActions(world.deps.database.sql);
  expect(await rowsOfCounts()).toEqual([[minute(0), 3]]);
});

test('two that fold at a time do not wait, and lose nothing', async () => {
  const ids = await addLeads(6);
  for (const minutes of [10, 70, 20]) for (const id of ids) await moveTo(id, minutes);
  const [first, second] = [
    await world.deps.database.pool.connect(),
    await world.deps.database.pool.connect(),
  ];
  const text = 'SELECT fold_next_actions($1, $2)';
  try {
    await first.query('BEGIN');
    await first.query(text, [company.id, [minute(0), minute(60)]]);
    await second.query(`SET lock_timeout = '5s'`);
    await second.query(text, [company.id, [minute(0), minute(60)]]);
    await second.query('RESET lock_timeout');
    await first.query('COMMIT');
  } finally {
    first.release();
    second.release();
  }
  await expectCounted();
});

test('a period of many leads has the same pages as one of few', async () => {
  const ids = await addLeads(12);
  for (const [n, id] of ids.entries()) await moveTo(id, (n * 7) % 12);
  const period = { next_action_at_from: minute(2), next_action_at_to: minute(9), per_page: 3 };
  const pages = async () => {
    const pageIds: number[][] = [];
    for (const orderDir of ['asc', 'desc'])
      for (let cursor = -1; cursor !== 0;) {
        const { leads, metadata } = await listLeads({ ...period, order_dir: orderDir, cursor });
        pageIds.push(leads.map(({ id }) => id));
        cursor = metadata.next_cursor;
      }
    return pageIds;
  };
  const few = await pages();
  expect(few.flat()).toHaveLength(16);
  // More than are found and sorted; the page is then read along the ids.
  await world.sql('INSERT INTO next_action_counts (company_id, hour, n) VALUES ($1, $2, 60000)', [
    company.id,
    minute(60),
  ]);
  await world.sql('INSERT INTO next_action_counts (company_id, hour, n) VALUES ($1, $2, 60000)', [
    company.id,
    minute(0),
  ]);
  expect(await pages()).toEqual(few);
  expect((await listLeads(period)).metadata.total_count).toBe(60_008);
});
