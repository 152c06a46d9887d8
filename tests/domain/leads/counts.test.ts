import type { QueryResult } from 'pg';
import { contract } from '../../../src/platform/contract/contract';
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

const listLeads = async (query: Record<string, unknown>) => {
  const { status, body } = await company.api('get', 'leads', { query });
  expect([query, status]).toEqual([query, 200]);
  return body as { leads: { id: number }[]; metadata: Record<string, number> };
};
const update = (set: string, where: string) =>
  world.sql(leadUpdate(set, `l.company_id = $1 AND ${where}`), [company.id]);

/** Leads with and without a next action, an address, a priority and a last action. */
async function mixedLeads(): Promise<void> {
  await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      submit(world, leadToken, { caller_id: `3105550${100 + n}`, email: `a${n % 7}@example.com` }),
    ),
  );
  await update('is_live = false, due_at = NULL', 'id % 3 = 0');
  await update(`callback_at = due_at + interval '3 hours'`, 'due_at IS NOT NULL AND id % 4 = 0');
  await update(`next_action_at = now() + id % 5 * interval '1 day'`, 'due_at IS NOT NULL');
  await update('email = NULL', 'id % 4 = 1');
  await update('lead_priority = id % 3', 'id % 2 = 0');
  await update(`last_action_at = now() - id % 6 * interval '1 minute'`, 'id % 5 > 1');
}

test('leads with a next action are counted exactly, after any concurrent changes', async () => {
  const numbers = Array.from({ length: 60 }, (_, n) => `3105550${100 + (n % 40)}`);
  await Promise.all(numbers.map((callerId) => submit(world, leadToken, { caller_id: callerId })));
  const leads = await world.sql<{ id: string }>('SELECT id FROM leads WHERE company_id = $1', [
    company.id,
  ]);
  expect(leads).toHaveLength(40);
  const changes = [
    'due_at = NULL, is_live = false',
    'next_action_at = NULL, callback_at = NULL',
    `next_action_at = now() + interval '1 day', due_at = now()`,
    `callback_at = now()`,
    'due_at = NULL, claim_id = NULL, is_live = false, deleted_at = now()',
  ];
  for (let round = 0; round < 3; round++)
    await Promise.all(
      leads.map(({ id }, n) =>
        world.deps.database.pool.query(
          leadUpdate(
            changes[(n + round) % changes.length]!,
            'l.company_id = $1 AND l.id = $2 AND l.deleted_at IS NULL AND l.is_live',
          ),
          [company.id, id],
        ),
      ),
    );
  await update('deleted_at = now(), is_live = false, due_at = NULL', `id = ${leads[7]!.id}`);
  const [counted] = await world.sql<{ all: string; due: string }>(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE due_at IS NOT NULL AND
      coalesce(callback_at, next_action_at) IS NOT NULL)::int AS due
    FROM leads WHERE company_id = $1 AND deleted_at IS NULL`,
    [company.id],
  );
  await world.sql(
    `UPDATE record_counts SET n = CASE WHEN slot = (SELECT min(slot) FROM record_counts WHERE
      company_id = $1 AND resource = 'leads') THEN $2::int ELSE 0 END
    WHERE company_id = $1 AND resource = 'leads'`,
    [company.id, counted!.all],
  );
  for (const [hasNextAction, n] of [
    [true, Number(counted!.due)],
    [false, Number(counted!.all) - Number(counted!.due)],
  ] as const) {
    const { leads: listedLeads, metadata } = await listLeads({
      has_next_action: hasNextAction,
      per_page: 100,
    });
    expect([hasNextAction, metadata.total_count, listedLeads.length]).toEqual([
      hasNextAction,
      n,
      n,
    ]);
  }
});

test('a period of next actions is counted from whichever end has fewer', async () => {
  await mixedLeads();
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const days of [-1, 0.01, 1.5, 2.5, 3.5, 9]) {
    const [rows] = await world.sql<{ before: number; after: number }>(
      `SELECT count(*) FILTER (WHERE at <= $2)::int AS before,
        count(*) FILTER (WHERE at >= $2)::int AS after
      FROM (SELECT coalesce(callback_at, next_action_at) AS at FROM leads
        WHERE company_id = $1 AND due_at IS NOT NULL) x`,
      [company.id, day(days)],
    );
    const [from, to] = [
      await listLeads({ next_action_at_from: day(days) }),
      await listLeads({ next_action_at_to: day(days) }),
    ];
    expect([days, to.metadata.total_count, from.metadata.total_count]).toEqual([
      days,
      to.leads.length,
      from.leads.length,
    ]);
    expect([days, to.leads.length, from.leads.length]).toEqual([days, rows!.before, rows!.after]);
  }
  const window = { next_action_at_from: day(0.5), next_action_at_to: day(2.5) };
  for (const order of [{}, { order: 'next_action_at' }, { order: 'email', order_dir: 'desc' }]) {
    const { leads, metadata } = await listLeads({ ...window, ...order });
    expect(leads.length).toBeGreaterThan(2);
    expect(metadata.total_count).toBe(leads.length);
  }
});

const ORDERS = contract.document.components.schemas.LeadOrder!.enum as string[];
const BOTH_WAYS = ORDERS.flatMap((order) =>
  (['asc', 'desc'] as const).map((orderDir) => ({ order, order_dir: orderDir })),
);

test.each(BOTH_WAYS)(
  'pages after cursors have each lead once, $order $order_dir',
  async ({ order, order_dir }) => {
    await mixedLeads();
    const query = { order, order_dir };
    const all = (await listLeads({ ...query, per_page: 100 })).leads.map(({ id }) => id);
    expect(all).toHaveLength(24);
    const paged: number[] = [];
    for (let cursor = -1; cursor !== 0;) {
      const { leads, metadata } = await listLeads({ ...query, per_page: 5, cursor });
      paged.push(...leads.map(({ id }) => id));
      cursor = metadata.next_cursor!;
    }
    expect(paged).toEqual(all);
  },
);

test.each(BOTH_WAYS)(
  'an index has the leads in the order of $order $order_dir, after a cursor too',
  async ({ order, order_dir }) => {
    await mixedLeads();
    const { metadata } = await listLeads({ order, order_dir, per_page: 5 });
    const plans: string[] = [];
    const { prepared } = world.deps.database;
    const query = prepared.query.bind(prepared) as (bound: {
      text: string;
      values: unknown[];
    }) => Promise<QueryResult>;
    const spy = jest.spyOn(prepared, 'query').mockImplementation((async (bound: {
      text: string;
      values: unknown[];
    }) => {
      if (bound.text.includes('FROM leads t')) plans.push(await explainPlan(bound));
      return query(bound);
    }) as never);
    try {
      await listLeads({ order, order_dir, per_page: 5 });
      await listLeads({ order, order_dir, per_page: 5, cursor: metadata.next_cursor });
    } finally {
      spy.mockRestore();
    }
    expect(plans.length).toBeGreaterThanOrEqual(2);
    // The rows of a page may be sorted, at most as many as it has; the rows of the table may not.
    for (const plan of plans) expect(sortedRows(plan)).toEqual([]);
  },
);

/** The plan that is chosen where sorting costs more than anything else. */
async function explainPlan({ text, values }: { text: string; values: unknown[] }): Promise<string> {
  await world.sql('SET enable_seqscan = off');
  await world.sql('SET enable_bitmapscan = off');
  await world.sql('SET enable_sort = off');
  try {
    const [row] = await world.sql<{ 'QUERY PLAN': unknown }>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    );
    return JSON.stringify(row!['QUERY PLAN']);
  } finally {
    await world.sql('RESET enable_seqscan');
    await world.sql('RESET enable_bitmapscan');
    await world.sql('RESET enable_sort');
  }
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Node[];
}

/** Sorts directly of what a scan of leads returns. */
function sortedRows(plan: string): string[] {
  const sortedTables: string[] = [];
  const visit = (node: Node) => {
    const below = node.Plans ?? [];
    if (/Sort/.test(node['Node Type']))
      for (const { 'Relation Name': table } of below)
        if (table === 'leads') sortedTables.push(table);
    below.forEach(visit);
  };
  visit((JSON.parse(plan) as { Plan: Node }[])[0]!.Plan);
  return sortedTables;
}
