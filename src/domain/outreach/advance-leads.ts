import type { PoolClient } from 'pg';
import { sqlOn, tenantSql, type Sql } from '../../data/sql';
import { completeEvents } from '../../data/complete-events';
import { queryOn } from '../../data/statement';
import type { Deps } from '../deps';
import { pauses } from '../../data/jobs/pauses';
import { changeContacts } from '../leads/change-contacts';
import { writeLogs } from '../leads/write-logs';
import { buildCompanyStatements } from '../../data/tenant';
import { runLeadSteps, postponeLead } from './advance-lead';
import { findBuyerAvailability } from './buyer-availability';
import { loadOutreachContext } from './context';
import type { Channels } from './drafts';
import { lockLeads } from './load-leads';
import { type LeadKey } from './due-lead';
import { contactKey, lockContacts } from './load-leads';
import { moveLeads } from './move-leads';
import {
  createRecording,
  isRingingInSandbox,
  markNumbersAssigned,
  recordSteps,
  type Recording,
} from './record-steps';
import type { BuyerCheck, Sender } from './step-context';
import type { StepChanges } from './step-recorder';

export interface StepOptions {
  claim_id: string;
  now: Date;
  lease_until: Date;
  channels: Channels;
  send: Sender;
  deps: Pick<Deps, 'database' | 'log' | 'queue'>;
}

/**
 * Runs the steps of claimed leads in the open transaction: locks, decides, sends and records.
 * Returns the leads with a deferred draft, which need another call at once.
 */
export async function runSteps(
  client: PoolClient,
  keys: readonly LeadKey[],
  { claim_id, now, lease_until, channels, send, deps }: StepOptions,
): Promise<LeadKey[]> {
  const sql = sqlOn(client);
  const contacts = await lockContacts(sql, keys, now);
  const leads = await lockLeads(sql, claim_id, keys);
  if (leads.length === 0) return [];
  const records = await loadOutreachContext(sql, leads, now);
  const buyerFor: BuyerCheck = (lead, offerId) =>
    findBuyerAvailability(
      buildCompanyStatements(deps.database, BigInt(lead.company_id), client),
      lead,
      {
        offer_id: offerId,
        carrier: channels.carrier,
        now,
      },
    );
  const advanced: StepChanges[] = [];
  const pause = pauses();
  for (const lead of leads) {
    await pause();
    const contact = contacts.get(contactKey(lead))!;
    const context = { records, contact, channels, send, buyerFor, lease_until };
    // An error before the next statement concerns this lead alone.
    const result = await runLeadSteps(lead, context).catch((error: unknown) => {
      deps.log.error(
        { err: error, lead_id: lead.id, company_id: lead.company_id },
        'the next step of a lead could not be determined; the lead is put off',
      );
      return postponeLead(lead, context);
    });
    advanced.push(result);
  }
  const recording = combineRecordings(advanced);
  const logIds = await recordSteps(sql, recording, now);
  await queueWebhooks(client, advanced, { log_ids: logIds, deps });
  await playSandboxCalls(client, recording, deps);
  await changeAllContacts(sql, advanced, now);
  const moves = advanced.flatMap(({ lead, move }) => (move ? [{ lead, ...move }] : []));
  await writeLogs(sql, await moveLeads(sql, moves, now), now);
  await completeEvents(
    sql,
    [...recording.calls, ...recording.abandoned].map(({ company_id }) => company_id),
  );
  await markNumbersAssigned(sql, recording.numbers, now);
  return advanced.flatMap(({ lead, state }) => (state.keeps_claim ? [lead] : []));
}

function combineRecordings(advanced: readonly StepChanges[]): Recording {
  const all = createRecording();
  const contacts = new Map<string, Recording['contacts'][number]>();
  for (const { lead, state, rows, counts } of advanced) {
    for (const kind of Object.keys(rows) as (keyof typeof rows)[])
      (all[kind] as unknown[]).push(...rows[kind]);
    all.leads.push(state);
    if (counts.calls + counts.sms + counts.emails === 0) continue;
    const { company_id, caller_number } = lead;
    const sum = contacts.get(contactKey(lead));
    contacts.set(contactKey(lead), {
      company_id,
      caller_number,
      calls: (sum?.calls ?? 0) + counts.calls,
      sms: (sum?.sms ?? 0) + counts.sms,
      emails: (sum?.emails ?? 0) + counts.emails,
    });
  }
  return { ...all, contacts: [...contacts.values()] };
}

/**
 * Queues the webhooks of schedules. `log_ids` has the ids of all logs in the order of `advanced`.
 */
async function queueWebhooks(
  client: PoolClient,
  advanced: readonly StepChanges[],
  { log_ids, deps }: { log_ids: readonly string[]; deps: Pick<Deps, 'queue'> },
): Promise<void> {
  let firstLog = 0;
  for (const { lead, rows, webhooks } of advanced) {
    const { company_id } = lead;
    for (const index of webhooks) {
      const leadLogId = log_ids[firstLog + index]!;
      await deps.queue.add({ query: queryOn(() => client) }, 'send_action_webhook', {
        company_id,
        lead_log_id: leadLogId,
      });
    }
    firstLog += rows.logs.length;
  }
}

async function playSandboxCalls(
  client: PoolClient,
  { calls }: Recording,
  { queue }: Pick<Deps, 'queue'>,
): Promise<void> {
  const db = { query: queryOn(() => client) };
  for (const row of calls)
    if (isRingingInSandbox(row))
      await queue.add(db, 'play_sandbox_call', { company_id: row.company_id, uuid: row.uuid });
}

/** Applies opt-outs and blocks by schedules to the other leads of the numbers. */
async function changeAllContacts(
  sql: Sql,
  advanced: readonly StepChanges[],
  now: Date,
): Promise<void> {
  const message = 'by the schedule of a lead of this number';
  for (const { lead, contact_changes } of advanced)
    for (const change of contact_changes) {
      const company = { sql: tenantSql(sql, BigInt(lead.company_id)) };
      await changeContacts(company, change, [Number(lead.caller_number)], { now, message });
    }
}
