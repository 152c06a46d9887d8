import { changeContacts } from './change-contacts';
import { writeLogs, type LogEntry } from './write-logs';
import { identify, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Schemas } from '../contract';
import { isMailAddress } from '../mail/address';
import { notFound, HttpProblem, rejectInvalidData } from '../errors';
import { leadZones } from '../phone/number-zones';
import { tokensOf, type Data } from '../tokens/lead-data';
import { rejectTooLarge, zipOf } from './submit-lead';
import { findTrafficSource } from '../offers/find-traffic-source';

type Fields = Omit<Schemas['LeadUpdate'], 'serializer' | 'time_zone'>;

const where = (db: Db, id: bigint) => ({ company_id_id: { company_id: db.company_id, id } });
const log = (db: Db, id: bigint, entries: Omit<LogEntry, 'lead_id'>[], now: Date) =>
  writeLogs(
    db.sql,
    entries.map((entry) => ({ ...entry, lead_id: id, company_id: db.company_id })),
    now,
  );

/** What ends a lead from outside. Writing its row waits for what is being sent to it; afterwards nothing is. */
const OVER = { is_live: false, due_at: null, claim_id: null };

/** The callbacks that a lead asked for and that did not come yet. */
const endCallbacks = (db: Db, lead_id: bigint, status: 'canceled' | 'replaced') =>
  db.prisma.scheduledCallback.updateMany({
    where: { lead_id, status: 'pending' },
    data: { status },
  });

/** Takes a lead out of its schedule or offer. One that has ended stays as it ended. */
export async function removeLead(db: Db, id: bigint, now: Date): Promise<void> {
  const { count } = await db.prisma.lead.updateMany({
    where: { id, is_live: true },
    data: {
      ...OVER,
      status: 'disabled',
      schedule_ended_at: now,
      updated_at: now,
      user_updated_at: now,
    },
  });
  if (count === 0) return;
  await endCallbacks(db, id, 'canceled');
  await log(db, id, [{ event: 'removed' }], now);
}

/** Deletes a lead whose row is locked. */
export async function deleteLead(db: Db, id: bigint, now: Date): Promise<void> {
  await db.prisma.lead.update({
    where: where(db, id),
    data: { ...OVER, deleted_at: now, updated_at: now, user_updated_at: now },
  });
  await endCallbacks(db, id, 'canceled');
  await log(db, id, [{ event: 'deleted' }], now);
}

/** Puts a lead before its end-of-schedule actions. Refuses with 422 what is in no schedule, or has left it. */
export async function moveToEnd(db: Db, id: bigint, now: Date): Promise<void> {
  const [lead] = await db.query<{
    schedule_id: bigint | null;
    is_live: boolean;
    due_at: Date | null;
  }>({
    text: 'SELECT schedule_id, is_live, due_at FROM leads WHERE company_id = $1 AND id = $2 FOR UPDATE',
    values: [db.company_id, id],
  });
  if (lead?.schedule_id === null)
    throw HttpProblem.field('lead_token', 'is of an offer, which has no schedule');
  if (!lead?.is_live)
    throw HttpProblem.field('caller_id', 'is of a lead that has ended its schedule');
  const acting = lead.due_at !== null;
  await db.prisma.lead.update({
    where: where(db, id),
    data: {
      phase: 'end',
      position: null,
      exit_reason: 'completed',
      callback_at: null,
      scheduled_callback_id: null,
      next_action_at: now,
      claim_id: null,
      tries: 0,
      ...(acting && { status: 'scheduled', due_at: now }),
      updated_at: now,
      user_updated_at: now,
    },
  });
  await endCallbacks(db, id, 'canceled');
  await log(db, id, [{ event: 'moved_to_end' }], now);
}

/** Changes the contact of a lead, before the lead itself is locked: contacts come first. */
export async function changeItsContact(
  db: Db,
  reference: Reference,
  { opt_out, blocked }: Fields,
  now: Date,
): Promise<void> {
  if (opt_out === undefined && blocked === undefined) return;
  const named = identify(reference);
  if (!named) throw notFound();
  const [lead] = await db.query<{ caller_number: bigint | string }>({
    text: `SELECT caller_number FROM leads WHERE ${named.sql} AND deleted_at IS NULL`,
    values: [db.company_id, named.value],
  });
  if (!lead) throw notFound();
  const context = { now, message: 'the lead was changed' };
  const numbers = [Number(lead.caller_number)];
  if (opt_out !== undefined)
    await changeContacts(db, opt_out ? 'opt_out' : 'opt_in', numbers, context);
  if (blocked !== undefined)
    await changeContacts(db, blocked ? 'block' : 'unblock', numbers, context);
}

/** Changes a lead whose row is locked. Refuses with 422. */
export async function updateLead(
  db: Db,
  id: bigint,
  fields: Fields,
  { now, zone }: { now: Date; zone: string },
): Promise<void> {
  const lead = await db.prisma.lead.findUniqueOrThrow({ where: where(db, id) });
  const {
    email,
    contact_field_type,
    sub_id,
    external_record_id,
    lead_priority,
    hours_to_expire,
    max_contact_attempts,
    traffic_source_id,
    restart_schedule,
  } = fields;
  if (email && !isMailAddress(email))
    throw HttpProblem.field('email', 'must be one e-mail address');
  const own = {
    contact_field_type,
    sub_id,
    external_record_id,
    lead_priority,
    hours_to_expire,
    max_contact_attempts,
  };
  const source =
    traffic_source_id === undefined
      ? undefined
      : traffic_source_id === null
        ? null
        : await findTrafficSource(db, traffic_source_id);
  const data = fields.data ? merged(lead.data as Data, fields.data) : undefined;
  const zip = fields.data ? zipOf(fields.data) : undefined;
  const timing = await timingOf(db, lead, fields, now);
  const change = db.prisma.lead.update({
    where: where(db, id),
    data: {
      ...own,
      ...(email !== undefined && { email: email || null }),
      ...(source !== undefined && { traffic_source_id: source }),
      ...(data && { data: data as object }),
      ...(zip !== undefined && { zones: leadZones(Number(lead.caller_number), zip, zone) }),
      ...timing,
      updated_at: now,
      user_updated_at: now,
    },
  });
  await change.catch(refuseTaken).catch(rejectTooLarge);
  const moved = fields.next_action_at
    ? [{ event: 'next_action_changed', message: fields.next_action_at }]
    : [];
  const called = fields.schedule_callback_at
    ? [{ event: 'callback_scheduled', message: fields.schedule_callback_at }]
    : [];
  await log(
    db,
    id,
    [
      { event: 'updated' },
      ...(restart_schedule ? [{ event: 'restarted', message: 'the lead was changed' }] : []),
      ...moved,
      ...called,
    ],
    now,
  );
}

/** The tokens of a lead with those that are sent in their place; a null takes one away. */
function merged(before: Data, sent: Data): Data {
  const { tokens, faults } = tokensOf({}, sent);
  rejectInvalidData(faults);
  return Object.fromEntries(
    Object.entries({ ...before, ...tokens }).filter(([, value]) => value !== null),
  );
}

/** Until its contact may be contacted again, or its offer or schedule goes on. */
const STOPPED = ['blocked', 'opt_out', 'disabled'];

interface Standing {
  id: bigint;
  schedule_id: bigint | null;
  status: string;
  is_live: boolean;
  caller_number: bigint;
}

/** When the lead is to be looked at next, and from where in its schedule. */
async function timingOf(db: Db, lead: Standing, fields: Fields, now: Date) {
  const {
    next_action_at,
    schedule_callback_at,
    restart_schedule,
    hours_to_expire,
    max_contact_attempts,
  } = fields;
  for (const name of ['next_action_at', 'restart_schedule'] as const) {
    if (fields[name] && lead.schedule_id === null)
      throw HttpProblem.field(
        name,
        'must be left out for the lead of an offer, which has no schedule',
      );
  }
  for (const name of ['next_action_at', 'schedule_callback_at'] as const) {
    if (fields[name] && !lead.is_live && !restart_schedule)
      throw HttpProblem.field(
        name,
        'must be left out for a lead that has ended; restart_schedule begins its schedule anew',
      );
  }
  if (restart_schedule && !lead.is_live) await requireNoOther(db, lead);
  const callback_at = schedule_callback_at
    ? new Date(schedule_callback_at)
    : schedule_callback_at === undefined
      ? undefined
      : null;
  const at_once = restart_schedule || (next_action_at === null && lead.schedule_id !== null);
  const not_before = next_action_at ? new Date(next_action_at) : at_once ? now : undefined;
  const touched =
    [next_action_at, schedule_callback_at, hours_to_expire, max_contact_attempts].some(
      (value) => value !== undefined,
    ) || restart_schedule;
  if (!touched) return {};
  // One that is stopped stays so: it goes on when the reason is gone.
  const acting = lead.is_live ? !STOPPED.includes(lead.status) : restart_schedule;
  const due_at = callback_at ?? not_before ?? now;
  const scheduled = callback_at
    ? { company_id: db.company_id, lead_id: lead.id, callback_at, created_at: now }
    : undefined;
  if (callback_at !== undefined) await endCallbacks(db, lead.id, 'replaced');
  const callback =
    scheduled &&
    (await db.prisma.scheduledCallback.create({ data: scheduled, select: { id: true } }));
  return {
    ...(restart_schedule && {
      phase: 'actions',
      position: null,
      exit_reason: null,
      contact_attempts: 0,
      entered_at: now,
      schedule_ended_at: null,
      is_live: true,
      tries: 0,
      suppressed: false,
      unreachable: false,
    }),
    ...(callback_at !== undefined && { callback_at, scheduled_callback_id: callback?.id ?? null }),
    ...(not_before && { next_action_at: not_before }),
    ...(acting && { due_at, claim_id: null }),
    ...(acting &&
      (callback_at !== undefined || not_before) && {
        status: callback_at ? 'waiting' : lead.schedule_id === null ? 'queue' : 'scheduled',
      }),
  };
}

/** Another lead of its number came into the schedule meanwhile: the index of those that live there says so. */
function refuseTaken(error: unknown): never {
  if ((error as { code?: string }).code === 'P2002')
    throw HttpProblem.field(
      'restart_schedule',
      'must be left out: another lead of the same number is in the schedule',
    );
  throw error;
}

async function requireNoOther(db: Db, { schedule_id, caller_number }: Standing): Promise<void> {
  const other = await db.prisma.lead.findFirst({
    where: { schedule_id, caller_number, is_live: true },
    select: { id: true },
  });
  if (other)
    throw HttpProblem.field(
      'restart_schedule',
      `must be left out: lead ${other.id} of the same number is in the schedule`,
    );
}
