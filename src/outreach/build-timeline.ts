import type { Schemas } from '../contract';
import type { DueLead } from './load-leads';
import type { ContactState } from './lock-contacts';
import type { Db } from '../db/tenant';
import { nextContact } from '../time/contact-hours';
import {
  forecast,
  type PlannedStep,
  type Obstacle,
  type Situation,
} from '../schedules/engine/forecast';
import { progressOf } from '../schedules/engine/plan';
import { formatInstant } from '../time/zone';
import { draft, type Edges } from './deliver';
import { planFor, type OutreachContext } from './context';

interface Viewing {
  contact: ContactState;
  world: OutreachContext;
  edges: Edges;
  /** IANA zone of the times. */
  zone: string;
}

const MOST_EVENTS = 1_000;

const WORDS: Record<Obstacle | 'daylight_hours' | 'business_hours', string> = {
  opt_out: 'the number has opted out',
  blacklist: 'the number is on the blacklist of the company',
  suppressed: 'the number is on a suppression list of the schedule or its offer',
  paused: 'the schedule or its offer is paused',
  token_filter: 'the tokens of the lead do not meet the filter of the action',
  no_email: 'the lead has no e-mail address',
  no_number: 'the company owns no number to contact it from',
  no_open_hours: 'no hour of the next fourteen days is open in all zones of the lead',
  daylight_hours: 'put off until it is daylight in all zones of the lead',
  business_hours: 'put off until the business is open',
};

/** What happened to a lead and what will. */
export async function timelineOf(
  db: Db,
  lead: DueLead,
  viewing: Viewing,
): Promise<Schemas['Timeline']> {
  const { contact, world, zone } = viewing;
  const past = await db.query<{
    created_at: Date;
    event: Schemas['LeadEvent'];
    message: string | null;
    schedule_action_id: string | null;
  }>({
    text: `SELECT * FROM (SELECT id, created_at, event, message, schedule_action_id FROM lead_logs WHERE company_id = $1 AND lead_id = $2 ORDER BY id DESC LIMIT ${MOST_EVENTS}) l ORDER BY id`,
    values: [db.company_id, lead.id],
  });
  const future =
    lead.is_live && !world.isOrphan(lead)
      ? forecast(progressOf(lead), planFor(world, lead), situationOf(lead, contact, world))
      : [];
  return {
    past: past.map(({ created_at, event, message, schedule_action_id }) => ({
      at: formatInstant(created_at, zone),
      event,
      message,
      schedule_action_id: schedule_action_id === null ? null : Number(schedule_action_id),
    })),
    future: future.map((step) => shown(lead, step, viewing)),
  };
}

/** Leads that were stopped stay so until somebody tells them to go on. */
const PARKED: Record<string, Obstacle> = { opt_out: 'opt_out', blocked: 'blacklist' };

function situationOf(lead: DueLead, contact: ContactState, world: OutreachContext): Situation {
  const { now } = world;
  const parked = PARKED[lead.status];
  const delayed_by = delayOf(lead, world);
  const more = { ...(parked && { parked }), ...(delayed_by && { delayed_by }) };
  return {
    now,
    zones: lead.zones,
    standing: world.standingOf(lead, contact),
    in_schedule: lead.schedule_id !== null,
    ...more,
  };
}

/** What put the lead off to the time that it waits for; undefined when that time was meant. */
function delayOf(lead: DueLead, world: OutreachContext): Situation['delayed_by'] {
  const { delay_reason, next_action_at, callback_at, zones, tries } = lead;
  if (tries > 0 && delay_reason === 'carrier' && !callback_at) return 'carrier';
  if (callback_at || (delay_reason !== 'daylight_hours' && delay_reason !== 'business_hours'))
    return undefined;
  const open = nextContact(planFor(world, lead).hours, zones, world.now);
  return open?.at.getTime() === next_action_at?.getTime() ? delay_reason : undefined;
}

function shown(
  lead: DueLead,
  { at, kind, action, delayed_by, blocked_by, message, until }: PlannedStep,
  { world, edges, zone }: Viewing,
): Schemas['TimelineStep'] {
  const row = action && world.scheduleOf(lead)?.rows.get(action.id);
  const meant =
    row && ['sms', 'email', 'dial'].includes(kind) ? draft(lead, row, { world, edges }) : undefined;
  const text =
    !meant || 'fault' in meant
      ? undefined
      : meant.table === 'text_messages'
        ? meant.row.body
        : meant.table === 'emails'
          ? meant.row.subject
          : `connects to ${meant.row.connect_to}`;
  const why = blocked_by ?? delayed_by;
  return {
    at: at && formatInstant(at, zone),
    action: kind,
    schedule_action_id: row ? Number(row.id) : null,
    name: row?.name ?? null,
    end_of_schedule: row?.end_of_schedule ?? false,
    text: text ?? null,
    delayed_by: delayed_by ?? null,
    blocked_by: blocked_by ?? null,
    message:
      message ??
      (until
        ? `until ${formatInstant(until, zone)}`
        : why
          ? WORDS[why]
          : meant && 'fault' in meant
            ? meant.fault
            : null),
  };
}
