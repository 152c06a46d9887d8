import type { Schemas } from '../../platform/contract/contract';
import { identify, type Reference, toKey } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import { HttpProblem, notFound, rejectInvalidData } from '../../platform/errors';
import { isMailAddress } from '../../platform/mail/address';
import { findTrafficSource } from '../offers/find-traffic-source';
import { leadZones } from '../../data/phone/number-zones';
import { buildTokens, type Data } from '../../platform/tokens/lead-data';
import { changeContacts, lockContacts } from './change-contacts';
import { changeLead, rejectTooLarge } from './change-lead';
import { pickFieldColumns } from './columns';
import { END_CALLBACKS } from './queries/change-lead';
import { FIND_CALLER_NUMBER, LOAD_LEAD_ZONE } from './queries/leads';
import { readZip } from './read-submission';
import { buildTimingColumns, type TimingChange } from './timing';
import { writeLogs } from './write-logs';

type Fields = Omit<Schemas['LeadUpdate'], 'serializer' | 'time_zone'>;

interface Lead {
  id: bigint;
  schedule_id: bigint | null;
  status: string;
  is_live: boolean;
  caller_number: bigint;
}

type ContactFields = Pick<Fields, 'opt_out' | 'blocked'>;

/**
 * Locks the contact of a lead before the lead itself is locked: contacts are locked first. Returns
 * its number; undefined when the contact does not change.
 */
export async function lockContactOfLead(
  db: Db,
  reference: Reference,
  { opt_out, blocked }: ContactFields,
  now: Date,
): Promise<number | undefined> {
  if (opt_out === undefined && blocked === undefined) return undefined;
  const identifier = identify(reference);
  if (!identifier) throw notFound();
  const [lead] = await db.sql(FIND_CALLER_NUMBER, {
    id: identifier.key === 'id' ? identifier.value : null,
    uuid: identifier.key === 'uuid' ? identifier.value : null,
  });
  if (!lead) throw notFound();
  const number = Number(lead.caller_number);
  await lockContacts(db.sql, [number], now);
  return number;
}

/** Changes the contact of a lead, and with it the leads of its number. Both are locked. */
export async function updateContactOfLead(
  db: Db,
  number: number,
  { opt_out, blocked }: ContactFields,
  now: Date,
): Promise<void> {
  const context = { now, message: 'the lead was changed' };
  if (opt_out !== undefined)
    await changeContacts(db, opt_out ? 'opt_out' : 'opt_in', [number], context);
  if (blocked !== undefined)
    await changeContacts(db, blocked ? 'block' : 'unblock', [number], context);
}

/** Changes a lead whose row is locked. Throws 422. */
export async function updateLead(db: Db, id: bigint, fields: Fields, now: Date): Promise<void> {
  const where = toKey(db, id);
  const lead = await db.prisma.lead.findUniqueOrThrow({ where });
  const { email } = fields;
  if (email && !isMailAddress(email))
    throw HttpProblem.field('email', 'invalid_value', 'must be one e-mail address');
  const trafficSourceId = await findSource(db, fields);
  const data = await buildDataColumns(db, lead, fields);
  const timing = await changeTiming(db, lead, fields, now);
  const change = changeLead(db, id, {
    ...pickFieldColumns(fields),
    ...(email !== undefined && { email: email || null }),
    ...(trafficSourceId !== undefined && { traffic_source_id: trafficSourceId }),
    ...data,
    ...timing,
    ...changedAt(now),
  });
  await change.catch(rejectSecondLiveLead).catch(rejectTooLarge);
  const logs = buildEvents(fields).map((event) => ({
    ...event,
    lead_id: id,
    company_id: db.company_id,
  }));
  await writeLogs(db.sql, logs, now);
}

async function findSource(db: Db, { traffic_source_id: reference }: Fields) {
  return reference === undefined || reference === null
    ? reference
    : findTrafficSource(db, reference);
}

/**
 * The tokens of a lead merged with those in the request; the zones too when that changes its ZIP
 * code.
 */
async function buildDataColumns(
  db: Db,
  { id, data, caller_number }: Lead & { data: unknown },
  fields: Fields,
) {
  if (!fields.data) return {};
  const tokens = mergeTokens(data as Data, fields.data);
  const zip = readZip(tokens);
  if (zip === readZip(data as Data)) return { data: tokens as object };
  const [row] = await db.sql(LOAD_LEAD_ZONE, { id });
  return { data: tokens as object, zones: leadZones(Number(caller_number), zip, row!.zone!) };
}

/** A token in the request replaces the stored one; null removes it. */
function mergeTokens(before: Data, changes: Data): Data {
  const { tokens, faults } = buildTokens({}, changes);
  rejectInvalidData(faults);
  return Object.fromEntries(
    Object.entries({ ...before, ...tokens }).filter(([, value]) => value !== null),
  );
}

async function changeTiming(db: Db, lead: Lead, fields: Fields, now: Date) {
  await requirePossibleTimes(db, lead, fields);
  const { hours_to_expire, max_contact_attempts } = fields;
  const change: TimingChange = {
    callback_at: toDate(fields.schedule_callback_at),
    next_action_at: toDate(fields.next_action_at),
    restart: fields.restart_schedule ?? false,
    limits: hours_to_expire !== undefined || max_contact_attempts !== undefined,
  };
  const inSchedule = lead.schedule_id !== null;
  const columns = buildTimingColumns({ ...lead, in_schedule: inSchedule }, change, now);
  const { callback_at } = change;
  if (callback_at === undefined) return columns;
  await db.sql(END_CALLBACKS, { lead_id: lead.id, status: 'replaced' });
  if (callback_at === null) return { ...columns, scheduled_callback_id: null };
  const { id } = await db.prisma.scheduledCallback.create({
    data: { company_id: db.company_id, lead_id: lead.id, callback_at, created_at: now },
    select: { id: true },
  });
  return { ...columns, scheduled_callback_id: id };
}

/** Undefined leaves a time unchanged; a blank one removes it. */
function toDate(text: string | null | undefined): Date | null | undefined {
  if (text === undefined) return undefined;
  return text ? new Date(text) : null;
}

/** Throws 422 for times that a lead of an offer, or one that has ended, cannot have. */
async function requirePossibleTimes(db: Db, lead: Lead, fields: Fields): Promise<void> {
  for (const name of ['next_action_at', 'restart_schedule'] as const) {
    if (fields[name] && lead.schedule_id === null)
      throw HttpProblem.field(
        name,
        'not_applicable',
        'must be left out for the lead of an offer, which has no schedule',
      );
  }
  for (const name of ['next_action_at', 'schedule_callback_at'] as const) {
    if (fields[name] && !lead.is_live && !fields.restart_schedule)
      throw HttpProblem.field(
        name,
        'wrong_state',
        'must be left out for a lead that has ended; restart_schedule starts its schedule again',
      );
  }
  if (fields.restart_schedule && !lead.is_live) await requireNoOtherLiveLead(db, lead);
}

async function requireNoOtherLiveLead(db: Db, { schedule_id, caller_number }: Lead): Promise<void> {
  const otherLead = await db.prisma.lead.findFirst({
    where: { schedule_id, caller_number, is_live: true },
    select: { id: true },
  });
  if (otherLead)
    throw HttpProblem.field(
      'restart_schedule',
      'wrong_state',
      `must be left out: lead ${otherLead.id} of the same number is in the schedule`,
    );
}

const UNIQUE_VIOLATION = '23505';

/** The unique index refuses a second live lead of the number that was added in the meantime. */
function rejectSecondLiveLead(error: unknown): never {
  if ((error as { code?: string }).code === UNIQUE_VIOLATION)
    throw HttpProblem.field(
      'restart_schedule',
      'wrong_state',
      'must be left out: another lead of the same number is in the schedule',
    );
  throw error;
}

function buildEvents({ restart_schedule, next_action_at, schedule_callback_at }: Fields) {
  return [
    { event: 'updated' },
    ...(restart_schedule ? [{ event: 'restarted', message: 'the lead was changed' }] : []),
    ...(next_action_at ? [{ event: 'next_action_changed', message: next_action_at }] : []),
    ...(schedule_callback_at
      ? [{ event: 'callback_scheduled', message: schedule_callback_at }]
      : []),
  ];
}
