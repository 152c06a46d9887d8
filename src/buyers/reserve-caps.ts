import { template, type Template } from '../db/statement';
import type { Statements } from '../db/tenant';
import { limitOf, NOW, takenNow, usedNow } from './cap-columns';
import { NEXT, ownerOf } from './cap-limits';
import {
  CAPS,
  METRICS,
  RESETS,
  type CapOwner,
  type CapStanding,
  type Held,
  type Metric,
  type Usage,
} from './caps';

/** What a reservation adds to what is pending. */
const HELD: Record<Metric, string> = {
  attempt: '0',
  connection: '{connections}::int',
  buyer_conversion: '{conversions}::int',
  revenue: '{held_revenue}::numeric',
  earned_revenue: '{held_revenue}::numeric',
};

/** The reservation of a call's use: one statement, which moves every counter or none. */
function reservationSql(owner: 'buyer_id' | 'buyer_group_id', guarded: boolean): string {
  const amount = (metric: Metric) => `{${metric}}::numeric`;
  const counters = CAPS.map(
    ({ metric, interval, used }) => `${used} = (${usedNow(metric, interval)}) + ${amount(metric)}`,
  );
  const windows = (Object.keys(RESETS) as (keyof typeof RESETS)[]).map(
    (interval) =>
      `${RESETS[interval]} = CASE WHEN l.${RESETS[interval]} > ${NOW} THEN l.${RESETS[interval]} ELSE ${NEXT[interval]('l.zone')} END`,
  );
  const has_hours = guarded && owner === 'buyer_id';
  const within = CAPS.map(({ metric, interval }) => {
    const limit = limitOf(metric, interval, has_hours ? 'h' : 'l');
    const taken = takenNow(metric, interval);
    return `(${limit} IS NULL OR ${taken} < ${limit} AND ${taken} + ${amount(metric)} + ${HELD[metric]} <= ${limit})`;
  });
  const pending = [
    'pending_connections = l.pending_connections + {connections}::int',
    'pending_conversions = l.pending_conversions + {conversions}::int',
    'pending_revenue = l.pending_revenue + {held_revenue}::numeric',
  ];
  const slots = '{concurrency}::integer';
  const slot_free = `(${slots} <= 0 OR coalesce(l.concurrency_cap_used + ${slots} <= l.concurrency_cap_limit, true))`;
  const calls = [
    'calls_count = l.calls_count + {calls}::int',
    `last_call_at = CASE WHEN {calls}::int > 0 THEN greatest(l.last_call_at, ${NOW}) ELSE l.last_call_at END`,
  ];
  // A call that began a moment later may have been faster: without a spacing that is no matter.
  const spaced = `({spacing_seconds}::int = 0 OR coalesce(l.last_call_at <= ${NOW} - {spacing_seconds}::int * interval '1 second', true))`;
  // Beside the row that is updated, of which a change that is waited for is seen: hours are set up by people.
  const hours = `FROM (SELECT k.id AS limit_id, o.* FROM (SELECT l.id, l.company_id, l.buyer_id, l.zone FROM call_limits l WHERE l.company_id = {company_id} AND l.buyer_id = {owner_id}) k
    LEFT JOIN LATERAL (SELECT ${METRICS.map((metric) => `x.${metric}_hourly_limit`).join(', ')} FROM buyer_business_hours x WHERE x.company_id = k.company_id AND x.buyer_id = k.buyer_id
      AND is_open(x.open_minutes, local_minute_of_week(${NOW}, k.zone)) ORDER BY x.position LIMIT 1) o ON true) h`;
  const hourly_limits = has_hours
    ? `json_build_object(${METRICS.map((metric) => `'${metric}_hourly_limit', h.${metric}_hourly_limit`).join(', ')})`
    : 'NULL::json';
  return `UPDATE call_limits l SET ${[...counters, ...windows, ...calls, ...pending].join(',\n')}, concurrency_cap_used = greatest(0, l.concurrency_cap_used + ${slots})
${has_hours ? hours : ''}
WHERE ${has_hours ? 'l.id = h.limit_id AND ' : ''}l.company_id = {company_id} AND l.${owner} = {owner_id}${guarded ? ` AND ${[slot_free, spaced, ...within].join('\nAND ')}` : ''}
RETURNING ${guarded ? `l.*, ${hourly_limits} AS hourly_limits` : 'l.id'}`;
}

const NOTHING_HELD: Held = { connections: 0, conversions: 0, revenue: 0 };

export interface Move {
  owner: CapOwner;
  usage: Usage;
  /** Slots of concurrency taken (1) or given back (-1). */
  concurrency?: number;
  /** What the call may still come to, to be counted as pending. */
  hold?: Held;
  /** Dials that it counts for. */
  calls?: number;
  /** Least time since the last of them. */
  spacing_seconds?: number;
  now: Date;
}

type LimitsRow = Record<string, unknown> & {
  id: bigint | string;
  hourly_limits?: Record<string, number | null> | null;
};

async function move(
  db: Statements,
  { owner, usage, concurrency = 0, hold = NOTHING_HELD, calls = 0, spacing_seconds = 0, now }: Move,
  guarded: boolean,
): Promise<LimitsRow | undefined> {
  const { column, id } = ownerOf(owner);
  const amounts = Object.fromEntries(METRICS.map((metric) => [metric, usage[metric] ?? 0]));
  const moved = {
    company_id: db.company_id,
    owner_id: id,
    concurrency,
    connections: hold.connections,
    conversions: hold.conversions,
    held_revenue: hold.revenue,
    calls,
    now: now.toISOString(),
    ...amounts,
    ...(guarded && { spacing_seconds }),
  };
  return (await db.query<LimitsRow>(statements[`${column}|${guarded}`]!(moved)))[0];
}

const statements: Record<string, Template> = Object.fromEntries(
  (['buyer_id', 'buyer_group_id'] as const).flatMap((owner) =>
    [true, false].map((guarded) => [
      `${owner}|${guarded}`,
      template(reservationSql(owner, guarded), { prepared: true }),
    ]),
  ),
);

/** What a reservation has taken. */
export interface Reserved {
  call_limit_id: string;
  caps: CapStanding[];
}

/**
 * Reserves a call's use of all caps of one owner at once: answers what was taken when every cap had room, those too that the call does not move yet
 * (no call is dialed to a buyer whose conversions are used up); undefined when one had none, and nothing moved. Exact under any number of
 * simultaneous calls, because the row itself decides.
 */
export async function reserveUsage(
  db: Statements,
  reservation: Move,
): Promise<Reserved | undefined> {
  const row = await move(db, reservation, true);
  return row && { call_limit_id: String(row.id), caps: standings(row, reservation) };
}

function standings(
  row: LimitsRow,
  { usage, concurrency = 0, hold = NOTHING_HELD }: Move,
): CapStanding[] {
  const pending: Record<Metric, number> = {
    attempt: 0,
    connection: Number(row.pending_connections) - hold.connections,
    buyer_conversion: Number(row.pending_conversions) - hold.conversions,
    revenue: Number(row.pending_revenue) - hold.revenue,
    earned_revenue: Number(row.pending_revenue) - hold.revenue,
  };
  const caps = CAPS.flatMap(({ metric, interval, limit, used }) => {
    const most =
      interval === 'hourly' && row.buyer_id !== null ? row.hourly_limits?.[limit] : row[limit];
    if (most === null || most === undefined) return [];
    const resets_at = interval === 'total' ? null : (row[RESETS[interval]] as Date).toISOString();
    return [
      {
        cap: `${metric}_${interval}`,
        used: Number(row[used]) - (usage[metric] ?? 0) + pending[metric],
        limit: Number(most),
        resets_at,
      },
    ];
  });
  if (row.concurrency_cap_limit === null) return caps;
  return [
    ...caps,
    {
      cap: 'concurrency',
      used: Number(row.concurrency_cap_used) - concurrency,
      limit: Number(row.concurrency_cap_limit),
      resets_at: null,
    },
  ];
}

/** Records what has already happened (an answer, a conversion, revenue, the end of a call), whatever the caps say. */
export async function recordUsage(db: Statements, happened: Move): Promise<boolean> {
  return (await move(db, happened, false)) !== undefined;
}
