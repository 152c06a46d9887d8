import type { FullCaps } from '../../caps/engine/used-up-cap';
import { sql, statement } from '../../../data/sql';

interface BeginRow {
  outcome: 'begun' | 'known' | 'full' | 'trunk_full' | 'hold_gone';
  /** Caps without room, or the ids of trunks. */
  refused: FullCaps[] | number[] | null;
}

interface SingleRow extends Omit<BeginRow, 'outcome'> {
  outcome: BeginRow['outcome'] | 'paid_otherwise';
  paid: { buyer_id: number; buyer_paid: boolean; source_paid: boolean } | null;
}

/** Begins calls that arrive at the same time (prisma/sql/calls/begin_calls.sql). */
export const BEGIN_CALLS = statement(
  'calls.begin_calls',
  sql`
    SELECT r.index, r.outcome, r.id::float8 AS id, r.refused
    FROM begin_calls(
      {company_id}::bigint, {calls}::json, {usages}::json, {decisions}::json, {waits}::boolean,
      {dials}::json, {slots}::json, {events}::json, {bases}::json, {payments}::json
    ) r`,
  { prepared: true, records: true, nullable: ['id', 'refused'] },
).returning<BeginRow>();

/** Begins one call in an open transaction; if it is not begun, no lock is kept. */
export const TRY_BEGIN_CALL = statement(
  'calls.try_begin_call',
  sql`
    SELECT r.outcome, r.id::float8 AS id, r.refused, r.paid
    FROM try_begin_call(
      {company_id}::bigint, {calls}::json, {usages}::json, {decisions}::json, {dials}::json,
      {slots}::json, {events}::json, {bases}::json, {payments}::json
    ) r`,
  { prepared: true, records: true, nullable: ['id', 'refused', 'paid'] },
).returning<SingleRow>();
