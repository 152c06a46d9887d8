import type { Pool } from 'pg';
import { sqlOn, type Row } from '../../data/sql';
import { runInTransaction } from '../../data/transaction';
import { statusAfterCall, statusAfterReport } from './final-status';
import { APPLY_CALLS, DELETE_NEW_CALLS, LOCK_NEW_CALLS } from './queries/apply-calls';
import { writeLogs } from './write-logs';

type LeadCall = Row<
  'leads.lock_new_calls',
  {
    company_id: string;
    call_id: string;
    created_at: Date;
    lead_id: string;
    status: string;
    connected: boolean;
    direction: 'inbound' | 'outbound';
    call_status: string;
    abandoned: boolean;
    over: boolean;
  }
>;

/**
 * Writes new calls, and calls that were connected or have ended since, to their leads: the last
 * attempted and the last connected call, its buyer, and the status. Covers all companies; a batch
 * has at most 500 calls. Returns how many calls were applied.
 *
 * A call that changes in the meantime waits for this transaction and is listed again.
 */
export function applyCalls(pool: Pool, now: Date): Promise<number> {
  return runInTransaction(pool, async (client) => {
    const sql = sqlOn(client);
    const calls = await sql(LOCK_NEW_CALLS, {});
    if (calls.length === 0) return 0;
    const ofLeads = calls.filter((call): call is LeadCall => call.status !== null);
    await sql(APPLY_CALLS, { leads: JSON.stringify(buildLeadChanges(ofLeads)), now });
    await writeLogs(sql, ofLeads.map(toLogEntry), now);
    await sql(DELETE_NEW_CALLS, {
      company_ids: calls.map(({ company_id }) => company_id),
      call_ids: calls.map(({ call_id }) => call_id),
    });
    return calls.length;
  });
}

/** One change for each lead. The calls of a lead come in the order of their ids. */
function buildLeadChanges(calls: readonly LeadCall[]) {
  const byLead = new Map<string, LeadCall[]>();
  for (const call of calls) {
    const key = `${call.company_id}/${call.lead_id}`;
    byLead.set(key, [...(byLead.get(key) ?? []), call]);
  }
  return [...byLead.values()].map((leadCalls) => {
    const { company_id, lead_id } = leadCalls[0]!;
    const last = leadCalls.at(-1)!;
    const lastConnected = leadCalls.findLast(({ connected }) => connected);
    const times = leadCalls.map(({ created_at }) => created_at.getTime());
    return {
      company_id,
      id: lead_id,
      attempted_call_id: last.call_id,
      connected_call_id: lastConnected?.call_id ?? null,
      last_call_at: new Date(Math.max(...times)),
      buyer_id: (lastConnected ?? last).buyer_id,
      status: leadCalls.reduce(statusAfter, leadCalls[0]!.status),
    };
  });
}

function statusAfter(status: string, call: LeadCall): string {
  const { direction, connected, over } = call;
  return direction === 'inbound'
    ? statusAfterCall(status, connected)
    : statusAfterReport({ ...call, status }, { connected, is_over: over });
}

const toLogEntry = (call: LeadCall) => ({
  company_id: call.company_id,
  lead_id: call.lead_id,
  call_id: call.call_id,
  event: 'call_changed',
  ...(call.direction === 'inbound'
    ? { message: call.connected ? 'came in: connected to a buyer' : 'came in: a buyer is called' }
    : { message: outboundText(call), schedule_action_id: call.schedule_action_id }),
});

function outboundText({ over, call_status, connected, answered_by, abandoned }: LeadCall): string {
  if (abandoned) return 'abandoned: answered, and no buyer was found';
  if (answered_by === 'machine' || answered_by === 'fax')
    return `${call_status}: answered by a ${answered_by}`;
  if (connected) return over ? 'completed: was connected' : 'connected';
  if (!over) return 'answered: a buyer is called';
  return answered_by === null ? call_status : 'completed: hung up before a buyer took the call';
}
