import { sql, statement } from '../../../data/sql';

/** The living switch with a name, id or uuid. */
export const FIND_SWITCH = statement(
  'switches.find_switch',
  sql`
    SELECT s.id::text AS id
    FROM switches s
    WHERE s.company_id = {company_id} AND s.deleted_at IS NULL
      AND (s.name = {reference} OR s.id::text = {reference} OR s.uuid::text = {reference})
    ORDER BY s.name <> {reference}
    LIMIT 1`,
  { prepared: true },
);

/** A switch `s` that was heard of in the time of three syncs is asked to place calls. */
const IS_LIVE = sql`
      greatest(s.synced_at, s.asked_at) > {now}::timestamptz - interval '3 minutes'`;

/**
 * For each of the companies that has a switch which places calls: the first of those that are live,
 * which are those that have sent a sync or asked for commands of late. Null where none is.
 */
export const FIND_LIVE_SWITCHES = statement(
  'switches.find_live_switches',
  sql`
    SELECT
      s.company_id::text AS company_id,
      (min(s.id) FILTER (WHERE ${IS_LIVE}))::text AS id
    FROM switches s
    WHERE s.company_id = ANY ({company_ids}::bigint[]) AND s.deleted_at IS NULL AND s.places_calls
    GROUP BY s.company_id`,
  { prepared: true, nullable: ['id'] },
);

/**
 * Notes that a switch asks for commands, at most every 20 seconds. Does not wait for a transaction
 * that gives it some.
 */
export const NOTE_ASKED = statement(
  'switches.note_asked',
  sql`
    UPDATE switches s
    SET asked_at = {now}::timestamptz
    FROM (
      SELECT x.id
      FROM switches x
      WHERE x.company_id = {company_id} AND x.id = {switch_id}::bigint
        AND (x.asked_at IS NULL OR x.asked_at < {now}::timestamptz - interval '20 seconds')
      FOR NO KEY UPDATE SKIP LOCKED
    ) due
    WHERE s.company_id = {company_id} AND s.id = due.id`,
  { prepared: true },
);

/** Companies whose schedules call, and that have no live switch. */
export const LIST_CALLERS_WITHOUT = statement(
  'switches.list_callers_without',
  sql`
    SELECT c.name
    FROM companies c
    WHERE EXISTS (
        SELECT
        FROM schedules p
        JOIN schedule_actions a ON a.company_id = p.company_id AND a.schedule_id = p.id
        WHERE p.company_id = c.id AND p.deleted_at IS NULL AND NOT p.paused
          AND a.deleted_at IS NULL AND a.action_type = 'dial'
      )
      AND NOT EXISTS (
        SELECT
        FROM switches s
        WHERE s.company_id = c.id AND s.deleted_at IS NULL AND s.places_calls AND ${IS_LIVE}
      )
    ORDER BY c.id
    LIMIT {limit}::int`,
  { prepared: false },
);
