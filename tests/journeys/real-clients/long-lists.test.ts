import type { QueryResult } from 'pg';
import type { BoundStatement } from '../../../src/data/statement';
import { useWorld } from '../../support/use-world';

// Dashboards ask for the same few filters of millions of calls again and again: what was counted is
// not read again.

const CALLS = 4_000;

const world = useWorld();
const { api } = world;
let offerId: number;

beforeAll(async () => {
  const { id } = world.company;
  const created = await api('post', 'offers', { body: { name: 'Insurance' } });
  offerId = created.body.offer.id;
  // Ids of other companies are between: the calls are in ten chunks.
  await world.sql(
    `INSERT INTO calls (company_id, id, uuid, created_at, ended_at, direction, status, carrier,
      offer_id, buyer_converted, token_values)
    SELECT $1, 20 * n, gen_random_uuid(), now() - interval '3 hours', now() - interval '2 hours',
      'inbound', CASE WHEN n % 2 = 0 THEN 'no_answer' ELSE 'completed' END, 'sandbox', $2,
      n % 4 = 0, jsonb_build_object('state', 'S' || n % 4)
    FROM generate_series(1, $3::int) n`,
    [id, offerId, CALLS],
  );
  await world.sql('VACUUM ANALYZE calls');
});

/** The total, and how many calls the search of a page has read. */
async function measureRead(
  query: Record<string, unknown>,
): Promise<{ total: number; rows: number }> {
  const { searches } = world.deps.database;
  const run = searches.query.bind(searches) as (bound: BoundStatement) => Promise<QueryResult>;
  let rows = 0;
  const spy = jest.spyOn(searches, 'query').mockImplementation((async (bound: BoundStatement) => {
    const [plan] = await world.sql<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${bound.text}`,
      bound.values,
    );
    rows += countRowsRead(plan!['QUERY PLAN'][0].Plan);
    return run(bound);
  }) as never);
  try {
    const { body } = await api('get', 'calls', { query });
    return { total: body.metadata.total_count, rows };
  } finally {
    spy.mockRestore();
  }
}

interface Node {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
}

function countRowsRead(node: Node): number {
  const ownRows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  const here = node['Relation Name'] === 'calls' ? ownRows * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, below) => sum + countRowsRead(below), here);
}

test.each([
  ['a status', { status: 'no_answer' }, 2_000],
  ['an offer and conversions', { buyer_converted: true }, 1_000],
  ['a token', { token_key: 'state', token_value: 'S3' }, 1_000],
])('the count of %s reads few of the calls that it has counted', async (_, filter, total) => {
  const query = { ...filter, offer_id: offerId, per_page: 1 };
  const first = await measureRead(query);
  const second = await measureRead(query);
  expect([first.total, second.total]).toEqual([total, total]);
  expect(first.rows).toBeGreaterThanOrEqual(total);
  expect(second.rows).toBeLessThan(total / 2);
});
