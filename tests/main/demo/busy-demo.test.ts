import { createBusyDemo } from '../../../src/main/demo/demo';
import { planBusyDay } from '../../../src/main/demo/plan';
import { removeDemo } from '../../../src/operate/installation/remove-demo';
import { patient } from '../../support/patience';
import { caller, type Api } from '../../support/world';
import { useWorld } from '../../support/use-world';

// `demo --busy`: a day that looks like one, adds up, and goes away again.

/** A Tuesday, at noon in Los Angeles. */
const NOW = new Date('2026-09-15T19:00:00Z');
const shares: number[] = [];
const progress = (share: number) => void shares.push(share);
const OPTIONS = { now: NOW, seed: 'test', calls: 160, leads: 60 };
const world = useWorld({ clock: () => NOW });
const another = useWorld({ clock: () => NOW });
let api: Api;
let companyId: number;

beforeAll(async () => {
  const { company_id: id, credentials } = await createBusyDemo(world.deps, 'Busy', {
    ...OPTIONS,
    progress,
  });
  companyId = Number(id);
  api = caller(world.app, `${credentials.public_key}:${credentials.private_key}`);
}, patient(60_000));

interface ShownCall {
  created_at: string;
  status: string;
  buyer_id: number | null;
  revenue: number | null;
  buyer_converted: boolean;
  connected_at: string | null;
  caller_number: string;
  buyer: string | null;
}

async function all<Item>(path: string, query: object = {}, of: Api = api): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page++) {
    const { body } = await of('get', path, { query: { per_page: 100, page, ...query } });
    const pageItems = body[body.metadata.root] as Item[];
    items.push(...pageItems);
    if (pageItems.length < 100) return items;
  }
}

test('the report of the day adds up to the list of its calls', async () => {
  const calls = await all<ShownCall>('calls');
  expect(calls).toHaveLength(OPTIONS.calls);
  const sum = (of: (call: ShownCall) => number) => calls.reduce((n, call) => n + of(call), 0);
  const { body } = await api('get', 'calls/reports', { query: { category: 'buyer' } });
  const { totals, rows } = body;
  expect(totals).toMatchObject({
    calls: calls.length,
    conversions: sum(({ buyer_converted }) => Number(buyer_converted)),
  });
  expect(totals.revenue).toBeCloseTo(
    sum(({ revenue }) => revenue ?? 0),
    2,
  );
  for (const figure of ['calls', 'attempts', 'connects', 'conversions'])
    expect([figure, totals[figure]]).toEqual([
      figure,
      (rows as Record<string, number>[]).reduce((n, row) => n + row[figure]!, 0),
    ]);
  expect(totals.conversions).toBeGreaterThan(20);
  expect(totals.profit).toBeGreaterThan(0);
});

test('calls end in different ways, and some are under way', async () => {
  const calls = await all<ShownCall>('calls');
  const times = calls.map(({ created_at }) => Date.parse(created_at));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(+NOW - 86_400_000);
  expect(Math.max(...times)).toBeLessThanOrEqual(+NOW);
  const statuses = new Set(calls.map(({ status }) => status));
  for (const status of ['completed', 'in_progress', 'no_answer'])
    expect([...statuses]).toContain(status);
  expect(new Set(calls.map(({ buyer_id }) => buyer_id)).size).toBeGreaterThan(4);
  const { body } = await api('get', 'calls/reports', { query: { category: 'buyer' } });
  const reasons = Object.keys(body.totals.skip_reasons as object);
  expect(reasons).toEqual(expect.arrayContaining(['closed', 'filter_unmet', 'paused']));
});

test('leads are in several states, an import has rejected rows, a webhook fails', async () => {
  const leads = await all<{ status: string }>('leads');
  const statuses = [...new Set(leads.map(({ status }) => status))];
  expect(statuses).toEqual(expect.arrayContaining(['scheduled', 'queue', 'opt_out', 'blocked']));
  const [file] = await all<object>('buyer_suppression_files');
  expect(file).toMatchObject({ status: 'succeeded', rejected_count: 3, import_count: 240 });
  const [log] = await all<{ success: boolean }>('webhook_logs');
  expect(log).toMatchObject({ success: false });
});

test('the same seed and time plan the same day; another seed another one', () => {
  expect(planBusyDay(OPTIONS)).toEqual(planBusyDay(OPTIONS));
  expect(planBusyDay({ ...OPTIONS, seed: 'other' })).not.toEqual(planBusyDay(OPTIONS));
});

// The ids of its buyers decide too: in another database, they are the same.
test(
  'the same seed and time make the same day',
  async () => {
    const company = await createBusyDemo(another.deps, 'Busy', OPTIONS);
    const { public_key, private_key } = company.credentials;
    const describe = async (of: Api) =>
      (await all<ShownCall>('calls', {}, of))
        .map((call) => [call.created_at, call.caller_number, call.buyer, call.status, call.revenue])
        .map(String)
        .toSorted();
    expect(await describe(caller(another.app, `${public_key}:${private_key}`))).toEqual(
      await describe(api),
    );
  },
  patient(60_000),
);

test('the progress rises to the end', () => {
  expect(shares.length).toBeGreaterThan(OPTIONS.calls);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBe(1);
});

test('a removal leaves nothing of it', async () => {
  await removeDemo(world.deps, companyId);
  const tables = await world.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND column_name = 'company_id' AND table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables)
    expect([
      name,
      await world.sql(`SELECT FROM ${name} WHERE company_id = $1 LIMIT 1`, [companyId]),
    ]).toEqual([name, []]);
  const jobs = `SELECT FROM jobs.job WHERE data ->> 'company_id' = $1 LIMIT 1`;
  expect(await world.sql(jobs, [String(companyId)])).toEqual([]);
});

test('a carrier that reaches people is refused', async () => {
  const carrier = { ...world.deps.carrier, name: 'twilio' as const };
  const making = createBusyDemo({ ...world.deps, carrier }, 'Busy', OPTIONS);
  await expect(making).rejects.toThrow('A busy demo needs CARRIER=sandbox');
});
