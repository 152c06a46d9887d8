import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import {
  forecast,
  type Obstacle,
  type PlannedStep,
  type Situation,
} from '../schedules/engine/forecast';
import { toProgress } from '../schedules/engine/plan';
import { nextContact } from '../../platform/time/contact-hours';
import { formatInstant } from '../../platform/time/zone';
import { findBuyerAvailability } from './buyer-availability';
import type { OutreachContext } from './context';
import { draftAction, type CompanyChannels, type Draft, type Fault } from './drafts';
import type { DueLead } from './due-lead';
import type { ContactState } from './load-leads';
import { READ_HISTORY } from './queries/lead-logs';

interface TimelineContext {
  contact: ContactState;
  records: OutreachContext;
  channels: CompanyChannels;
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

export async function buildTimeline(
  db: Db,
  lead: DueLead,
  viewing: TimelineContext,
): Promise<Schemas['Timeline']> {
  const { contact, records, zone } = viewing;
  const past = await db.sql(READ_HISTORY, { lead_id: lead.id });
  const future =
    lead.is_live && !records.isOrphan(lead)
      ? forecast(toProgress(lead), records.planFor(lead), buildSituation(lead, contact, records))
      : [];
  const steps = await addBuyerAvailability(db, lead, future, viewing);
  return {
    past: past.map(({ created_at, event, message, schedule_action_id }) => ({
      at: formatInstant(created_at, zone),
      event,
      message: message && maskMessage(db, message),
      schedule_action_id: schedule_action_id === null ? null : Number(schedule_action_id),
    })),
    future: steps,
  };
}

/** Leads with these statuses stay stopped until a user changes that. */
const STOPPED: Record<string, Obstacle> = { opt_out: 'opt_out', blocked: 'blacklist' };

function buildSituation(lead: DueLead, contact: ContactState, records: OutreachContext): Situation {
  const parked = STOPPED[lead.status];
  const delayedBy = explainDelay(lead, records);
  return {
    now: records.now,
    zones: lead.zones,
    conditions: records.buildContactability(lead, contact),
    in_schedule: lead.schedule_id !== null,
    ...(parked && { parked }),
    ...(delayedBy && { delayed_by: delayedBy }),
  };
}

/** The reason why the lead waits longer than its schedule says; undefined when it does not. */
function explainDelay(lead: DueLead, records: OutreachContext): Situation['delayed_by'] {
  const { delay_reason, next_action_at, callback_at, zones, tries } = lead;
  if (tries > 0 && delay_reason === 'carrier' && !callback_at) return 'carrier';
  if (callback_at || (delay_reason !== 'daylight_hours' && delay_reason !== 'business_hours'))
    return undefined;
  const open = nextContact(records.planFor(lead).hours, zones, records.now);
  return open?.at.getTime() === next_action_at?.getTime() ? delay_reason : undefined;
}

/** Callers who do not see all buyers are not shown how many each reason excludes. */
const maskMessage = ({ accessScope }: Db, message: string): string =>
  accessScope ? message.replace(/(would take the call): .*$/, '$1') : message;

async function addBuyerAvailability(
  db: Db,
  lead: DueLead,
  future: readonly PlannedStep[],
  viewing: TimelineContext,
): Promise<Schemas['TimelineStep'][]> {
  const { records } = viewing;
  const offerId = records.findCallOffer(lead);
  const isRouted = ({ kind, action }: PlannedStep) => {
    if (kind === 'callback') return records.findConnection(lead).connect_to === null;
    return kind === 'dial' && records.findAction(lead, action!).connect_to === null;
  };
  const availability =
    offerId !== null && future.some(isRouted)
      ? await findBuyerAvailability(db, lead, {
          ...{ offer_id: offerId, now: records.now },
          carrier: viewing.channels.carrier,
        })
      : undefined;
  const why = availability?.message && maskMessage(db, availability.message);
  return future.map((step) => {
    const entry = buildTimelineStep(lead, step, viewing);
    if (!availability || !isRouted(step)) return entry;
    const { available } = availability;
    const message = entry.message ?? (available ? null : (why ?? null));
    return { ...entry, buyer_available: available, message };
  });
}

function buildTimelineStep(
  lead: DueLead,
  step: PlannedStep,
  viewing: TimelineContext,
): Schemas['TimelineStep'] {
  const { at, kind, action, delayed_by, blocked_by } = step;
  const { records, channels, zone } = viewing;
  const row = action && records.findSchedule(lead)?.rows.get(action.id);
  const isDelivery = ['sms', 'email', 'dial'].includes(kind);
  const delivery = row && isDelivery ? draftAction(lead, row, { records, channels }) : undefined;
  return {
    at: at && formatInstant(at, zone),
    action: kind,
    schedule_action_id: row ? Number(row.id) : null,
    name: row?.name ?? null,
    end_of_schedule: row?.end_of_schedule ?? false,
    text: describeDelivery(delivery),
    delayed_by: delayed_by ?? null,
    blocked_by: blocked_by ?? null,
    message: buildMessage(step, delivery, zone),
    buyer_available: null,
  };
}

function describeDelivery(delivery: Draft | Fault | undefined): string | null {
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

function buildMessage(
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
