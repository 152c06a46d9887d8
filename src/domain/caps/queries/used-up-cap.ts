import { sql } from '../../../data/sql';

/**
 * A join that finds the cap that keeps a call from an owner, as JSON in `used_up.cap`; null while
 * every cap has room. It is the first reached cap, the longest interval first, or else the first
 * cap of dollars with less left than the call may bring. The last cap, `balance`, is the amount
 * that a prepaid buyer can pay; calls in progress reduce it.
 *
 * It needs `l`, the owner's row of call_limits; `hourly`, the row with its hourly limits; and
 * `pays.revenue`, the highest revenue of the call. A test compares the lists with those of
 * src/domain/caps/caps.ts. The planner merges `taken` and `reached` into the conditions, so that a
 * cap without a limit costs one comparison. `OFFSET 0` prevents a second evaluation of `found.cap`.
 */
export const USED_UP_CAP = sql`
  LEFT JOIN LATERAL (
    SELECT json_build_object(
      'cap', found.cap,
      'used', CASE found.cap
        WHEN 'attempt_total' THEN taken.attempt_total
        WHEN 'buyer_conversion_total' THEN taken.buyer_conversion_total
        WHEN 'connection_total' THEN taken.connection_total
        WHEN 'earned_revenue_total' THEN taken.earned_revenue_total
        WHEN 'revenue_total' THEN taken.revenue_total
        WHEN 'attempt_monthly' THEN taken.attempt_monthly
        WHEN 'buyer_conversion_monthly' THEN taken.buyer_conversion_monthly
        WHEN 'connection_monthly' THEN taken.connection_monthly
        WHEN 'earned_revenue_monthly' THEN taken.earned_revenue_monthly
        WHEN 'revenue_monthly' THEN taken.revenue_monthly
        WHEN 'attempt_daily' THEN taken.attempt_daily
        WHEN 'buyer_conversion_daily' THEN taken.buyer_conversion_daily
        WHEN 'connection_daily' THEN taken.connection_daily
        WHEN 'earned_revenue_daily' THEN taken.earned_revenue_daily
        WHEN 'revenue_daily' THEN taken.revenue_daily
        WHEN 'attempt_hourly' THEN taken.attempt_hourly
        WHEN 'buyer_conversion_hourly' THEN taken.buyer_conversion_hourly
        WHEN 'connection_hourly' THEN taken.connection_hourly
        WHEN 'earned_revenue_hourly' THEN taken.earned_revenue_hourly
        WHEN 'revenue_hourly' THEN taken.revenue_hourly
        WHEN 'balance' THEN l.pending_revenue
        ELSE coalesce(l.concurrency_cap_used, 0)
      END,
      'limit', CASE found.cap
        WHEN 'attempt_total' THEN l.attempt_total_limit
        WHEN 'buyer_conversion_total' THEN l.buyer_conversion_total_limit
        WHEN 'connection_total' THEN l.connection_total_limit
        WHEN 'earned_revenue_total' THEN l.earned_revenue_total_limit
        WHEN 'revenue_total' THEN l.revenue_total_limit
        WHEN 'attempt_monthly' THEN l.attempt_monthly_limit
        WHEN 'buyer_conversion_monthly' THEN l.buyer_conversion_monthly_limit
        WHEN 'connection_monthly' THEN l.connection_monthly_limit
        WHEN 'earned_revenue_monthly' THEN l.earned_revenue_monthly_limit
        WHEN 'revenue_monthly' THEN l.revenue_monthly_limit
        WHEN 'attempt_daily' THEN l.attempt_daily_limit
        WHEN 'buyer_conversion_daily' THEN l.buyer_conversion_daily_limit
        WHEN 'connection_daily' THEN l.connection_daily_limit
        WHEN 'earned_revenue_daily' THEN l.earned_revenue_daily_limit
        WHEN 'revenue_daily' THEN l.revenue_daily_limit
        WHEN 'attempt_hourly' THEN hourly.attempt_hourly_limit
        WHEN 'buyer_conversion_hourly' THEN hourly.buyer_conversion_hourly_limit
        WHEN 'connection_hourly' THEN hourly.connection_hourly_limit
        WHEN 'earned_revenue_hourly' THEN hourly.earned_revenue_hourly_limit
        WHEN 'revenue_hourly' THEN hourly.revenue_hourly_limit
        WHEN 'balance' THEN l.balance + l.credit_limit
        ELSE l.concurrency_cap_limit
      END,
      'resets_at', coalesce(
        CASE
          WHEN reached.attempt_total OR reached.buyer_conversion_total
            OR reached.connection_total OR reached.earned_revenue_total
            OR reached.revenue_total THEN NULL
          ELSE greatest(
            CASE WHEN reached.attempt_monthly OR reached.buyer_conversion_monthly
              OR reached.connection_monthly OR reached.earned_revenue_monthly
              OR reached.revenue_monthly THEN l.monthly_resets_at END,
            CASE WHEN reached.attempt_daily OR reached.buyer_conversion_daily
              OR reached.connection_daily OR reached.earned_revenue_daily
              OR reached.revenue_daily THEN l.daily_resets_at END,
            CASE WHEN reached.attempt_hourly OR reached.buyer_conversion_hourly
              OR reached.connection_hourly OR reached.earned_revenue_hourly
              OR reached.revenue_hourly THEN l.hourly_resets_at END
          )
        END,
        CASE
          WHEN found.cap LIKE '%revenue_hourly' AND l.hourly_resets_at > {now}::timestamptz
            THEN l.hourly_resets_at
          WHEN found.cap LIKE '%revenue_daily' AND l.daily_resets_at > {now}::timestamptz
            THEN l.daily_resets_at
          WHEN found.cap LIKE '%revenue_monthly' AND l.monthly_resets_at > {now}::timestamptz
            THEN l.monthly_resets_at
        END
      )
    ) AS cap
    FROM (
      SELECT
        coalesce(l.attempt_total_used, 0) AS attempt_total,
        coalesce(l.buyer_conversion_total_used, 0) + coalesce(l.pending_conversions, 0)
          AS buyer_conversion_total,
        coalesce(l.connection_total_used, 0) + coalesce(l.pending_connections, 0)
          AS connection_total,
        coalesce(l.earned_revenue_total_used, 0) + coalesce(l.pending_revenue, 0)
          AS earned_revenue_total,
        coalesce(l.revenue_total_used, 0) + coalesce(l.pending_revenue, 0) AS revenue_total,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz THEN l.attempt_monthly_used ELSE 0 END
          AS attempt_monthly,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz
          THEN l.buyer_conversion_monthly_used ELSE 0 END
          + coalesce(l.pending_conversions, 0) AS buyer_conversion_monthly,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz THEN l.connection_monthly_used ELSE 0 END
          + coalesce(l.pending_connections, 0) AS connection_monthly,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz
          THEN l.earned_revenue_monthly_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS earned_revenue_monthly,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz THEN l.revenue_monthly_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS revenue_monthly,
        CASE WHEN l.daily_resets_at > {now}::timestamptz THEN l.attempt_daily_used ELSE 0 END
          AS attempt_daily,
        CASE WHEN l.daily_resets_at > {now}::timestamptz
          THEN l.buyer_conversion_daily_used ELSE 0 END
          + coalesce(l.pending_conversions, 0) AS buyer_conversion_daily,
        CASE WHEN l.daily_resets_at > {now}::timestamptz THEN l.connection_daily_used ELSE 0 END
          + coalesce(l.pending_connections, 0) AS connection_daily,
        CASE WHEN l.daily_resets_at > {now}::timestamptz THEN l.earned_revenue_daily_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS earned_revenue_daily,
        CASE WHEN l.daily_resets_at > {now}::timestamptz THEN l.revenue_daily_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS revenue_daily,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz THEN l.attempt_hourly_used ELSE 0 END
          AS attempt_hourly,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz
          THEN l.buyer_conversion_hourly_used ELSE 0 END
          + coalesce(l.pending_conversions, 0) AS buyer_conversion_hourly,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz THEN l.connection_hourly_used ELSE 0 END
          + coalesce(l.pending_connections, 0) AS connection_hourly,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz
          THEN l.earned_revenue_hourly_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS earned_revenue_hourly,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz THEN l.revenue_hourly_used ELSE 0 END
          + coalesce(l.pending_revenue, 0) AS revenue_hourly
    ) taken
    CROSS JOIN LATERAL (
      SELECT
        l.attempt_total_limit IS NOT NULL
          AND taken.attempt_total >= l.attempt_total_limit
          AS attempt_total,
        l.buyer_conversion_total_limit IS NOT NULL
          AND taken.buyer_conversion_total >= l.buyer_conversion_total_limit
          AS buyer_conversion_total,
        l.connection_total_limit IS NOT NULL
          AND taken.connection_total >= l.connection_total_limit
          AS connection_total,
        l.earned_revenue_total_limit IS NOT NULL
          AND taken.earned_revenue_total >= l.earned_revenue_total_limit
          AS earned_revenue_total,
        l.revenue_total_limit IS NOT NULL
          AND taken.revenue_total >= l.revenue_total_limit
          AS revenue_total,
        l.attempt_monthly_limit IS NOT NULL
          AND taken.attempt_monthly >= l.attempt_monthly_limit
          AS attempt_monthly,
        l.buyer_conversion_monthly_limit IS NOT NULL
          AND taken.buyer_conversion_monthly >= l.buyer_conversion_monthly_limit
          AS buyer_conversion_monthly,
        l.connection_monthly_limit IS NOT NULL
          AND taken.connection_monthly >= l.connection_monthly_limit
          AS connection_monthly,
        l.earned_revenue_monthly_limit IS NOT NULL
          AND taken.earned_revenue_monthly >= l.earned_revenue_monthly_limit
          AS earned_revenue_monthly,
        l.revenue_monthly_limit IS NOT NULL
          AND taken.revenue_monthly >= l.revenue_monthly_limit
          AS revenue_monthly,
        l.attempt_daily_limit IS NOT NULL
          AND taken.attempt_daily >= l.attempt_daily_limit
          AS attempt_daily,
        l.buyer_conversion_daily_limit IS NOT NULL
          AND taken.buyer_conversion_daily >= l.buyer_conversion_daily_limit
          AS buyer_conversion_daily,
        l.connection_daily_limit IS NOT NULL
          AND taken.connection_daily >= l.connection_daily_limit
          AS connection_daily,
        l.earned_revenue_daily_limit IS NOT NULL
          AND taken.earned_revenue_daily >= l.earned_revenue_daily_limit
          AS earned_revenue_daily,
        l.revenue_daily_limit IS NOT NULL
          AND taken.revenue_daily >= l.revenue_daily_limit
          AS revenue_daily,
        hourly.attempt_hourly_limit IS NOT NULL
          AND taken.attempt_hourly >= hourly.attempt_hourly_limit
          AS attempt_hourly,
        hourly.buyer_conversion_hourly_limit IS NOT NULL
          AND taken.buyer_conversion_hourly >= hourly.buyer_conversion_hourly_limit
          AS buyer_conversion_hourly,
        hourly.connection_hourly_limit IS NOT NULL
          AND taken.connection_hourly >= hourly.connection_hourly_limit
          AS connection_hourly,
        hourly.earned_revenue_hourly_limit IS NOT NULL
          AND taken.earned_revenue_hourly >= hourly.earned_revenue_hourly_limit
          AS earned_revenue_hourly,
        hourly.revenue_hourly_limit IS NOT NULL
          AND taken.revenue_hourly >= hourly.revenue_hourly_limit
          AS revenue_hourly
    ) reached
    CROSS JOIN LATERAL (
      SELECT coalesce(
        CASE
          WHEN reached.attempt_total THEN 'attempt_total'
          WHEN reached.buyer_conversion_total THEN 'buyer_conversion_total'
          WHEN reached.connection_total THEN 'connection_total'
          WHEN reached.earned_revenue_total THEN 'earned_revenue_total'
          WHEN reached.revenue_total THEN 'revenue_total'
          WHEN reached.attempt_monthly THEN 'attempt_monthly'
          WHEN reached.buyer_conversion_monthly THEN 'buyer_conversion_monthly'
          WHEN reached.connection_monthly THEN 'connection_monthly'
          WHEN reached.earned_revenue_monthly THEN 'earned_revenue_monthly'
          WHEN reached.revenue_monthly THEN 'revenue_monthly'
          WHEN reached.attempt_daily THEN 'attempt_daily'
          WHEN reached.buyer_conversion_daily THEN 'buyer_conversion_daily'
          WHEN reached.connection_daily THEN 'connection_daily'
          WHEN reached.earned_revenue_daily THEN 'earned_revenue_daily'
          WHEN reached.revenue_daily THEN 'revenue_daily'
          WHEN reached.attempt_hourly THEN 'attempt_hourly'
          WHEN reached.buyer_conversion_hourly THEN 'buyer_conversion_hourly'
          WHEN reached.connection_hourly THEN 'connection_hourly'
          WHEN reached.earned_revenue_hourly THEN 'earned_revenue_hourly'
          WHEN reached.revenue_hourly THEN 'revenue_hourly'
          WHEN l.concurrency_cap_used >= l.concurrency_cap_limit THEN 'concurrency'
          WHEN l.balance IS NOT NULL
            AND l.pending_revenue >= l.balance + l.credit_limit
            THEN 'balance'
        END,
        CASE
          WHEN l.earned_revenue_total_limit IS NOT NULL
            AND taken.earned_revenue_total + pays.revenue > l.earned_revenue_total_limit
            THEN 'earned_revenue_total'
          WHEN l.revenue_total_limit IS NOT NULL
            AND taken.revenue_total + pays.revenue > l.revenue_total_limit
            THEN 'revenue_total'
          WHEN l.earned_revenue_monthly_limit IS NOT NULL
            AND taken.earned_revenue_monthly + pays.revenue > l.earned_revenue_monthly_limit
            THEN 'earned_revenue_monthly'
          WHEN l.revenue_monthly_limit IS NOT NULL
            AND taken.revenue_monthly + pays.revenue > l.revenue_monthly_limit
            THEN 'revenue_monthly'
          WHEN l.earned_revenue_daily_limit IS NOT NULL
            AND taken.earned_revenue_daily + pays.revenue > l.earned_revenue_daily_limit
            THEN 'earned_revenue_daily'
          WHEN l.revenue_daily_limit IS NOT NULL
            AND taken.revenue_daily + pays.revenue > l.revenue_daily_limit
            THEN 'revenue_daily'
          WHEN hourly.earned_revenue_hourly_limit IS NOT NULL
            AND taken.earned_revenue_hourly + pays.revenue > hourly.earned_revenue_hourly_limit
            THEN 'earned_revenue_hourly'
          WHEN hourly.revenue_hourly_limit IS NOT NULL
            AND taken.revenue_hourly + pays.revenue > hourly.revenue_hourly_limit
            THEN 'revenue_hourly'
          WHEN l.balance IS NOT NULL
            AND l.pending_revenue + pays.revenue > l.balance + l.credit_limit
            THEN 'balance'
        END
      ) AS cap
      OFFSET 0
    ) found
    WHERE found.cap IS NOT NULL
  ) used_up ON true
`;
