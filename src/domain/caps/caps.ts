/** Metrics are counted by caps: money in dollars, the others as numbers of calls. */
interface MetricFacts {
  /** As messages name it. */
  words: string;
  is_money: boolean;
  /** The column of call_limits with what calls in progress may still use; null for nothing. */
  pending: 'pending_conversions' | 'pending_connections' | 'pending_revenue' | null;
}

/** In the order in which a used-up cap is named; prisma/sql/caps/cap_counters.sql has the same. */
const FACTS = {
  attempt: { words: 'attempts', is_money: false, pending: null },
  buyer_conversion: { words: 'conversions', is_money: false, pending: 'pending_conversions' },
  connection: { words: 'connections', is_money: false, pending: 'pending_connections' },
  earned_revenue: { words: 'earned revenue', is_money: true, pending: 'pending_revenue' },
  revenue: { words: 'revenue', is_money: true, pending: 'pending_revenue' },
} as const satisfies Record<string, MetricFacts>;

export type Metric = keyof typeof FACTS;
export const METRICS = Object.keys(FACTS) as Metric[];
export const factsOf = (metric: Metric): MetricFacts => FACTS[metric];

/** Windows after which a cap resets, the longest first; a total never resets by itself. */
export const INTERVALS = ['total', 'monthly', 'daily', 'hourly'] as const;
export type Interval = (typeof INTERVALS)[number];

export type LimitName = `${Metric}_${Interval}_limit`;
export type UsedName = `${Metric}_${Interval}_used`;

/** Every (metric, interval), the longest interval first. */
export const CAPS: readonly {
  metric: Metric;
  interval: Interval;
  limit: LimitName;
  used: UsedName;
}[] = INTERVALS.flatMap((interval) =>
  METRICS.map((metric) => ({
    metric,
    interval,
    limit: `${metric}_${interval}_limit` as const,
    used: `${metric}_${interval}_used` as const,
  })),
);

export type Usage = Partial<Record<Metric, number>>;

/**
 * A cap with a limit, before a call was reserved. `used` includes the amount that calls in progress
 * may still use.
 */
export interface CapSnapshot {
  cap: string;
  used: number;
  limit: number;
  /** ISO 8601; null when it does not reset by itself. */
  resets_at: string | null;
}

export type OwnedCap = CapSnapshot & {
  buyer_id: number | null;
  buyer_group_id: number | null;
  /** Absent in decisions stored before traffic sources had caps. */
  traffic_source_id?: number | null;
};

/** The amount that a call in progress may still use. */
export interface HeldUsage {
  connections: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
}

/** A slot of concurrency, and the amount of an owner's caps that the call may still use. */
export type HeldSlot = HeldUsage & { call_limit_id: string };

export const RESETS = {
  monthly: 'monthly_resets_at',
  daily: 'daily_resets_at',
  hourly: 'hourly_resets_at',
} as const satisfies Record<Exclude<Interval, 'total'>, string>;

export type CapOwner =
  | { buyer_id: bigint | number }
  | { buyer_group_id: bigint | number }
  | { traffic_source_id: bigint | number };

/** Columns of an owner; spread before the one that is set. */
export const NO_OWNER = { buyer_id: null, buyer_group_id: null, traffic_source_id: null };

/** `balance` is the amount that a prepaid buyer can pay; calls in progress reduce it. */
export type CapName = `${Metric}_${Interval}` | 'concurrency' | 'balance';

/** The cap that keeps its owner from calls: of several used-up caps, the one that frees last. */
export interface UsedUpCap {
  cap: CapName;
  used: number;
  limit: number;
  /** Null when it does not free by itself. */
  resets_at: Date | null;
}
