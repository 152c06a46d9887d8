import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { Deps } from '../deps';
import { readCountry } from '../../data/phone/area-codes';
import { leadZones, readNumberOrigin } from '../../data/phone/number-zones';
import { isAssignable } from '../../data/phone/parse-number';
import { passesFilters } from '../../platform/tokens/filters';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { callTokens } from '../../platform/tokens/system';
import { changeLead } from './change-lead';
import { lookUpForFilters } from '../value-lists/look-up';
import {
  FIND_SCHEDULE_EVENTS,
  FIND_TRIGGERED_SCHEDULES,
  POSTPONE_SCHEDULE_EVENT,
  TAKE_SCHEDULE_EVENT,
} from './queries/schedule-events';
import { readZip } from './read-submission';
import { writeSubmission, type Submission } from './write-submission';

/** Events per run. */
const BATCH = 200;
/** More than a person starts. Limits a machine that answers every call with a call. */
const MAX_STARTS_A_DAY = 5;

/**
 * Starts the schedules whose triggers have happened, and ends schedules that end when the lead
 * calls. Returns how many events were handled. Any number of processes may run this at the same
 * time: an event is deleted in the transaction that starts its schedules, so that it counts once.
 */
export async function startTriggered({
  database,
  tenants,
  clock,
  log,
}: Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>): Promise<number> {
  const now = clock();
  const events = await database.sql(FIND_SCHEDULE_EVENTS, { limit: BATCH });
  let done = 0;
  for (const { company_id, id } of events) {
    const db = tenants.of(BigInt(company_id));
    try {
      await db.transaction((tx) => handleEvent(tx, id, now));
      done++;
    } catch (error) {
      // Other events do not wait for this one, which is retried later.
      log.error({ err: error, company_id, event_id: id }, 'a trigger could not start schedules');
      await db.sql(POSTPONE_SCHEDULE_EVENT, { id });
    }
  }
  return done;
}

type Event = NonNullable<Awaited<ReturnType<typeof takeEvent>>>;
type Schedule = Awaited<ReturnType<typeof findSchedules>>[number];

const takeEvent = async ({ sql }: Db, id: string) => (await sql(TAKE_SCHEDULE_EVENT, { id }))[0];

const findSchedules = ({ sql }: Db, { kind, caller_number, offer_id }: Event, now: Date) =>
  sql(FIND_TRIGGERED_SCHEDULES, { kind, caller_number, offer_id, now });

async function handleEvent(tx: Db, id: string, now: Date): Promise<void> {
  const event = await takeEvent(tx, id);
  if (event?.kind === 'inbound_call') {
    const change = { called_at: now, updated_at: now };
    return void (await changeLead(tx, BigInt(event.lead_id!), change, { only_live: true }));
  }
  // Callers may withhold their number, or show one that is not assignable.
  if (!event?.caller_number || !isAssignable(Number(event.caller_number))) return;
  const schedules = await findSchedules(tx, event, now);
  const matching = await buildMatcher(tx, event, schedules);
  const chain = buildChain(event);
  for (const schedule of schedules) {
    if (!matching(schedule) || chain.includes(schedule.id) || schedule.starts >= MAX_STARTS_A_DAY)
      continue;
    await startSchedule(tx, schedule, { event, chain, now });
  }
}

/** Returns a test for schedules: one of its triggers is for this event and matches its tokens. */
async function buildMatcher(
  { sql, company_id }: Db,
  event: Event,
  schedules: readonly Schedule[],
): Promise<(schedule: Schedule) => boolean> {
  const filtersFor = ({ triggers }: Schedule) =>
    triggers.flatMap(({ on, token_filter_list }) => (on === event.kind ? [token_filter_list] : []));
  const tokens = buildTokens(event);
  const needs = combineNeeds(schedules.flatMap(filtersFor));
  const { traffic_source_id } = event;
  await lookUpForFilters(sql, [{ company_id, tokens, needs, traffic_source_id }]);
  return (schedule) => filtersFor(schedule).some((filters) => passesFilters(filters, tokens));
}

const buildTokens = (event: Event) =>
  callTokens(event.data, {
    caller_id: `+${event.caller_number}`,
    traffic_source_id: event.traffic_source_id,
    sub_id: event.sub_id,
    number_called: event.number_called && `+${event.number_called}`,
    city: event.caller_city,
    state: event.caller_state,
    zip: event.caller_zip,
    country: event.caller_country ?? readCountry(Number(event.caller_number)),
    ...readNumberOrigin(event.caller_number),
  });

/**
 * The schedules that led to the event, in order. The event does not start them a second time, so
 * that automatic starts come to an end however triggers refer to each other. An action of a person
 * begins a new chain.
 */
const buildChain = ({
  kind,
  is_outbound,
  triggered_by,
  lead_schedule_id: ownSchedule,
}: Event): string[] =>
  is_outbound || kind === 'lead_created'
    ? [...triggered_by, ...(ownSchedule === null ? [] : [ownSchedule])]
    : [];

async function startSchedule(
  tx: Db,
  schedule: Schedule,
  { event, chain, now }: { event: Event; chain: readonly string[]; now: Date },
): Promise<void> {
  const submission = {
    ...buildSubmission(schedule, event, now),
    // A lead with a chain does not count as a new lead for triggers.
    triggered_by: [...chain, schedule.id],
  };
  const form = { grid: false, external: false, by_token: false };
  await writeSubmission(tx, submission, form);
}

function buildSubmission(
  schedule: Schedule,
  event: Event,
  now: Date,
): Omit<Submission, 'triggered_by'> {
  const { data, email, sub_id, traffic_source_id, kind } = event;
  const callerNumber = Number(event.caller_number);
  const offerId = schedule.offer_id ?? event.offer_id;
  return {
    uuid: uuidv7(now.getTime()),
    now: now.toISOString(),
    offer_id: offerId === null ? null : BigInt(offerId),
    schedule_id: BigInt(schedule.id),
    caller_number: callerNumber,
    zones: leadZones(callerNumber, readZip(data), schedule.time_zone),
    fields: { email, sub_id, traffic_source_id },
    data: JSON.stringify(data),
    // A number that is already in the schedule continues unchanged.
    new_only: true,
    sender: { ip: '', credentials: 'trigger' },
    note: `started by the trigger ${kind}`,
  };
}
