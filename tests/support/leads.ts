import { processDueLeads } from '../../src/domain/outreach/due-leads';
import type { Fields } from './records';
import { requests } from './requests';
import type { UsedWorld } from './use-world';
import type { Company, World } from './world';
import { leadInsert } from './write-leads';

/** Noon in New York and nine in Los Angeles, on a Tuesday in winter: daylight everywhere. */
export const NOON = '2027-01-12T17:00:00Z';

export interface Shop {
  schedule: { id: number; lead_token: string };
  offer: { id: number; lead_token: string };
  /** The number the company texts and calls from. */
  number: string;
}

export async function ownNumber(
  { sql, deps }: World,
  company: Company,
  phoneNumber = '12125550100',
  offerId: number | null = null,
): Promise<number> {
  await deps.directory.claim('number', phoneNumber, company.id);
  const [row] = await sql<{ id: string }>(
    `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, ` +
      `offer_id) VALUES ($1, gen_random_uuid(), $2, 'US', 'sandbox', $3) RETURNING id`,
    [company.id, phoneNumber, offerId],
  );
  await sql(
    'INSERT INTO number_lookups (phone_number, company_id, number_id) VALUES ($1,' +
      ' $2, $3) ON CONFLICT DO NOTHING',
    [phoneNumber, company.id, row!.id],
  );
  return Number(row!.id);
}

/**
 * An offer, a schedule of it with these actions, and a number. Actions are in order; `end: true` is
 * for those of its end.
 */
export async function openShop(
  world: World,
  actions: readonly Fields[],
  fields: Fields = {},
  company = world.company,
): Promise<Shop> {
  const { create, createRecord } = requests(() => company);
  const number = '12125550100';
  const [owned] = await world.sql<{ id: string }>('SELECT id FROM numbers WHERE company_id = $1', [
    company.id,
  ]);
  if (!owned) await ownNumber(world, company, number);
  const offer = await createRecord('offers', { name: 'Auto insurance' });
  const named = { name: 'Follow up', offer_id: offer.id, ...fields };
  const schedule = await createRecord('schedules', named);
  for (const { end = false, ...action } of actions)
    await create('schedule_actions', {
      schedule_id: schedule.id,
      end_of_schedule: end,
      ...action,
    });
  return { schedule, offer, number };
}

/** Runs all due steps, as one worker would. Returns how many leads it advanced. */
export async function runEngine({ deps }: Pick<World, 'deps'>): Promise<number> {
  let all = 0;
  for (const { database } of deps.parts())
    for (let n = 1; n > 0; all += n) n = await processDueLeads({ ...deps, database });
  return all;
}

export const submit = ({ company }: World, leadToken: string, fields: Fields = {}) =>
  company.api('post', 'leads', {
    auth: null,
    query: { lead_token: leadToken, caller_id: '3105550123', ...fields },
  });

/** Events of a lead, in order, as `event: words`. */
export async function loadStory({ sql }: Pick<World, 'sql'>, leadId: number): Promise<string[]> {
  const rows = await sql<{ event: string; message: string | null }>(
    'SELECT event, message FROM lead_logs WHERE lead_id = $1 ORDER BY id',
    [leadId],
  );
  return rows.map(({ event, message }) => (message ? `${event}: ${message}` : event));
}

export interface Contacted {
  uuid: string;
  status: string;
  error_code: string | null;
  error_message: string | null;
  from_number: string;
  to_number: string;
  to_email: string;
  from_email: string;
  subject: string;
  body: string;
  html: boolean;
  connect_to: string;
  message_id: string | null;
  carrier_message_id: string | null;
  carrier_call_id: string | null;
  schedule_action_id: string | null;
  created_at: Date;
}

/** Messages or calls to a lead, oldest first. */
export const loadSent = (
  { sql }: Pick<World, 'sql'>,
  table: 'text_messages' | 'emails' | 'calls',
  leadId: number,
): Promise<Contacted[]> =>
  sql(
    `SELECT * FROM ${table} WHERE lead_id = $1 ` +
      `${table === 'emails' ? '' : "AND direction = 'outbound'"} ORDER BY id`,
    [leadId],
  );

export interface LeadRow {
  status: string;
  is_live: boolean;
  due_at: Date | null;
  next_action_at: Date | null;
  callback_at: Date | null;
  delay_reason: string | null;
  claim_id: string | null;
  zones: string[];
  step: number;
  tries: number;
  schedule_id: string | null;
  offer_id: string | null;
  contact_attempts: number;
  sms_number_id: string | null;
  dial_number_id: string | null;
}

export async function loadLeadRow({ sql }: Pick<World, 'sql'>, leadId: number): Promise<LeadRow> {
  const [row] = await sql<LeadRow>('SELECT * FROM leads WHERE id = $1', [leadId]);
  return row!;
}

/**
 * Adds leads to a schedule as if they had been submitted, due at `now`, with numbers from `first`
 * on. Returns their ids.
 */
export async function fillSchedule(
  world: World,
  scheduleId: number,
  { first, count, now, priority }: Filling,
): Promise<number[]> {
  const rows = await world.sql<{ id: string }>(
    leadInsert(`INSERT INTO leads (
        company_id, uuid, created_at, caller_number, schedule_id, status, zones, entered_at,
        next_action_at, due_at, lead_priority
      )
      SELECT
        $1, gen_random_uuid(), $5::timestamptz, $3::bigint + n, $2, 'scheduled',
        ARRAY['America/New_York'], $5, $5, $5, ${priority ?? 'NULL'}
      FROM generate_series(0, $4::int - 1) AS x(n)`),
    [world.company.id, scheduleId, first, count, now],
  );
  return rows.map(({ id }) => Number(id));
}

export interface Filling {
  /** E.164 digits. */
  first: number;
  count: number;
  now: Date;
  /** SQL of the lead's priority, from its index n. */
  priority?: string;
}

export const sms = (body: string, more: Fields = {}) => ({ action_type: 'sms', body, ...more });
export const SMS = sms('Hello');
export const EMAIL = { action_type: 'email', subject: 'News', body: 'Read' };
export const DIAL = { action_type: 'dial', connect_to: '+13105550199' };
export const wait = (waitAmount: number, waitUnit = 'hours') => ({
  action_type: 'wait',
  wait_amount: waitAmount,
  wait_unit: waitUnit,
});

export interface StartedLead {
  lead: number;
  schedule: number;
  offer: number;
  token: string;
}

/** Helpers of tests of schedules. */
export function buildScheduleHelpers(world: UsedWorld) {
  const { ok, clock } = world;
  /** Submits a lead to a new schedule of these actions; the engine has not run yet. */
  const submitted = async (
    actions: readonly Fields[],
    fields: Fields = {},
    schedule: Fields = {},
  ): Promise<StartedLead> => {
    const shop = await openShop(world, actions, schedule);
    const res = await submit(world, shop.schedule.lead_token, fields);
    if (res.status !== 201) throw new Error(res.text);
    return {
      lead: res.body.id,
      schedule: shop.schedule.id,
      offer: shop.offer.id,
      token: shop.schedule.lead_token,
    };
  };
  const until = async (moment: string) => {
    clock.set(moment);
    await runEngine(world);
  };
  return {
    ok,
    submitted,
    /** Submits a lead and runs the engine. */
    startLead: async (...args: Parameters<typeof submitted>): Promise<StartedLead> => {
      const started = await submitted(...args);
      await runEngine(world);
      return started;
    },
    /** Sets the clock to a moment, and runs the engine. */
    until,
    /** Sets the clock to so many hours after noon, and runs the engine. */
    hours: (n: number) => until(new Date(Date.parse(NOON) + n * 3_600_000).toISOString()),
    texts: async (lead: number) =>
      (await loadSent(world, 'text_messages', lead))
        // Without the answers to STOP, START and HELP.
        .filter(({ schedule_action_id }) => schedule_action_id !== null)
        .map(({ body }) => body),
    /** Events of a lead after its creation. */
    events: async (lead: number) => (await loadStory(world, lead)).slice(1),
    status: async (lead: number) => (await loadLeadRow(world, lead)).status,
  };
}
