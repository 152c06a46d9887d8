import type { Params, TenantSql } from '../../data/sql';
import { changeLead } from './change-lead';
import { RECORD_PLACED_CALL } from './queries/calls';

// How calls write their lead, whose row must be locked. Ids are decimal text.

/** Records a call that was placed to the lead, and counts it as a contact attempt. */
export async function recordPlacedCall(
  sql: TenantSql,
  call: Omit<Params<'leads.record_placed_call'>, 'company_id'>,
): Promise<void> {
  await sql(RECORD_PLACED_CALL, call);
}

interface CallStatus {
  lead_id: string;
  status: string;
  /** Null leaves the call as it is that connected the lead. */
  connected_call_id: string | null;
  now: Date;
}

/** Writes the status that the lead has after a report of its call (see `statusAfterCall`). */
export async function recordCallStatus(
  sql: TenantSql,
  { lead_id, status, connected_call_id, now }: CallStatus,
): Promise<void> {
  const connection = connected_call_id === null ? {} : { connected_call_id };
  await changeLead({ sql }, BigInt(lead_id), { status, updated_at: now, ...connection });
}
