import { buildVisibleCondition } from '../../../data/access/scope';
import { sql, SqlText, statement, TIMESTAMP_FORMAT } from '../../../data/sql';

// Events of a company, read from the rows in which they are recorded. Nothing is written for them.
//
// A row belongs to the transaction that wrote it, and transactions do not commit in the order of
// their ids, nor of those of their rows. The position of a stream is therefore a horizon: the
// oldest transaction that was running. All before it have ended, and their rows are all there are
// with such ids of transactions. (Ids of subtransactions come after that of their transaction.)

/** Events of each kind that are read at once. */
export const MAX_EVENTS = 500;

/**
 * The id of the transaction that wrote the row t. The system column lacks its upper half: it is
 * that of the newest id that is not after the statement's snapshot.
 */
const WRITTEN_BY = sql`greatest(
  pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  - (
    (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - t.xmin::text::bigint)
    & 4294967295
  ),
  0
)`;

/** Ids of transactions mean nothing to another server, nor after a failover. */
const SERVER = sql`left(
  md5(concat(
    (pg_control_system()).system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8)
  )),
  8
)`;

const HORIZON = sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/** The row t was written from one horizon on, and before another. */
const BETWEEN = sql`AND ${WRITTEN_BY} >= {from}::bigint AND ${WRITTEN_BY} < {to}::bigint`;

/**
 * The position of a stream that starts with new events. Rows that running transactions have yet to
 * commit are among the last 10,000 of the company.
 */
export const FIND_NOW = statement(
  'events.find_now',
  sql`
    SELECT
      ${SERVER} AS server,
      ${HORIZON}::text AS horizon,
      coalesce((
        SELECT t.id FROM call_events t WHERE t.company_id = {company_id}
        ORDER BY t.id DESC OFFSET 10000 LIMIT 1
      ), 0)::text AS calls_after,
      coalesce((
        SELECT t.id FROM lead_logs t WHERE t.company_id = {company_id}
        ORDER BY t.id DESC OFFSET 10000 LIMIT 1
      ), 0)::text AS leads_after
  `,
  { prepared: true },
);

/** News of companies since their horizons, in the order of the arrays. */
export const LOOK_FOR_NEWS = statement(
  'events.look_for_news',
  sql`
    SELECT
      followed.n::int,
      ${SERVER} AS server,
      ${HORIZON}::text AS horizon,
      pg_snapshot_xmax(pg_current_snapshot())::text AS newest,
      coalesce((
        SELECT t.id FROM call_events t WHERE t.company_id = followed.company_id
        ORDER BY t.id DESC LIMIT 1
      ), 0)::text AS last_call_event,
      coalesce((
        SELECT t.id FROM lead_logs t WHERE t.company_id = followed.company_id
        ORDER BY t.id DESC LIMIT 1
      ), 0)::text AS last_lead_log,
      (
        EXISTS (
          SELECT FROM call_events t
          WHERE t.company_id = followed.company_id AND t.id > followed.calls_after
            AND ${WRITTEN_BY} >= followed.horizon AND ${WRITTEN_BY} < ${HORIZON}
        )
        OR EXISTS (
          SELECT FROM call_limits t
          WHERE t.company_id = followed.company_id
            AND t.changed_by >= followed.horizon::text::xid8
            AND t.changed_by < pg_snapshot_xmin(pg_current_snapshot())
        )
        OR EXISTS (
          SELECT FROM lead_logs t
          WHERE t.company_id = followed.company_id AND t.id > followed.leads_after
            AND ${WRITTEN_BY} >= followed.horizon AND ${WRITTEN_BY} < ${HORIZON}
        )
        OR EXISTS (
          SELECT FROM buyer_suppression_files t
          WHERE t.company_id = followed.company_id
            AND ${WRITTEN_BY} >= followed.horizon AND ${WRITTEN_BY} < ${HORIZON}
        )
      ) AS has_news
    FROM unnest(
      {company_ids}::bigint[], {horizons}::bigint[], {calls_after}::bigint[],
      {leads_after}::bigint[]
    ) WITH ORDINALITY AS followed(company_id, horizon, calls_after, leads_after, n)
  `,
  { prepared: true },
);

const CALL_EVENTS = (visible: SqlText) => sql`
    SELECT
      t.id::text,
      json_build_object(
        'id', t.id, 'call_id', t.call_id, 'event', t.event, 'buyer_id', t.buyer_id,
        'created_at', to_char(t.created_at, ${TIMESTAMP_FORMAT})
      )::text AS data
    FROM call_events t
    WHERE t.company_id = {company_id} AND t.id > greatest({after}::bigint, {seen}::bigint)
      ${BETWEEN}
      AND EXISTS (
        SELECT FROM (
          SELECT x.* FROM calls x
          WHERE x.company_id = t.company_id AND x.id = t.call_id AND x.deleted_at IS NULL
        ) t
        ${visible}
      )`;
const LAST = sql`ORDER BY t.id LIMIT 500`;

const CAPS = sql`
    SELECT
      t.id::text,
      json_build_object('buyer_id', t.buyer_id, 'buyer_group_id', t.buyer_group_id)::text AS data
    FROM call_limits t
    WHERE t.company_id = {company_id} AND t.id > {seen}::bigint
      AND t.changed_by >= {from}::text::xid8 AND t.changed_by < {to}::text::xid8`;

const buildBuyerCaps = (visible: SqlText) => sql`${CAPS}
      AND EXISTS (
        SELECT FROM (
          SELECT x.* FROM buyers x
          WHERE x.company_id = t.company_id AND x.id = t.buyer_id AND x.deleted_at IS NULL
        ) t
        ${visible}
      )
    ${LAST}`;
const buildGroupCaps = (visible: SqlText) => sql`${CAPS}
      AND EXISTS (
        SELECT FROM (
          SELECT x.* FROM buyer_groups x
          WHERE x.company_id = t.company_id AND x.id = t.buyer_group_id AND x.deleted_at IS NULL
        ) t
        ${visible}
      )
    ${LAST}`;

const LEAD_LOGS = sql`
    SELECT
      t.id::text,
      json_build_object(
        'id', t.id, 'lead_id', t.lead_id, 'event', t.event,
        'created_at', to_char(t.created_at, ${TIMESTAMP_FORMAT})
      )::text AS data
    FROM lead_logs t
    WHERE t.company_id = {company_id} AND t.id > greatest({after}::bigint, {seen}::bigint)
      ${BETWEEN}`;

const IMPORTS = sql`
    SELECT
      t.id::text,
      json_build_object(
        'id', t.id, 'status', t.status, 'total_count', t.total_count,
        'import_count', t.import_count, 'rejected_count', t.rejected_count
      )::text AS data
    FROM buyer_suppression_files t
    WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND t.id > {seen}::bigint
      ${BETWEEN}`;

const ALL = sql``;
const where = (condition: string) => sql`WHERE ${new SqlText(condition)}`;
const and = (condition: string) => sql`AND ${new SqlText(condition)}`;
const prepared = { prepared: true };

export const FIND_EVENTS = {
  calls: statement('events.find_call_events', sql`${CALL_EVENTS(ALL)} ${LAST}`, prepared),
  buyers: statement('events.find_caps_of_buyers', buildBuyerCaps(ALL), prepared),
  buyer_groups: statement('events.find_caps_of_groups', buildGroupCaps(ALL), prepared),
  lead_logs: statement('events.find_lead_logs', sql`${LEAD_LOGS} ${LAST}`, prepared),
  buyer_suppression_files: statement('events.find_imports', sql`${IMPORTS} ${LAST}`, prepared),
};

/** The events of limited callers, by the conditions of the lists of the same records. */
export const FIND_VISIBLE_EVENTS = {
  calls: statement(
    'events.find_visible_call_events',
    sql`${CALL_EVENTS(where(buildVisibleCondition('calls')!))} ${and(buildVisibleCondition('call_events')!)} ${LAST}`,
    prepared,
  ),
  buyers: statement(
    'events.find_caps_of_visible_buyers',
    buildBuyerCaps(where(buildVisibleCondition('buyers')!)),
    prepared,
  ),
  buyer_groups: statement(
    'events.find_caps_of_visible_groups',
    buildGroupCaps(where(buildVisibleCondition('buyer_groups')!)),
    prepared,
  ),
  lead_logs: statement(
    'events.find_visible_lead_logs',
    sql`${LEAD_LOGS} ${and(buildVisibleCondition('lead_logs')!)} ${LAST}`,
    prepared,
  ),
  buyer_suppression_files: statement(
    'events.find_visible_imports',
    sql`${IMPORTS} ${and(buildVisibleCondition('buyer_suppression_files')!)} ${LAST}`,
    prepared,
  ),
};
