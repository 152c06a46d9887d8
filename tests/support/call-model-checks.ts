import { CAPS, INTERVALS, METRICS } from '../../src/domain/caps/caps';
import { held, used, type ModelOwner } from './call-model';
import { bindOk, type State } from './call-model-company';
import type { World } from './world';

// Caps and balances that a company shows, compared with the model.

type Fields = Record<string, unknown>;

export const owners = ({ buyers, groups, source }: State): ModelOwner[] => [
  ...buyers,
  ...groups,
  source,
];

const COLUMNS = [
  'id',
  'balance',
  ...METRICS.flatMap((metric) => INTERVALS.map((interval) => `${metric}_${interval}_used`)),
].join(',');
const HELD = `
  SELECT
    coalesce(
      'buyer ' || l.buyer_id, 'group ' || l.buyer_group_id, 'source ' || l.traffic_source_id
    ) AS name,
    l.concurrency_cap_used AS used, l.pending_connections AS connections,
    l.pending_conversions AS conversions, l.pending_revenue::float8 AS revenue,
    count(s.call_id)::int AS slots,
    coalesce(sum(s.connections), 0)::int AS of_connections,
    coalesce(sum(s.conversions), 0)::int AS of_conversions,
    coalesce(sum(s.revenue), 0)::float8 AS of_revenue,
    count(c.ended_at)::int AS dead
  FROM call_limits l
  LEFT JOIN call_slots s ON s.company_id = l.company_id AND s.call_limit_id = l.id
  LEFT JOIN calls c ON c.company_id = s.company_id AND c.id = s.call_id
  WHERE l.company_id = $1
  GROUP BY l.company_id, l.id`;

/** Counters, slots and what is pending agree with each other and with the model. */
export async function checkCaps(world: World, state: State, now: Date): Promise<void> {
  const ok = bindOk(world);
  const rows = await world.sql<Fields & { name: string }>(HELD, [world.company.id]);
  const shown = async (path: string, root: string) =>
    (await ok('get', `${path}?per_page=100&columns=${COLUMNS}`))[root] as (Fields & {
      id: number;
    })[];
  const shownRows = new Map([
    ...(await shown('buyers', 'buyers')).map((row) => [`buyer ${row.id}`, row] as const),
    ...(state.groups.length > 0 ? await shown('buyer_groups', 'buyer_groups') : []).map(
      (row) => [`group ${row.id}`, row] as const,
    ),
    ...(await shown('traffic_sources', 'traffic_sources')).map(
      (row) => [`source ${row.id}`, row] as const,
    ),
  ]);
  const ledger = await world.sql<{ buyer_id: number; sum: number }>(
    `SELECT l.buyer_id::float8, coalesce(sum(e.amount), 0)::float8 AS sum
    FROM call_limits l
    LEFT JOIN account_entries e ON e.company_id = l.company_id AND e.buyer_id = l.buyer_id
    WHERE l.company_id = $1 AND l.balance IS NOT NULL
    GROUP BY l.buyer_id`,
    [world.company.id],
  );
  for (const { id, balance } of state.buyers)
    expect([
      id,
      shownRows.get(`buyer ${id}`)!.balance,
      ledger.find(({ buyer_id }) => buyer_id === id)?.sum ?? null,
    ]).toEqual([id, balance, balance]);
  for (const owner of owners(state)) {
    const { slots, connections, conversions, revenue } = held(owner, state.calls);
    const sums = {
      used: slots,
      slots,
      connections,
      of_connections: connections,
      conversions,
      of_conversions: conversions,
      revenue,
      of_revenue: revenue,
    };
    expect(rows.find(({ name }) => name === owner.name)).toMatchObject({
      name: owner.name,
      ...sums,
      dead: 0,
    });
    const counters = CAPS.map((cap) => [cap.used, used(owner, cap, now)]);
    expect({ name: owner.name, ...shownRows.get(owner.name) }).toMatchObject({
      name: owner.name,
      ...Object.fromEntries(counters),
    });
  }
}

/** Calls have the group through which the buyer that they have was selected. */
export async function checkGroups({ sql, company }: World): Promise<void> {
  const calls = await sql(
    `SELECT c.id, c.buyer_group_id, a.buyer_group_id AS selected_through
    FROM calls c
    LEFT JOIN call_attempts a
      ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = c.buyer_id
    WHERE c.company_id = $1 AND c.buyer_group_id IS DISTINCT FROM a.buyer_group_id`,
    [company.id],
  );
  expect(calls).toEqual([]);
}

/** A call that a buyer had and does not pay has a reason when it has ended; a paid one has none. */
export async function checkUnbilled({ sql, company }: World): Promise<void> {
  const calls = await sql(
    `SELECT id, unbilled_reason, buyer_converted, ended_at FROM calls
    WHERE company_id = $1 AND CASE
      WHEN buyer_converted THEN unbilled_reason IS NOT NULL
      WHEN ended_at IS NULL THEN unbilled_reason <> 'returned'
      WHEN connected_at IS NOT NULL THEN unbilled_reason IS NULL
      ELSE unbilled_reason IS DISTINCT FROM NULL
    END`,
    [company.id],
  );
  expect(calls).toEqual([]);
  const said = await sql(
    `SELECT call_id, buyer_id, details->>'reason' AS reason FROM call_events
    WHERE company_id = $1 AND event = 'not_converted'
    GROUP BY 1, 2, 3 HAVING count(*) > 1`,
    [company.id],
  );
  expect(said).toEqual([]);
}
