import { sql, statement } from '../../../data/sql';

// Legs of calls whose carrier rings all buyers of a round for the same time, and records all or
// none.

/** Saves the leg of an attempt whose ringing must be stopped before the round ends. */
export const SET_LEG = statement(
  'calls.set_leg',
  sql`
    UPDATE call_attempts
    SET leg_sid = {leg_sid}
    WHERE company_id = {company_id} AND uuid = {attempt}::uuid AND ring_until IS NOT NULL
      AND leg_sid IS NULL
  `,
  { prepared: true },
);

/**
 * Legs that have rung as long as they should, of any company. Each is claimed again a moment later,
 * in case the carrier was not reached.
 */
export const CLAIM_LEGS_TO_STOP = statement(
  'calls.claim_legs_to_stop',
  sql`
    WITH due AS (
      SELECT a.company_id, a.id
      FROM call_attempts a
      WHERE a.status = 'ringing' AND a.ring_until <= {now}::timestamptz AND a.leg_sid IS NOT NULL
      ORDER BY a.ring_until
      LIMIT {limit}::int
      FOR UPDATE SKIP LOCKED
    )
    UPDATE call_attempts a
    SET ring_until = {again_at}::timestamptz
    FROM due, calls c
    WHERE a.company_id = due.company_id AND a.id = due.id
      AND c.company_id = a.company_id AND c.id = a.call_id
    RETURNING
      a.company_id::text AS company_id, a.call_id::float8 AS call_id, a.uuid::text AS attempt,
      a.leg_sid, c.carrier
  `,
  { prepared: true },
);

/** Returns no row when the recording of the leg was asked for before. */
export const MARK_RECORDED = statement(
  'calls.mark_recorded',
  sql`
    UPDATE call_attempts
    SET recorded_at = {now}::timestamptz
    WHERE company_id = {company_id} AND uuid = {attempt}::uuid AND recorded_at IS NULL
    RETURNING id::float8 AS id
  `,
  { prepared: true },
);
