import type { Carrier } from '../../platform/carriers/carrier';
import { NO_LIVE_SWITCH } from '../../platform/carriers/softswitch';
import type { Sql } from '../../data/sql';
import type { Db, Statements } from '../../data/db';
import type { ContactConditions } from '../schedules/engine/next-step';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import { carrierUnavailable } from '../numbers/find-numbers';
import type { Queue } from '../../data/jobs/queue';
import { findBuyerAvailability } from '../outreach/buyer-availability';
import { loadOutreachContext, type OutreachContext } from '../outreach/context';
import {
  followPlacedCalls,
  resumeDelivery,
  sendDraft,
  type DeliveryResult,
} from '../outreach/channels';
import {
  draftCall,
  findCallRefusal,
  type Channels,
  type CompanyChannels,
  type Draft,
} from '../outreach/drafts';
import type { DueLead } from '../outreach/due-lead';
import { contactKey, lockContacts, type ContactState } from '../outreach/load-leads';
import { recordSteps } from '../outreach/record-steps';
import { loadLiveSwitches } from '../switches/originate';
import { lockLead } from './editable-call';
import {
  DELETE_UNPLACED_CALL,
  FIND_PLACED_CALL,
  FIND_UNCONFIRMED_CALL,
} from './queries/place-call';
import { recordPlacedCall } from '../leads/record-call';
import { readCallOrder, type CallOrder, type ResolvedOrder } from './read-call-order';

interface Placing {
  channels: Channels;
  /** A connection outside the transaction: what it writes remains when the transaction fails. */
  outside: Sql;
  queue: Queue;
  now: Date;
}

type CallDraft = Extract<Draft, { table: 'calls' }>;

/**
 * Places an outbound call as the schedules do, and returns its uuid. It is connected to where the
 * calls of the schedule go, else routed to the buyers of the offer. The contact is locked, so that
 * no one is called after an opt-out or a block. The call is written before the carrier is asked; if
 * the answer was lost, the same order asks the carrier first what became of that call.
 */
export async function placeCall(db: Db, order: CallOrder, placing: Placing): Promise<string> {
  const { refusals = {} } = placing.channels.carrier;
  if (refusals.calls) throw new HttpProblem('carrier_refused', refusals.calls);
  const read = await readCallOrder(db, order);
  return db.statements((tx) => placeInTransaction(tx, read, placing));
}

async function placeInTransaction(
  db: Statements,
  { from, target, lead_id, machine, fields }: ResolvedOrder,
  { channels: installed, outside, queue, now }: Placing,
): Promise<string> {
  const { sql } = db;
  const company = { company_ids: [target.company_id], now };
  const switches = await loadLiveSwitches(sql, installed.carrier, company);
  const channels = { ...installed, switches };
  requireSwitch(target, channels);
  const contacts = await lockContacts(sql, [target], now);
  if (lead_id !== null) await lockLead(db, lead_id);
  const lead = { ...target, callback_at: now };
  const { caller_number } = lead;
  const outreach = await loadOutreachContext(sql, [lead], now);
  requireAllowed(lead, contacts.get(contactKey(lead))!, { outreach, fields });
  const draft = buildDraft(lead, { from, machine, outreach, channels, fields });
  await requireBuyer(db, lead, { draft, fields, carrier: channels.carrier, now });
  draft.row.lead_id = lead_id;
  const [unconfirmed] = await db.sql(FIND_UNCONFIRMED_CALL, { caller_number, lead_id, now });
  draft.row.uuid = unconfirmed?.uuid ?? uuidv7(now.getTime());
  const delivery = channels.carrier.instant
    ? await sendDraft(draft, {}, channels)
    : await resumeDelivery(lead, draft, { sql, outside, channels, now });
  if (!delivery.ok && delivery.retryable)
    throw await buildUnavailable(delivery, { outside, channels });
  await record(db, delivery, { lead, lead_id, outreach, now });
  const placed = delivery.draft.row as CallDraft['row'];
  await followPlacedCalls(sql, [placed], { queue, db, now });
  return placed.uuid;
}

/** Throws 409 where a switch of the company would have to place the call, and none is there. */
function requireSwitch(target: DueLead, { carrier, switches }: CompanyChannels): void {
  const refusal =
    findCallRefusal(target, { carrier, switches }) ??
    (switches.get(target.company_id) === null ? NO_LIVE_SWITCH : undefined);
  if (refusal) throw new HttpProblem('carrier_refused', refusal);
}

/** Throws 422 if a routed call would find no buyer now. */
async function requireBuyer(
  db: Statements,
  lead: DueLead,
  {
    draft: { row },
    fields: { owner },
    carrier,
    now,
  }: { draft: CallDraft; fields: ResolvedOrder['fields']; carrier: Carrier; now: Date },
): Promise<void> {
  if (!row.routed) return;
  const offerId = row.offer_id!;
  const { available, message } = await findBuyerAvailability(db, lead, {
    offer_id: offerId,
    carrier,
    now,
  });
  if (!available)
    throw HttpProblem.field(
      owner,
      'no_buyer',
      `must be able to take the call: there is no buyer now: ${message}`,
    );
}

interface PlacingContext {
  outreach: OutreachContext;
  fields: ResolvedOrder['fields'];
}

/** Throws 422 if the schedules of the company would not call this person either. */
function requireAllowed(
  lead: DueLead,
  contact: ContactState,
  { outreach, fields: { to, owner } }: PlacingContext,
): void {
  const conditions = outreach.buildContactability(lead, contact);
  const reason = describeRefusal(conditions, contact) ?? outreach.findRefusal(lead);
  if (reason)
    throw HttpProblem.field(to, 'contact_refused', `must not be called: the number ${reason}`);
  if (conditions.paused)
    throw HttpProblem.field(owner, 'wrong_state', 'must not be paused, nor its offer');
}

function describeRefusal(
  { blocked, opt_out, suppressed_by }: ContactConditions,
  contact: ContactState,
): string | undefined {
  if (contact.blocked) return 'is on the blacklist of the company';
  if (blocked) return 'is blocked for the offer or the schedule';
  if (opt_out) return 'has opted out';
  if (suppressed_by === null) return undefined;
  return `is on the suppression list ${suppressed_by} of the offer or the schedule`;
}

type Drafting = PlacingContext &
  Pick<ResolvedOrder, 'from' | 'machine'> & { channels: CompanyChannels };

function buildDraft(
  lead: DueLead,
  { from, machine, outreach, channels, fields }: Drafting,
): CallDraft {
  if (from !== null && !outreach.findOwnNumber(lead, from))
    throw HttpProblem.field(
      'from',
      'unknown_reference',
      `must be a number of the company; +${from} is not`,
    );
  requireDetection(machine, channels.carrier);
  const connection = { ...outreach.findConnection(lead), ...machine };
  const draft = draftCall(lead, connection, { records: outreach, channels });
  if ('fault' in draft)
    throw outreach.pickNumber(lead, 'dial_number_id')
      ? HttpProblem.field(fields.owner, 'no_buyer', `must lead to a buyer: ${draft.fault}`)
      : HttpProblem.field('from', 'number_unavailable', `cannot be chosen: ${draft.fault}`);
  const call = draft as CallDraft;
  return from === null ? call : { ...call, row: { ...call.row, from_number: from } };
}

/** Throws 422 for an order about machines at a carrier that does not detect them. */
function requireDetection({ machine_action }: ResolvedOrder['machine'], carrier: Carrier): void {
  if (!machine_action || machine_action === 'connect' || carrier.capabilities.detection) return;
  throw HttpProblem.field(
    'machine_action',
    'invalid_value',
    'must be connect: the carrier of this installation detects no answering machines',
  );
}

/** Deletes a call that was certainly not placed; one that may have been placed stays. */
async function buildUnavailable(
  { draft: { row } }: DeliveryResult,
  { outside, channels }: { outside: Sql; channels: Channels },
): Promise<HttpProblem> {
  const isCertain = row.error_code !== null;
  if (isCertain && !channels.carrier.instant) await outside(DELETE_UNPLACED_CALL, row);
  const consequence = isCertain
    ? 'No call was placed.'
    : 'It is not known whether it has placed the call: send the same request again within ' +
      '15 minutes, and it is asked that first.';
  return carrierUnavailable(
    { ok: false, retryable: true, code: 'unavailable', message: row.error_message ?? '' },
    consequence,
  );
}

interface Recording {
  lead: DueLead;
  lead_id: string | null;
  outreach: OutreachContext;
  now: Date;
}

async function record(
  db: Statements,
  { draft, ok }: DeliveryResult,
  { lead, lead_id, outreach, now }: Recording,
): Promise<void> {
  const { row } = draft as CallDraft;
  const { company_id, caller_number } = lead;
  const failure = row.error_message ?? row.error_code;
  const log = {
    lead_id: lead_id!,
    event: ok ? 'call_placed' : 'call_failed',
    message: `requested; ${failure ? `${row.status}: ${failure}` : row.status}`,
    call: row.uuid,
  };
  const number = ok ? outreach.findOwnNumber(lead, row.from_number) : undefined;
  const steps = {
    company_id,
    calls: [row],
    logs: lead_id === null ? [] : [log],
    contacts: ok ? [{ caller_number, calls: 1, sms: 0, emails: 0 }] : [],
    numbers: number ? [number] : [],
  };
  await recordSteps(db.sql, [steps], now);
  if (!ok || lead_id === null) return;
  const { uuid, status } = row;
  const [call] = await db.sql(FIND_PLACED_CALL, { uuid });
  const numberId = number?.id ?? null;
  const placed = { lead_id, call_id: call!.id, call_status: status, number_id: numberId, now };
  await recordPlacedCall(db.sql, placed);
}
