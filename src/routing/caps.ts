/** What caps count. Revenue is in dollars, the others in calls. */
export const METRICS = ['attempt', 'buyer_conversion', 'connection', 'earned_revenue', 'revenue'] as const;
export type Metric = (typeof METRICS)[number];

/** Over what a cap counts, the one that takes longest to come back first. */
export const INTERVALS = ['total', 'monthly', 'daily', 'hourly'] as const;
export type Interval = (typeof INTERVALS)[number];

export type LimitName = `${Metric}_${Interval}_limit`;
export type UsedName = `${Metric}_${Interval}_used`;

/** Every (metric, interval), the longest interval first. */
export const CAPS: readonly { metric: Metric; interval: Interval; limit: LimitName; used: UsedName }[] = INTERVALS.flatMap((interval) =>
  METRICS.map((metric) => ({ metric, interval, limit: `${metric}_${interval}_limit` as const, used: `${metric}_${interval}_used` as const })),
);

/** How much a call adds to each metric. */
export type Usage = Partial<Record<Metric, number>>;
