import type { Params, TenantSql } from '../../data/sql';
import { RECORD_CALL_STATUS, RECORD_PLACED_CALL } from './queries/calls';

// How calls write their lead, whose row must be locked. Ids are decimal text.

type StatementParams<Name extends 'leads.record_placed_call' | 'leads.record_call_status'> = Omit<
  Params<Name>,
  'company_id'
>;

/** Records a call that was placed to the lead, and counts it as a contact attempt. */
export async function recordPlacedCall(
  sql: TenantSql,
  call: StatementParams<'leads.record_placed_call'>,
): Promise<void> {
  await sql(RECORD_PLACED_CALL, call);
}

/** Writes the status that the lead has after a report of its call (see `statusAfterCall`). */
export async function recordCallStatus(
  sql: TenantSql,
  call: StatementParams<'leads.record_call_status'>,
): Promise<void> {
  await sql(RECORD_CALL_STATUS, call);
}
