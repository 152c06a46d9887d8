import type { Schemas } from '../contract';
import type { Db } from '../db/tenant';
import {
  forecast,
  type Obstacle,
  type PlannedStep,
  type Situation,
} from '../schedules/engine/forecast';
import { progressOf } from '../schedules/engine/plan';
import { nextContact } from '../time/contact-hours';
import { formatInstant } from '../time/zone';
import { buyerAvailability } from './buyer-availability';
import type { OutreachContext } from './context';
import { draft, type Channels, type Draft, type Fault } from './draft';
import type { DueLead } from './load-leads';
import type { ContactState } from './lock-contacts';
import { READ_HISTORY } from './queries/lead-logs';

interface Viewing {
  contact: ContactState;
  outreach: OutreachContext;
  channels: Channels;
  /** IANA zone of the times. */
  zone: string;
}

const MESSAGES: Record<Obstacle | 'daylight_hours' | 'business_hours', string> = {
  opt_out: 'the number has opted out',
  blacklist: 'the number is on the blacklist of the company, or blocked for the offer',
  suppressed: 'the number is on a suppression list of the schedule or its offer',
  paused: 'the schedule or its offer is paused',
  token_filter: 'the tokens of the lead do not meet the filter of the action',
  no_email: 'the lead has no e-mail address',
  no_number: 'the company owns no number to contact it from',
  number_not_allowed: 'the company calls and texts no numbers of this country or rate',
  no_open_hours: 'no hour of the next fourteen days is open in all zones of the lead',
  daylight_hours: 'put off until it is daylight in all zones of the lead',
  business_hours: 'put off until the business is open',
};

export async function timelineOf(
  db: Db,
  lead: DueLead,
  viewing: Viewing,
): Promise<Schemas['Timeline']> {
  const { contact, outreach, zone } = viewing;
  const past = await db.sql(READ_HISTORY, { lead_id: lead.id });
  const future =
    lead.is_live && !outreach.isOrphan(lead)
      ? forecast(progressOf(lead), outreach.planFor(lead), situationOf(lead, contact, outreach))
      : [];
  const steps = await withBuyers(db, lead, future, viewing);
  return {
    past: past.map(({ created_at, event, message, schedule_action_id }) => ({
      at: formatInstant(created_at, zone),
      event,
      message: message && messageFor(db, message),
      schedule_action_id: schedule_action_id === null ? null : Number(schedule_action_id),
    })),
    future: steps,
  };
}

/** Leads with these statuses stay stopped until a user changes that. */
const STOPPED: Record<string, Obstacle> = { opt_out: 'opt_out', blocked: 'blacklist' };

function situationOf(lead: DueLead, contact: ContactState, outreach: OutreachContext): Situation {
  const parked = STOPPED[lead.status];
  const delayed_by = delayOf(lead, outreach);
  return {
    now: outreach.now,
    zones: lead.zones,
    standing: outreach.standingOf(lead, contact),
    in_schedule: lead.schedule_id !== null,
    ...(parked && { parked }),
    ...(delayed_by && { delayed_by }),
  };
}

/** The reason why the lead waits longer than its schedule says; undefined when it does not. */
function delayOf(lead: DueLead, outreach: OutreachContext): Situation['delayed_by'] {
  const { delay_reason, next_action_at, callback_at, zones, tries } = lead;
  if (tries > 0 && delay_reason === 'carrier' && !callback_at) return 'carrier';
  if (callback_at || (delay_reason !== 'daylight_hours' && delay_reason !== 'business_hours'))
    return undefined;
  const open = nextContact(outreach.planFor(lead).hours, zones, outreach.now);
  return open?.at.getTime() === next_action_at?.getTime() ? delay_reason : undefined;
}

/** Callers who do not see all buyers are not shown how many each reason excludes. */
const messageFor = ({ accessScope }: Db, message: string): string =>
  accessScope ? message.replace(/(would take the call): .*$/, '$1') : message;

async function withBuyers(
  db: Db,
  lead: DueLead,
  future: readonly PlannedStep[],
  viewing: Viewing,
): Promise<Schemas['TimelineStep'][]> {
  const { outreach } = viewing;
  const offer_id = outreach.offerOfCalls(lead);
  const is_routed = ({ kind, action }: PlannedStep) => {
    if (kind === 'callback') return outreach.connectionOf(lead).connect_to === null;
    return kind === 'dial' && outreach.actionOf(lead, action!).connect_to === null;
  };
  const found =
    offer_id !== null && future.some(is_routed)
      ? await buyerAvailability(db, lead, {
          ...{ offer_id, now: outreach.now },
          carrier: viewing.channels.carrier,
        })
      : undefined;
  const why = found?.message && messageFor(db, found.message);
  return future.map((step) => {
    const entry = timelineStep(lead, step, viewing);
    if (!found || !is_routed(step)) return entry;
    const { available } = found;
    const message = entry.message ?? (available ? null : (why ?? null));
    return { ...entry, buyer_available: available, message };
  });
}

function timelineStep(lead: DueLead, step: PlannedStep, viewing: Viewing): Schemas['TimelineStep'] {
  const { at, kind, action, delayed_by, blocked_by } = step;
  const { outreach, channels, zone } = viewing;
  const row = action && outreach.scheduleOf(lead)?.rows.get(action.id);
  const is_delivery = ['sms', 'email', 'dial'].includes(kind);
  const delivery = row && is_delivery ? draft(lead, row, { outreach, channels }) : undefined;
  return {
    at: at && formatInstant(at, zone),
    action: kind,
    schedule_action_id: row ? Number(row.id) : null,
    name: row?.name ?? null,
    end_of_schedule: row?.end_of_schedule ?? false,
    text: textOf(delivery),
    delayed_by: delayed_by ?? null,
    blocked_by: blocked_by ?? null,
    message: messageOf(step, delivery, zone),
    buyer_available: null,
  };
}

function textOf(delivery: Draft | Fault | undefined): string | null {
  if (!delivery || 'fault' in delivery) return null;
  switch (delivery.table) {
    case 'text_messages':
      return delivery.row.body;
    case 'emails':
      return delivery.row.subject;
    case 'calls':
      return delivery.row.connect_to === null
        ? `connects to a buyer of the offer ${delivery.row.offer_id}`
        : `connects to ${delivery.row.connect_to}`;
  }
}

function messageOf(
  { message, until, blocked_by, delayed_by }: PlannedStep,
  delivery: Draft | Fault | undefined,
  zone: string,
): string | null {
  if (message) return message;
  if (until) return `until ${formatInstant(until, zone)}`;
  const reason = blocked_by ?? delayed_by;
  if (reason) return MESSAGES[reason];
  return delivery && 'fault' in delivery ? delivery.fault : null;
}
