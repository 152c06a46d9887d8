import { forgetCall, lockLead, noteCalled, unknownCall } from './queries/updates';
import { callerNumber } from '../phone/caller-number';
import { readLead, type DueLead } from '../outreach/load-leads';
import { contactKey, lockContacts, type ContactState } from '../outreach/lock-contacts';
import { giveNumbers, recordSteps } from '../outreach/record-steps';
import { findNamed, type Reference, type Table } from '../db/records';
import type { Db, Statements } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { HttpProblem } from '../errors';
import { draftCall, send, type Draft, type Edges, type Sent } from '../outreach/deliver';
import { resumeDelivery } from '../outreach/resume-delivery';
import { carrierUnavailable } from '../numbers/find-numbers';
import { openContext, type OutreachContext } from '../outreach/context';
import { executorOf, type Executor } from '../db/executor';

/** What a call is to be. */
export interface CallOrder {
  from?: string | undefined;
  to?: string | undefined;
  lead_id?: Reference | null | undefined;
  schedule_id?: Reference | null | undefined;
  offer_id?: Reference | null | undefined;
}

interface Placing {
  edges: Edges;
  /** Another connection: what is written there stays, whatever becomes of the transaction. */
  aside: Executor;
  now: Date;
}

type CallDraft = Extract<Draft, { table: 'calls' }>;

/**
 * Places a call as the schedules place theirs, and answers its uuid. Who answers it is connected to where the schedule's calls go, else to the buyer of the
 * offer whose turn it is. The contact is locked meanwhile: after an opt-out or a block nobody is called. That the carrier is about to be asked is written
 * down first; who asks for the same call again after it was not heard from asks it what became of the first.
 */
export async function placeCall(db: Db, order: CallOrder, placing: Placing): Promise<string> {
  const ordered = await read(db, order);
  return db.statements((tx) => place(tx, ordered, placing));
}

interface Ordered {
  /** E.164 digits; null for any that may be used. */
  from: string | null;
  /** Whom it is about as if it had asked to be called now, and its offer and schedule; not locked. */
  target: DueLead;
  /** Null for somebody who is no lead. */
  lead_id: string | null;
  /** Fields that say who is called, and to whom it is connected. */
  fields: { to: string; owner: string };
}

/** Somebody who is no lead. */
const NOBODY: Omit<DueLead, 'company_id' | 'caller_number' | 'created_at' | 'entered_at'> = {
  id: '0',
  uuid: '',
  email: null,
  data: {},
  zones: [],
  offer_id: null,
  schedule_id: null,
  buyer_id: null,
  status: 'queue',
  is_live: true,
  phase: 'actions',
  position: null,
  exit_reason: null,
  contact_attempts: 0,
  callback_at: null,
  scheduled_callback_id: null,
  next_action_at: null,
  hours_to_expire: null,
  expires_in: null,
  max_contact_attempts: null,
  sms_number_id: null,
  dial_number_id: null,
  attempted_call_id: null,
  connected_call_id: null,
  buyer_converted: false,
  revenue: '0',
  payout: '0',
  first_action_at: null,
  last_action_at: null,
  last_call_at: null,
  buyer_name: null,
  buyer_fleet: null,
  suppressed: false,
  unreachable: false,
  step: 0,
  tries: 0,
  delay_reason: null,
};

/** What is ordered, in the words of this service; refuses with 422. */
async function read(
  db: Db,
  { from: sent_from, to: sent_to, ...named }: CallOrder,
): Promise<Ordered> {
  const lead_id = await idOf(db, 'leads', named.lead_id, 'lead_id');
  const schedule_id = await idOf(db, 'schedules', named.schedule_id, 'schedule_id');
  const offer_id = await idOf(db, 'offers', named.offer_id, 'offer_id');
  if (sent_to === undefined && lead_id === null)
    throw HttpProblem.field('to', 'must be given, or lead_id: who is called');
  const [from, to] = [
    await callerNumber(db, sent_from, 'from'),
    await callerNumber(db, sent_to, 'to'),
  ];
  const lead = lead_id === null ? undefined : await leadOf(db, lead_id);
  const person = lead ?? {
    ...NOBODY,
    company_id: String(db.company_id),
    caller_number: '',
    created_at: new Date(0),
    entered_at: new Date(0),
  };
  const owner = await ownerOf(
    db,
    { schedule_id, offer_id },
    { lead, from: from === undefined ? null : String(from) },
  );
  const target = {
    ...person,
    ...owner,
    caller_number: to === undefined ? person.caller_number : String(to),
  };
  const fields = {
    to: to === undefined ? 'lead_id' : 'to',
    owner: owner.schedule_id === null ? 'offer_id' : 'schedule_id',
  };
  return { from: from === undefined ? null : String(from), target, lead_id, fields };
}

async function idOf(
  db: Db,
  table: Table,
  reference: Reference | null | undefined,
  field: string,
): Promise<string | null> {
  if (reference === undefined || reference === null || reference === '') return null;
  return String(await findNamed(db, table, { reference, field }));
}

/** A lead as it now is; its ids and amounts are texts whichever way they were read. */
async function leadOf(db: Statements, lead_id: string): Promise<DueLead> {
  const lead = await readLead(executorOf(db), String(db.company_id), lead_id);
  if (!lead) throw HttpProblem.field('lead_id', `names no record of yours: ${lead_id}`);
  const plain = Object.entries(lead).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return {
    ...(Object.fromEntries(plain) as DueLead),
    revenue: String(lead.revenue),
    payout: String(lead.payout),
  };
}

type Owner = Pick<DueLead, 'schedule_id' | 'offer_id'>;

/** What is named counts, then what the lead is in, then the offer of the number that is called from. The offer of a schedule is the schedule's. */
async function ownerOf(
  db: Db,
  named: Owner,
  { lead, from }: { lead: DueLead | undefined; from: string | null },
): Promise<Owner> {
  const told = named.schedule_id ?? named.offer_id;
  const { schedule_id, offer_id } = told !== null ? named : (lead ?? named);
  const [known] = await db.query<{ of_schedule: string | null; of_number: string | null }>({
    text: `SELECT (SELECT s.offer_id::text FROM schedules s WHERE s.company_id = $1 AND s.id = $2::bigint) AS of_schedule,
      (SELECT n.offer_id::text FROM numbers n WHERE n.company_id = $1 AND n.phone_number = $3::bigint AND n.deleted_at IS NULL) AS of_number`,
    values: [db.company_id, schedule_id, from],
  });
  const owner = {
    schedule_id,
    offer_id: offer_id ?? (schedule_id === null ? known!.of_number : known!.of_schedule),
  };
  if (owner.schedule_id === null && owner.offer_id === null)
    throw HttpProblem.field(
      'offer_id',
      'must be given, or schedule_id: to whom the call is connected',
    );
  return owner;
}

async function place(
  db: Statements,
  { from, target, lead_id, fields }: Ordered,
  { edges, aside, now }: Placing,
): Promise<string> {
  const client = executorOf(db);
  const contacts = await lockContacts(client, [target], {
    now,
    newUuid: () => uuidv7(now.getTime()),
  });
  if (lead_id !== null) await lockLead(db, lead_id);
  const lead = { ...target, callback_at: now };
  const world = await openContext(client, [lead], now);
  requireWelcome(lead, contacts.get(contactKey(lead))!, { world, fields });
  const draft = draftOf(lead, { from, world, edges, fields });
  const { caller_number } = lead;
  draft.row.lead_id = lead_id;
  draft.row.uuid =
    (await unknownCall(db, { caller_number, lead_id, now })) ?? uuidv7(now.getTime());
  const sent = edges.carrier.instant
    ? await send(draft, {}, edges)
    : await resumeDelivery(lead, draft, { client, aside, edges, now });
  if (!sent.ok && sent.retryable) throw await unavailable(sent, { aside, edges });
  await record(db, sent, { lead, lead_id, world, now });
  return draft.row.uuid;
}

interface Known {
  world: OutreachContext;
  fields: Ordered['fields'];
}

/** Refuses with 422 whom nothing of the company may call, as its schedules do not. */
function requireWelcome(
  lead: DueLead,
  contact: ContactState,
  { world, fields: { to, owner } }: Known,
): void {
  const { blocked, opt_out, paused, suppressed_by } = world.standingOf(lead, contact);
  if (blocked)
    throw HttpProblem.field(
      to,
      'must not be called: the number is on the blacklist of the company',
    );
  if (opt_out) throw HttpProblem.field(to, 'must not be called: the number has opted out');
  if (suppressed_by !== null)
    throw HttpProblem.field(
      to,
      `must not be called: the number is on the suppression list ${suppressed_by} of the offer or the schedule`,
    );
  if (paused) throw HttpProblem.field(owner, 'must be one that is not paused, nor its offer');
}

function draftOf(
  lead: DueLead,
  { from, world, edges, fields }: Known & { from: string | null; edges: Edges },
): CallDraft {
  if (from !== null && !world.ownNumber(lead, from))
    throw HttpProblem.field('from', `must be a number of the company; +${from} is none`);
  const connection = world.connectionOf(lead);
  if (!connection)
    throw HttpProblem.field(
      fields.owner,
      'must be one that can take the call: there is nobody now to whom it could be connected',
    );
  const draft = draftCall(lead, connection, { world, edges });
  if ('fault' in draft) throw HttpProblem.field('from', `cannot be chosen: ${draft.fault}`);
  const call = draft as CallDraft;
  return from === null ? call : { ...call, row: { ...call.row, from_number: from } };
}

/** Nothing is left of a call that was certainly not placed; one of which that is not known may still be told of. */
async function unavailable(
  { draft: { row } }: Sent,
  { aside, edges }: { aside: Executor; edges: Edges },
): Promise<HttpProblem> {
  const is_certain = row.error_code !== null;
  if (is_certain && !edges.carrier.instant) await forgetCall(aside, row);
  const consequence = is_certain
    ? 'No call was placed.'
    : 'It is not known whether it has placed the call: send the same again within 15 minutes, which asks it that first.';
  return carrierUnavailable(
    { ok: false, retryable: true, code: 'unavailable', message: row.error_message ?? '' },
    consequence,
  );
}

/** The call, and what follows for its contact and its lead, as of one that a schedule has placed. */
async function record(
  db: Statements,
  { draft, ok }: Sent,
  {
    lead,
    lead_id,
    world,
    now,
  }: { lead: DueLead; lead_id: string | null; world: OutreachContext; now: Date },
): Promise<void> {
  const { row } = draft as CallDraft;
  const { company_id, caller_number } = lead;
  const message =
    row.error_code || row.error_message
      ? `${row.status}: ${row.error_message ?? row.error_code}`
      : row.status;
  const log = {
    company_id,
    lead_id: lead_id!,
    event: ok ? 'call_placed' : 'call_failed',
    message: `asked for; ${message}`,
    call: row.uuid,
  };
  await recordSteps(
    executorOf(db),
    {
      text_messages: [],
      emails: [],
      calls: [row],
      logs: lead_id === null ? [] : [log],
      leads: [],
      contacts: ok ? [{ company_id, caller_number, calls: 1, sms: 0, emails: 0 }] : [],
      callbacks: [],
      numbers: [],
      given_up: [],
    },
    now,
  );
  if (!ok) return;
  const number = world.ownNumber(lead, row.from_number);
  if (lead_id !== null) {
    const [call] = await db.query<{ id: string }>({
      text: 'SELECT id::text FROM calls WHERE company_id = $1 AND uuid = $2::uuid',
      values: [db.company_id, row.uuid],
    });
    await noteCalled(db, {
      lead_id,
      call_id: BigInt(call!.id),
      status: row.status,
      number_id: number?.id ?? null,
      now,
    });
  }
  if (number) await giveNumbers(executorOf(db), [{ company_id, id: number.id }], now);
}
