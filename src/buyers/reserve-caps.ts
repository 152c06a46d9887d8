import type { Row } from '../db/sql';
import type { Db } from '../db/tenant';
import {
  CAPS,
  METRICS,
  NO_OWNER,
  RESETS,
  type CapOwner,
  type CapStanding,
  type Held,
  type LimitName,
  type Metric,
  type Usage,
} from './caps';
import {
  RECORD_FOR_OWNER,
  RESERVE_FOR_BUYER,
  RESERVE_FOR_GROUP,
  RESERVE_FOR_SOURCE,
} from './queries/cap-counters';
import { HOLD_MORE_OF_SOURCE } from './queries/source-hold';

type Connection = Pick<Db, 'sql'>;

/** What to count for an owner. */
export interface Move {
  owner: CapOwner;
  usage: Usage;
  /** Slots of concurrency: 1 takes one, -1 releases one. */
  concurrency?: number;
  /** What the call may still use; it counts as pending. */
  hold?: Held;
  /** How many dials this is. */
  calls?: number;
  /** The least time since the owner's last call. */
  spacing_seconds?: number;
  now: Date;
}

/** What a reservation has taken. */
export interface Reserved {
  call_limit_id: string;
  /** The caps as they were before it. */
  caps: CapStanding[];
}

const NOTHING_HELD: Held = { connections: 0, conversions: 0, revenue: 0 };

/**
 * Reserves a call's use of all caps of one owner. Returns undefined, and changes nothing, when one
 * of them has no room; one that the call does not count for yet must have room too. It is exact
 * under any number of simultaneous calls, because the database decides on the locked row.
 */
export async function reserveUsage(db: Connection, move: Move): Promise<Reserved | undefined> {
  const params = { ...paramsOf(move), spacing_seconds: move.spacing_seconds ?? 0 };
  if ('buyer_id' in move.owner) {
    const [row] = await db.sql(RESERVE_FOR_BUYER, { ...params, owner_id: move.owner.buyer_id });
    return row && reserved(row, row.hourly_limits, move);
  }
  const [row] =
    'buyer_group_id' in move.owner
      ? await db.sql(RESERVE_FOR_GROUP, { ...params, owner_id: move.owner.buyer_group_id })
      : await db.sql(RESERVE_FOR_SOURCE, { ...params, owner_id: move.owner.traffic_source_id });
  return row && reserved(row, row, move);
}

/**
 * Holds up to `revenue` dollars of the caps of a source for a call that holds less: undefined, or
 * the dollars that it holds where a cap has no room for more.
 */
export async function holdMoreOfSource(
  db: Connection,
  { id, ...call }: { id: number; call_id: number; revenue: number; now: Date },
): Promise<number | undefined> {
  const [row] = await db.sql(HOLD_MORE_OF_SOURCE, { traffic_source_id: id, ...call });
  return row && !row.has_room ? row.held : undefined;
}

/**
 * Records what has already happened (an answer, a conversion, revenue, the end of a call), even
 * when it exceeds a cap. Returns false when there is no such owner.
 */
export async function recordUsage(db: Connection, move: Move): Promise<boolean> {
  const of_owner = { ...NO_OWNER, ...move.owner };
  return (await db.sql(RECORD_FOR_OWNER, { ...paramsOf(move), ...of_owner })).length > 0;
}

function paramsOf({ usage, concurrency = 0, hold = NOTHING_HELD, calls = 0, now }: Move) {
  const added = Object.fromEntries(METRICS.map((metric) => [metric, usage[metric] ?? 0]));
  return {
    ...(added as Record<Metric, number>),
    slots: concurrency,
    held_connections: hold.connections,
    held_conversions: hold.conversions,
    held_revenue: hold.revenue,
    calls,
    now,
  };
}

type LimitsRow = Row<'buyers.reserve_for_group'>;
type Limits = Partial<Record<LimitName, number | string | null>>;

function reserved(row: LimitsRow, hourly: Limits, move: Move): Reserved {
  const { concurrency = 0 } = move;
  const caps = standings(row, hourly, move);
  if (row.concurrency_cap_limit !== null)
    caps.push({
      cap: 'concurrency',
      used: row.concurrency_cap_used - concurrency,
      limit: row.concurrency_cap_limit,
      resets_at: null,
    });
  if (row.balance !== null)
    caps.push({
      cap: 'balance',
      used: Number(row.pending_revenue) - (move.hold?.revenue ?? 0),
      limit: Number(row.balance) + Number(row.credit_limit),
      resets_at: null,
    });
  return { call_limit_id: row.id, caps };
}

/** The caps that have a limit, without what has just been reserved. */
function standings(
  row: LimitsRow,
  hourly: Limits,
  { usage, hold = NOTHING_HELD }: Move,
): CapStanding[] {
  const pending_revenue = Number(row.pending_revenue) - hold.revenue;
  const pending: Record<Metric, number> = {
    attempt: 0,
    connection: row.pending_connections - hold.connections,
    buyer_conversion: row.pending_conversions - hold.conversions,
    revenue: pending_revenue,
    earned_revenue: pending_revenue,
  };
  return CAPS.flatMap(({ metric, interval, limit: name, used }) => {
    const limit = interval === 'hourly' ? hourly[name] : row[name];
    if (limit === null || limit === undefined) return [];
    return {
      cap: `${metric}_${interval}`,
      used: Number(row[used]) - (usage[metric] ?? 0) + pending[metric],
      limit: Number(limit),
      resets_at: interval === 'total' ? null : row[RESETS[interval]]!.toISOString(),
    };
  });
}
