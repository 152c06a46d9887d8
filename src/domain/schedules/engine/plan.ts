import { CALL_TOKENS } from '../../../platform/tokens/system';
import { compileFilter } from '../../../platform/tokens/filters';
import { tokenNames, type TokenSource } from '../../../platform/tokens/substitute';
import { isContact, type Action, type ActionType, type ExitReason, type Plan } from './cadence';
import type { Progress } from './cadence';
import type { ContactHours } from '../../../platform/time/contact-hours';
import { openMinutes, parseRange } from '../../../platform/time/opening-hours';
import { ianaName } from '../../../platform/time/zone';

export interface ActionRow {
  id: string;
  action_type: string;
  end_of_schedule: boolean;
  position: number;
  name: string | null;
  token_filters: string[];
  wait_amount: number | null;
  wait_unit: string | null;
  wait_until: string | null;
  connect_to: string | null;
  timeout_seconds: number | null;
  body: string | null;
  subject: string | null;
  html: boolean | null;
  from_email: string | null;
  url: string | null;
  method: string | null;
  headers: Record<string, string> | null;
  to_schedule_id: string | null;
  /** Only for a dial with routed calls. */
  only_when_buyer_available: boolean | null;
  machine_action: string | null;
  machine_message: string | null;
}

/** Actions are in the order of positions; ids are text. */
export interface ScheduleRow {
  company_id: string;
  id: string;
  name: string;
  paused: boolean;
  offer_id: string | null;
  /** Ids of suppression lists. */
  lists: string[];
  time_zone: string;
  daylight_hours: string;
  business_hours: { day: number; times: string[] }[];
  hours_to_expire: number | null;
  max_contact_attempts: number | null;
  from_email: string | null;
  actions: ActionRow[];
}

type Filter = (tokens: TokenSource) => boolean;

interface CompiledAction {
  action: Omit<Action, 'applies'>;
  filters: readonly Filter[];
}

export interface CompiledSchedule {
  row: ScheduleRow;
  hours: ContactHours;
  actions: readonly CompiledAction[];
  end: readonly CompiledAction[];
  rows: ReadonlyMap<number, ActionRow>;
  /** True when a filter or a text uses tokens that need a query for the calls of the number. */
  uses_calls: boolean;
}

export interface OwnLimits {
  hours_to_expire: number | null;
  expires_in: number | null;
  max_contact_attempts: number | null;
  exit_reason: ExitReason | null;
}

const UNIT_MS: Record<string, number> = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};
const DAYLIGHT = '08:00..20:59';

export function compileSchedule(row: ScheduleRow): CompiledSchedule {
  const steps = row.actions.map((action): [ActionRow, CompiledAction] => [
    action,
    {
      action: toAction(action),
      // An invalid filter matches no lead.
      filters: action.token_filters.map((filter) => compileFilter(filter) ?? (() => false)),
    },
  ]);
  const texts = row.actions.flatMap(
    ({ body, subject, url, headers, token_filters, machine_message }) => [
      body,
      machine_message,
      subject,
      url,
      ...Object.values(headers ?? {}),
      ...token_filters,
    ],
  );
  return {
    row,
    hours: toContactHours(row),
    actions: steps.flatMap(([{ end_of_schedule }, step]) => (end_of_schedule ? [] : [step])),
    end: steps.flatMap(([{ end_of_schedule }, step]) => (end_of_schedule ? [step] : [])),
    rows: new Map(row.actions.map((action) => [Number(action.id), action])),
    uses_calls: texts.some((text) => text !== null && usesCalls(text)),
  };
}

const NAMES = new Set<string>(CALL_TOKENS);
const usesCalls = (text: string): boolean =>
  CALL_TOKENS.some((name) => text.startsWith(`${name}:`)) ||
  tokenNames(text).some((name) => NAMES.has(name));

function toContactHours({
  daylight_hours,
  business_hours,
  time_zone,
}: Pick<ScheduleRow, 'daylight_hours' | 'business_hours' | 'time_zone'>): ContactHours {
  return {
    daylight: parseRange(daylight_hours)!,
    business_open: openMinutes(business_hours),
    business_zone: ianaName(time_zone) ?? 'UTC',
  };
}

/** Callback hours for leads of an offer, which have no schedule. */
const OFFER_HOURS = toContactHours({
  daylight_hours: DAYLIGHT,
  business_hours: [],
  time_zone: 'UTC',
});

function toAction({
  id,
  action_type,
  position,
  wait_amount,
  wait_unit,
  wait_until,
}: ActionRow): Omit<Action, 'applies'> {
  const type = action_type as ActionType;
  if (type !== 'wait') return { id: Number(id), type, position };
  const wait = wait_until
    ? { until: parseMinute(wait_until) }
    : { ms: (wait_amount ?? 0) * UNIT_MS[wait_unit ?? 'seconds']! };
  return { id: Number(id), type, position, wait };
}

const parseMinute = (time: string): number =>
  Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** The plan of one lead; without a schedule, the plan of a lead of an offer. */
export function buildPlan(
  schedule: CompiledSchedule | undefined,
  leadLimits: OwnLimits,
  tokens: TokenSource,
): Plan {
  const { expires_in } = leadLimits;
  if (!schedule)
    return {
      actions: [],
      end: [],
      hours: OFFER_HOURS,
      hours_to_expire: null,
      expires_in,
      max_contact_attempts: null,
    };
  // A converted lead is not contacted again, not even by end-of-schedule actions.
  const isConverted = leadLimits.exit_reason === 'converted';
  const forLead = ({ action, filters }: CompiledAction): Action => ({
    ...action,
    applies: filters.every((holds) => holds(tokens)),
  });
  return {
    actions: schedule.actions.map(forLead),
    end: schedule.end.map(forLead).filter(({ type }) => !isConverted || !isContact(type)),
    hours: schedule.hours,
    hours_to_expire: leadLimits.hours_to_expire ?? schedule.row.hours_to_expire,
    expires_in,
    max_contact_attempts: leadLimits.max_contact_attempts ?? schedule.row.max_contact_attempts,
  };
}

interface ProgressRow extends Omit<Progress, 'not_before'> {
  next_action_at: Date | null;
}

export const toProgress = ({
  phase,
  position,
  exit_reason,
  entered_at,
  contact_attempts,
  callback_at,
  next_action_at,
}: ProgressRow): Progress => ({
  phase,
  position,
  exit_reason,
  entered_at,
  contact_attempts,
  callback_at,
  not_before: next_action_at,
});
