import { openHoursJoin, takenNow } from '../../caps/cap-columns';
import { CAPS } from '../../caps/caps';
import { sql, SqlText, statement } from '../../../data/sql';

// Measurements of rules: a row for each `subject` of which a rule holds now.

/** The path and the name of the watched subject; the company where a rule watches all. */
const WATCHED_SUBJECT = sql`
        coalesce(
          'buyers/' || {buyer_id}::bigint,
          'traffic_sources/' || {traffic_source_id}::bigint,
          'offers/' || {offer_id}::bigint,
          'company'
        ) AS subject,
        coalesce(
          (SELECT b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = {buyer_id}),
          (
            SELECT s.name
            FROM traffic_sources s
            WHERE s.company_id = {company_id} AND s.id = {traffic_source_id}
          ),
          (SELECT o.name FROM offers o WHERE o.company_id = {company_id} AND o.id = {offer_id})
        ) AS name`;

const SINCE = sql`{now}::timestamptz - {minutes}::int * interval '1 minute'`;

/** Inbound calls of the last minutes; for a buyer, its attempts count instead. */
const IN_WATCHED_CALLS = sql`
        c.company_id = {company_id}
        AND c.deleted_at IS NULL
        AND c.direction = 'inbound'
        AND c.created_at >= ${SINCE}
        AND {buyer_id}::bigint IS NULL
        AND ({offer_id}::bigint IS NULL OR c.offer_id = {offer_id})
        AND ({traffic_source_id}::bigint IS NULL OR c.traffic_source_id = {traffic_source_id})`;

const IN_WATCHED_ATTEMPTS = sql`
        a.company_id = {company_id}
        AND a.buyer_id = {buyer_id}::bigint
        AND a.created_at >= ${SINCE}`;

/** Each cap with its usage, including calls in progress, and its current limit. */
const EACH_CAP = new SqlText(
  [
    ...CAPS.map(({ metric, interval, limit }) => {
      const max = `l.${limit}`;
      const now = interval === 'hourly' ? `coalesce(h.${limit}, ${max})` : max;
      return `('${metric}_${interval}', ${takenNow(metric, interval)}, ${now})`;
    }),
    `('concurrency', l.concurrency_cap_used, l.concurrency_cap_limit)`,
  ].join(',\n          '),
);
/** The hourly limits of buyers are those of their open business hours. */
const OPEN_HOURS = new SqlText(openHoursJoin('h'));

export const USED_CAPS = statement(
  'alerts.used_caps',
  sql`
    SELECT t.path || '/' || c.cap AS subject, t.name, c.cap, c.used::float8, c.max::float8
    FROM (
      SELECT b.company_id, b.id, 'buyers/' || b.id AS path, b.name
      FROM buyers b
      WHERE b.company_id = {company_id} AND b.deleted_at IS NULL
      UNION ALL
      SELECT g.company_id, NULL, 'buyer_groups/' || g.id, g.name
      FROM buyer_groups g
      WHERE g.company_id = {company_id} AND g.deleted_at IS NULL
      UNION ALL
      SELECT s.company_id, NULL, 'traffic_sources/' || s.id, s.name
      FROM traffic_sources s
      WHERE s.company_id = {company_id} AND s.deleted_at IS NULL
    ) t
    JOIN call_limits l
      ON l.company_id = t.company_id
      AND t.path = coalesce(
        'buyers/' || l.buyer_id,
        'buyer_groups/' || l.buyer_group_id,
        'traffic_sources/' || l.traffic_source_id
      )
    ${OPEN_HOURS}
    CROSS JOIN LATERAL (
      VALUES
          ${EACH_CAP}
    ) AS c(cap, used, max)
    WHERE c.max > 0
      AND c.used * 100 >= c.max * {percent}::float8::numeric
      AND (
        coalesce({buyer_id}::bigint, {buyer_group_id}::bigint, {traffic_source_id}::bigint) IS NULL
        OR l.buyer_id = {buyer_id}
        OR l.buyer_group_id = {buyer_group_id}
        OR l.traffic_source_id = {traffic_source_id}
      )`,
  { prepared: true, nullable: ['name'] },
);

export const LOW_BALANCES = statement(
  'alerts.low_balances',
  sql`
    SELECT
      'buyers/' || b.id AS subject, b.name, l.balance::float8 AS balance,
      coalesce({amount}::numeric, l.balance_low_limit)::float8 AS low
    FROM buyers b
    JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
    WHERE b.company_id = {company_id}
      AND b.deleted_at IS NULL
      AND ({buyer_id}::bigint IS NULL OR b.id = {buyer_id})
      AND l.balance < coalesce({amount}::numeric, l.balance_low_limit)`,
  { prepared: true, nullable: ['name'] },
);

/** Ended calls, of which too few were connected. */
export const LOW_CONNECT_RATE = statement(
  'alerts.low_connect_rate',
  sql`
    SELECT ${WATCHED_SUBJECT}, x.calls, x.connects
    FROM (
      SELECT count(*)::int AS calls, count(c.connected_at)::int AS connects
      FROM calls c
      WHERE ${IN_WATCHED_CALLS}
        AND c.ended_at IS NOT NULL
      UNION ALL
      SELECT count(*)::int, count(a.connected_at)::int
      FROM call_attempts a
      WHERE ${IN_WATCHED_ATTEMPTS}
        AND a.status NOT IN ('ringing', 'answered')
    ) x
    WHERE x.calls >= {min_calls}::int AND x.connects * 100 < x.calls * {percent}::float8`,
  { prepared: true, nullable: ['name'] },
);

export const NO_CALLS = statement(
  'alerts.no_calls',
  sql`
    SELECT ${WATCHED_SUBJECT}
    WHERE NOT EXISTS (SELECT FROM calls c WHERE ${IN_WATCHED_CALLS})
      AND NOT EXISTS (SELECT FROM call_attempts a WHERE ${IN_WATCHED_ATTEMPTS})`,
  { prepared: true, nullable: ['name'] },
);

/** Calls and texts that failed at the carrier, and attempts to reach a buyer. */
export const CARRIER_ERRORS = statement(
  'alerts.carrier_errors',
  sql`
    SELECT 'company' AS subject, x.failures
    FROM (
      SELECT
        (
          SELECT
            count(*) FILTER (WHERE c.status = 'failed')
            + count(*) FILTER (
              WHERE EXISTS (
                SELECT
                FROM call_attempts a
                WHERE a.company_id = c.company_id AND a.call_id = c.id AND a.status = 'failed'
              )
            )
          FROM calls c
          WHERE c.company_id = {company_id}
            AND c.deleted_at IS NULL
            AND c.created_at >= ${SINCE}
        )
        + (
          SELECT count(*)
          FROM text_messages m
          WHERE m.company_id = {company_id}
            AND m.deleted_at IS NULL
            AND m.created_at >= ${SINCE}
            AND m.status IN ('failed', 'undelivered')
        ) AS failures
    ) x
    WHERE x.failures >= {count}::int`,
  { prepared: true },
).returning<{ failures: string }>();

export const PAUSED_WEBHOOKS = statement(
  'alerts.paused_webhooks',
  sql`
    SELECT 'outgoing_webhooks/' || w.id AS subject, w.name, w.paused_reason
    FROM outgoing_webhooks w
    WHERE w.company_id = {company_id}
      AND w.deleted_at IS NULL
      AND w.paused
      AND w.paused_reason IS NOT NULL`,
  { prepared: true },
);
