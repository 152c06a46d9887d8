import type { Pool } from 'pg';
import { sqlOn, type Row } from '../db/sql';
import { inTransaction } from '../db/transaction';
import { statusAfterCall } from './final-status';
import { APPLY_CALLS, DELETE_NEW_CALLS, LOCK_NEW_CALLS } from './queries/apply-calls';
import { writeLogs } from './write-logs';

type LeadCall = Row<
  'leads.lock_new_calls',
  { company_id: string; call_id: string; created_at: Date; lead_id: string; status: string }
>;

/**
 * Writes new calls, and calls that were connected since, to their leads: the last attempted and
 * the last connected call, its buyer, and the status. Concerns all companies; a batch of at most
 * 500 calls. Returns how many calls were applied.
 *
 * A call that changes meanwhile waits for this transaction and is listed again.
 */
export function applyCalls(pool: Pool, now: Date): Promise<number> {
  return inTransaction(pool, async (client) => {
    const sql = sqlOn(client);
    const calls = await sql(LOCK_NEW_CALLS, {});
    if (calls.length === 0) return 0;
    const of_leads = calls.filter((call): call is LeadCall => call.status !== null);
    await sql(APPLY_CALLS, { leads: JSON.stringify(changesOf(of_leads)), now });
    await writeLogs(sql, of_leads.map(logOf), now);
    await sql(DELETE_NEW_CALLS, {
      company_ids: calls.map(({ company_id }) => company_id),
      call_ids: calls.map(({ call_id }) => call_id),
    });
    return calls.length;
  });
}

/** One change for each lead; its calls come in the order of their ids. */
function changesOf(calls: readonly LeadCall[]) {
  const by_lead = new Map<string, LeadCall[]>();
  for (const call of calls) {
    const key = `${call.company_id}/${call.lead_id}`;
    by_lead.set(key, [...(by_lead.get(key) ?? []), call]);
  }
  return [...by_lead.values()].map((own) => {
    const { company_id, lead_id, status } = own[0]!;
    const last = own.at(-1)!;
    const last_connected = own.findLast(({ connected }) => connected);
    const times = own.map(({ created_at }) => created_at.getTime());
    return {
      company_id,
      id: lead_id,
      attempted_call_id: last.call_id,
      connected_call_id: last_connected?.call_id ?? null,
      last_call_at: new Date(Math.max(...times)),
      buyer_id: (last_connected ?? last).buyer_id,
      status: statusAfterCall(status, last_connected !== undefined),
    };
  });
}

const logOf = ({ company_id, lead_id, call_id, connected }: LeadCall) => ({
  company_id,
  lead_id,
  call_id,
  event: 'call_changed',
  message: connected ? 'came in: connected to a buyer' : 'came in: a buyer is called',
});
