import {
  CAPS,
  INTERVALS,
  METRICS,
  type CapStanding,
  type Held,
  type Interval,
  type LimitName,
  type Metric,
  type Usage,
  type UsedName,
} from '../caps';
import { template, type Template } from '../../db/statement';
import type { Db, Statements } from '../../db/tenant';

/**
 * The caps of buyers and groups in SQL. `l` is the owner's row of call_limits; `h` is where the hourly limits stand: l itself for a group, the
 * open entry of the business hours for a buyer. `{now}` is the time that decides.
 */

const RESETS: Record<Exclude<Interval, 'total'>, string> = {
  monthly: 'monthly_resets_at',
  daily: 'daily_resets_at',
  hourly: 'hourly_resets_at',
};
/** SQL of the time that decides. */
export const NOW = '{now}::timestamptz';

/** What is used of a cap now: once its window has passed it is 0, without anybody having written that. */
function usedNow(metric: Metric, interval: Interval): string {
  const counter = `l.${metric}_${interval}_used`;
  return interval === 'total'
    ? `coalesce(${counter}, 0)`
    : `CASE WHEN l.${RESETS[interval]} > ${NOW} THEN ${counter} ELSE 0 END`;
}

const limitOf = (metric: Metric, interval: Interval, hourly: string): string =>
  `${interval === 'hourly' ? hourly : 'l'}.${metric}_${interval}_limit`;
/** What calls under way may still come to. */
const PENDING: Record<Metric, string> = {
  attempt: '0',
  connection: 'coalesce(l.pending_connections, 0)',
  buyer_conversion: 'coalesce(l.pending_conversions, 0)',
  revenue: 'coalesce(l.pending_revenue, 0)',
  earned_revenue: 'coalesce(l.pending_revenue, 0)',
};

/** SQL of what is taken of a cap now: what is used, and what calls under way may still use. */
export const takenNow = (metric: Metric, interval: Interval): string =>
  `((${usedNow(metric, interval)}) + ${PENDING[metric]})`;
/** Few owners have many limits: that there is none is the quickest to tell. */
const reached = (metric: Metric, interval: Interval, hourly: string): string =>
  `(${limitOf(metric, interval, hourly)} IS NOT NULL AND ${takenNow(metric, interval)} >= ${limitOf(metric, interval, hourly)})`;
const anyReached = (interval: Interval, hourly: string): string =>
  `(${METRICS.map((metric) => reached(metric, interval, hourly)).join(' OR ')})`;
const CONCURRENCY_FULL = 'l.concurrency_cap_used >= l.concurrency_cap_limit';

function columnsOf(of: 'used' | 'limit', sql: (metric: Metric, interval: Interval) => string) {
  return Object.fromEntries(
    CAPS.map(({ metric, interval }) => [`${metric}_${interval}_${of}`, sql(metric, interval)]),
  );
}

/** Columns of caps and their use for a projection. */
export function capColumns(hourly: 'h' | 'l') {
  const maxed_out_by = `CASE ${CAPS.map(({ metric, interval }) => `WHEN ${reached(metric, interval, hourly)} THEN '${metric}_${interval}'`).join('\n')} WHEN ${CONCURRENCY_FULL} THEN 'concurrency' END`;
  const windows = INTERVALS.filter((interval) => interval !== 'total');
  const resets = windows.map(
    (interval) => `CASE WHEN ${anyReached(interval, hourly)} THEN l.${RESETS[interval]} END`,
  );
  return {
    ...(columnsOf('used', usedNow) as Record<UsedName, string>),
    ...(columnsOf('limit', (metric, interval) => limitOf(metric, interval, hourly)) as Record<
      LimitName,
      string
    >),
    concurrency_cap_limit: 'l.concurrency_cap_limit',
    concurrency_cap_used: 'coalesce(l.concurrency_cap_used, 0)',
    maxed_out_by,
    cap_reset_at: `CASE WHEN ${anyReached('total', hourly)} THEN NULL ELSE greatest(${resets.join(', ')}) END`,
  };
}

/** SQL of one used counter, for sorting. */
export const usedSql = (used: UsedName): string => {
  const cap = CAPS.find((candidate) => candidate.used === used)!;
  return `(${usedNow(cap.metric, cap.interval)})`;
};

/** The owner's row of call_limits. */
export const limitsJoin = (owner: 'buyer_id' | 'buyer_group_id'): string =>
  `LEFT JOIN call_limits l ON l.company_id = t.company_id AND l.${owner} = t.id`;

/** The first entry of the business hours of the buyer t that is open now. */
export const openHoursJoin = (
  name: string,
): string => `LEFT JOIN LATERAL (SELECT x.* FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id
  AND is_open(x.open_minutes, local_minute_of_week(${NOW}, l.zone)) ORDER BY x.position LIMIT 1) ${name} ON true`;

/** The next local hour, day and month of a zone, as instants: a day of 23 or 25 hours is a day. */
const NEXT: Record<Exclude<Interval, 'total'>, (zone: string) => string> = {
  hourly: (zone) => `date_trunc('hour', {now}::timestamptz, ${zone}) + interval '1 hour'`,
  daily: (zone) =>
    `(date_trunc('day', {now}::timestamptz AT TIME ZONE ${zone}) + interval '1 day') AT TIME ZONE ${zone}`,
  monthly: (zone) =>
    `(date_trunc('month', {now}::timestamptz AT TIME ZONE ${zone}) + interval '1 month') AT TIME ZONE ${zone}`,
};

export type CapOwner = { buyer_id: bigint | number } | { buyer_group_id: bigint | number };

const ownerOf = (owner: CapOwner) =>
  'buyer_id' in owner
    ? { column: 'buyer_id', id: owner.buyer_id }
    : { column: 'buyer_group_id', id: owner.buyer_group_id };

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

export interface LimitChanges {
  /** Limits to set, by column; null lifts one. */
  limits: Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;
  /** IANA zone of the owner when it changes. Running windows then end at the new zone's next hour, day and month; nothing is forgotten. */
  zone?: string | undefined;
  reset_totals?: boolean | undefined;
  now: Date;
}

/** Changes an owner's caps in one statement; does nothing when nothing changes. */
export async function changeLimits(
  db: Db,
  owner: CapOwner,
  { limits, zone, reset_totals, now }: LimitChanges,
): Promise<void> {
  const { column, id } = ownerOf(owner);
  const values: unknown[] = [db.company_id, id, now.toISOString()];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const sets = Object.entries(limits).map(
    ([name, value]) => `${limitColumn(name)} = ${bind(value)}`,
  );
  if (zone !== undefined) {
    const at = `${bind(zone)}::text`;
    sets.push(`zone = ${at}`);
    for (const [interval, resets_at] of Object.entries(RESETS)) {
      const next = NEXT[interval as keyof typeof NEXT](at).replaceAll('{now}', '$3');
      sets.push(
        `${resets_at} = CASE WHEN ${resets_at} > $3::timestamptz THEN ${next} ELSE ${resets_at} END`,
      );
    }
  }
  // What is held now and given back later is not taken off the new totals.
  if (reset_totals)
    sets.push(
      ...METRICS.map((metric) => `${metric}_total_used = 0`),
      'totals_reset_at = $3::timestamptz',
    );
  if (sets.length === 0) return;
  await db.query({
    text: `UPDATE call_limits SET ${sets.join(', ')} WHERE company_id = $1 AND ${column} = $2 AND $3::timestamptz IS NOT NULL`,
    values,
  });
}

/** Gives a new owner its caps, with nothing used. Only the columns that are set are written: the others are most of the row. */
export async function openLimits(
  db: Db,
  owner: CapOwner,
  { zone, limits }: Pick<LimitChanges, 'limits'> & { zone: string },
): Promise<void> {
  const { column, id } = ownerOf(owner);
  const set = Object.entries(limits).filter(([, value]) => value !== null);
  const columns = ['company_id', column, 'zone', ...set.map(([name]) => limitColumn(name))];
  const values = [db.company_id, id, zone, ...set.map(([, value]) => value)];
  await db.query({
    text: `INSERT INTO call_limits (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    values,
  });
}

/** Limits come from fields of the contract; the name is checked all the same, since it goes into SQL. */
function limitColumn(name: string): string {
  if (name !== 'concurrency_cap_limit' && !CAPS.some(({ limit }) => limit === name))
    throw new Error(`no limit is called ${name}`);
  return name;
}

/** The limits among the fields of a request. */
export function limitsIn(body: Record<string, unknown>): LimitChanges['limits'] {
  const names = [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit' as const];
  return Object.fromEntries(
    names
      .filter((name) => body[name] !== undefined)
      .map((name) => [name, body[name] as number | null]),
  );
}
