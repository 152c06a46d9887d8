import type { FullCaps } from '../../caps/engine/used-up-cap';
import { sql, statement } from '../../../data/sql';

/** The row of the call `call_id` before the statement writes it, locked until the commit. */
export const CALL_BEFORE = sql`
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint
      FOR NO KEY UPDATE`;

/** RETURNING list of an UPDATE of calls `c`, for its recording; `was` has the rows before. */
export const OLD_AND_NEW = sql`was.call AS was, c AS now`;

/** Needs the CTE `call`. */
export const RECORD_CALL_CHANGE = sql`record_call_change(call.was, call.now) AS is_recorded`;

/** Writes the next round of a known call with its caps (prisma/sql/calls/start_round.sql). */
export const START_ROUND = statement(
  'calls.start_round',
  sql`
    SELECT r.outcome, r.refused, r.held::float8 AS held, r.paid
    FROM start_round(
      {company_id}::bigint, {call_id}::bigint, {version}, {now}::timestamptz,
      {ended_attempts}::json, {round}::json, {decision}, {usages}::json, {dials}::json,
      {events}::json, {bases}::json
    ) r`,
  { prepared: true, records: true, nullable: ['refused', 'held', 'paid'] },
).returning<{
  outcome: 'started' | 'stale' | 'full' | 'trunk_full' | 'source_full' | 'paid_otherwise';
  /** Caps without room, or the ids of trunks. */
  refused: FullCaps[] | number[] | null;
  paid: { buyer_id: number; buyer_paid: boolean; source_paid: boolean } | null;
}>();

export const INSERT_EVENT = statement(
  'calls.insert_event',
  sql`
    INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    VALUES (
      {company_id}, {now}::timestamptz, {call_id}::bigint, {event}, {message}, {buyer_id}::bigint,
      {details}::jsonb
    )
    RETURNING id::float8 AS id`,
  { prepared: true },
);
