import { sql, statement, TIMESTAMP_FORMAT } from '../../../data/sql';

const IS_ACCOUNT_ENTRY = sql`
        (e.buyer_id = {buyer_id}::bigint OR e.traffic_source_id = {traffic_source_id}::bigint)`;

export const INSERT_STATEMENT = statement(
  'accounts.insert_statement',
  sql`
    WITH entries AS (
      SELECT e.kind, e.amount, e.created_at < {from}::timestamptz AS is_before
      FROM account_entries e
      WHERE e.company_id = {company_id}
        AND ${IS_ACCOUNT_ENTRY}
        AND e.created_at < {to}::timestamptz
    ),
    sums AS (
      SELECT
        kind,
        coalesce(sum(amount) FILTER (WHERE is_before), 0) AS before,
        coalesce(sum(amount) FILTER (WHERE NOT is_before), 0) AS within,
        count(*) FILTER (WHERE NOT is_before) AS n
      FROM entries
      GROUP BY kind
    ),
    stored AS (
      INSERT INTO statements (
        company_id, created_at, external_record_id, buyer_id, traffic_source_id, period_from,
        period_to, time_zone, opening_balance, closing_balance, entries_count, totals
      )
      SELECT
        {company_id}, {now}::timestamptz, {external_record_id}, {buyer_id}::bigint,
        {traffic_source_id}::bigint, {from}::timestamptz, {to}::timestamptz, {time_zone},
        coalesce(sum(s.before), 0), coalesce(sum(s.before + s.within), 0),
        coalesce(sum(s.n), 0),
        jsonb_object_agg(k.kind, coalesce(s.within, 0))
      FROM unnest(
        ARRAY['deposit', 'conversion', 'return', 'adjustment', 'payout', 'payment']
      ) AS k(kind)
      LEFT JOIN sums s ON s.kind = k.kind
      RETURNING *
    )
    SELECT
      x.id::text,
      record_webhook_event(
        {company_id}::bigint,
        'statement_ready',
        x.id,
        jsonb_build_object(
          'statement',
          jsonb_build_object(
            'id', x.id,
            'uuid', x.uuid,
            'routes_show_path', '/api/v1/statements/' || x.id,
            'buyer_id', x.buyer_id,
            'traffic_source_id', x.traffic_source_id,
            'period_from', to_char(x.period_from AT TIME ZONE 'UTC', ${TIMESTAMP_FORMAT}),
            'period_to', to_char(x.period_to AT TIME ZONE 'UTC', ${TIMESTAMP_FORMAT}),
            'time_zone', x.time_zone,
            'opening_balance', x.opening_balance,
            'closing_balance', x.closing_balance,
            'entries_count', x.entries_count
          )
        )
      )
    FROM stored x`,
  { prepared: false },
);
