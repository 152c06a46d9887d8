import { sql, statement } from '../../../data/sql';

/** The caps that are exceeded now and count a call of a time: windows that have ended do not. */
export const LIST_EXCEEDED_CAPS = statement(
  'calls.list_exceeded_caps',
  sql`
    SELECT
      c.cap, c.used::float8 AS used, c.cap_limit::float8 AS limit,
      l.buyer_id::float8 AS buyer_id, l.buyer_group_id::float8 AS buyer_group_id,
      l.traffic_source_id::float8 AS traffic_source_id
    FROM call_limits l
    CROSS JOIN LATERAL read_cap_counters(
      {company_id}::bigint, ARRAY[l.id], {now}::timestamptz
    ) c
    WHERE l.company_id = {company_id}
      AND counts_for(
        l, {buyer_id}::bigint, {buyer_group_id}::bigint, {traffic_source_id}::bigint
      )
      AND c.metric <> 'slot'
      AND c.used > c.cap_limit
      AND (
        c.period IN ('total', 'now')
        OR c.resets_at = next_end(c.period, {started_at}::timestamptz, l.zone)
      )
    ORDER BY l.id, c.n`,
  { prepared: true, nullable: ['buyer_id', 'buyer_group_id', 'traffic_source_id'] },
);
