/** What caps count. Revenue is in dollars, the others in calls. */
export const METRICS = [
  'attempt',
  'buyer_conversion',
  'connection',
  'earned_revenue',
  'revenue',
] as const;
export type Metric = (typeof METRICS)[number];

/** Over what a cap counts, the one that takes longest to come back first. */
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

/** How much a call adds to each metric. */
export type Usage = Partial<Record<Metric, number>>;

/** A cap with a limit, as it stood before a call was taken up in it: what was used, and what calls under way might still use. */
export interface CapStanding {
  cap: string;
  used: number;
  limit: number;
  /** ISO 8601; null when it does not reset by itself. */
  resets_at: string | null;
}

/** The same with its owner, a buyer or a group. */
export type OwnedCap = CapStanding & { buyer_id: number | null; buyer_group_id: number | null };

/** What a call under way may still come to. */
export interface Held {
  connections: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
}

/** What is taken up of an owner's caps for a call: a slot, and what the call may still come to. */
export type TakenSlot = Held & { call_limit_id: string };

/** The column that holds the end of each window. */
export const RESETS = {
  monthly: 'monthly_resets_at',
  daily: 'daily_resets_at',
  hourly: 'hourly_resets_at',
} as const satisfies Record<Exclude<Interval, 'total'>, string>;

/** Who a row of call_limits belongs to. */
export type CapOwner = { buyer_id: bigint | number } | { buyer_group_id: bigint | number };
