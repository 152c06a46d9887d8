import { findNamed, buildReferenceProblem, type Reference, type Table } from '../../data/records';
import type { Db, Statements } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Connection } from '../outreach/context';
import { readLead } from '../outreach/load-leads';
import { type DueLead } from '../outreach/due-lead';
import { machineMessage, type MachineAction } from '../../data/phone/machine-message';
import { requireAssignable, callerNumber } from '../../data/phone/caller-number';
import { READ_DEFAULT_OFFERS } from './queries/place-call';

export interface CallOrder {
  from?: string | undefined;
  to?: string | undefined;
  lead_id?: Reference | null | undefined;
  schedule_id?: Reference | null | undefined;
  offer_id?: Reference | null | undefined;
  machine_action?: MachineAction | null | undefined;
  machine_message?: string | null | undefined;
}

export interface ResolvedOrder {
  /** E.164 digits; null for any number that may be used. */
  from: string | null;
  /** The person who is called, as a lead with the offer and schedule of the call; not locked. */
  target: DueLead;
  /** Null for a person who is not a lead. */
  lead_id: string | null;
  machine: Partial<Pick<Connection, 'machine_action' | 'machine_message'>>;
  /** The fields for problems with the person called, and with where the call is connected to. */
  fields: { to: string; owner: string };
}

/** Stands in for a person who is not a lead. */
const NO_LEAD: Omit<DueLead, 'company_id' | 'caller_number' | 'created_at' | 'entered_at'> = {
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
  traffic_source_id: null,
  sub_id: null,
  user_traffic_source_id: null,
};

/** Throws 422 for unknown references. */
export async function readCallOrder(db: Db, order: CallOrder): Promise<ResolvedOrder> {
  const leadId = await findId(db, 'leads', order.lead_id, 'lead_id');
  const scheduleId = await findId(db, 'schedules', order.schedule_id, 'schedule_id');
  const offerId = await findId(db, 'offers', order.offer_id, 'offer_id');
  if (order.to === undefined && leadId === null)
    throw HttpProblem.field('to', 'missing_field', 'must be given, or lead_id: the person to call');
  const from = digits(await callerNumber(db, order.from, 'from'));
  const to = digits(requireAssignable(await callerNumber(db, order.to, 'to'), 'to'));
  const lead = leadId === null ? undefined : await loadLead(db, leadId);
  const owner = await findOwner(db, { schedule_id: scheduleId, offer_id: offerId }, { lead, from });
  const person = lead ?? {
    ...NO_LEAD,
    company_id: String(db.company_id),
    caller_number: '',
    created_at: new Date(0),
    entered_at: new Date(0),
  };
  const target = { ...person, ...owner, caller_number: to ?? person.caller_number };
  const fields = {
    to: to === null ? 'lead_id' : 'to',
    owner: owner.schedule_id === null ? 'offer_id' : 'schedule_id',
  };
  return { from, target, lead_id: leadId, machine: readMachine(order), fields };
}

function readMachine({
  machine_action,
  machine_message: message,
}: CallOrder): ResolvedOrder['machine'] {
  if (machine_action)
    return {
      machine_action,
      machine_message: machineMessage(machine_action, {
        sentMessage: message,
        storedMessage: message,
      }),
    };
  if (message?.trim())
    throw HttpProblem.field(
      'machine_action',
      'missing_field',
      'must be leave_message when machine_message is given',
    );
  return {};
}

const digits = (number: number | undefined) => (number === undefined ? null : String(number));

async function findId(
  db: Db,
  table: Table,
  reference: Reference | null | undefined,
  field: string,
): Promise<string | null> {
  if (reference === undefined || reference === null || reference === '') return null;
  return String(await findNamed(db, table, { reference, field }));
}

async function loadLead(db: Statements, leadId: string): Promise<DueLead> {
  const lead = await readLead(db.sql, String(db.company_id), leadId);
  if (!lead) throw buildReferenceProblem('lead_id', [leadId]);
  return lead;
}

type Owner = Pick<DueLead, 'schedule_id' | 'offer_id'>;

/**
 * The schedule and the offer of a call: those in the request, else the lead's, else the offer of
 * the number that the call comes from. A schedule that comes without an offer uses its own.
 */
async function findOwner(
  db: Db,
  requestedOwner: Owner,
  { lead, from }: { lead: DueLead | undefined; from: string | null },
): Promise<Owner> {
  const isNamed = requestedOwner.schedule_id !== null || requestedOwner.offer_id !== null;
  const { schedule_id, offer_id } = isNamed ? requestedOwner : (lead ?? requestedOwner);
  const [offers] = await db.sql(READ_DEFAULT_OFFERS, { schedule_id, number: from });
  const owner = {
    schedule_id,
    offer_id: offer_id ?? (schedule_id === null ? offers!.of_number : offers!.of_schedule),
  };
  if (owner.schedule_id === null && owner.offer_id === null)
    throw HttpProblem.field(
      'offer_id',
      'missing_field',
      'must be given, or schedule_id: they say where the call is connected to',
    );
  return owner;
}
