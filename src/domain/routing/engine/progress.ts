import type { Route, SipHeaders } from './line';
import { findLegFailure, type LegAnswer } from './leg-failure';

// The attempts of a call: what events change about them, and what is to be done next.

/** Statuses of an attempt (the dialing of one buyer) that has not ended. */
export const OPEN_STATUSES = ['ringing', 'answered', 'connected'] as const;
export type OpenStatus = (typeof OPEN_STATUSES)[number];
export type AttemptStatus =
  OpenStatus | 'completed' | 'no_answer' | 'busy' | 'failed' | 'declined' | 'released' | 'canceled';

export interface AttemptState {
  uuid: string;
  status: AttemptStatus;
  press_one_to_accept: boolean;
}

export type EventKind =
  | 'ringing'
  | 'early_media'
  | 'answered'
  | 'key_press'
  | 'no_answer'
  | 'busy'
  | 'failed'
  | 'duration'
  | 'held'
  | 'resumed'
  | 'transferred'
  | 'completed'
  | 'recording'
  | 'fallback_started'
  | 'fallback_ended';

export interface CallEvent extends LegAnswer {
  event: EventKind;
  /** The uuid of the attempt. */
  attempt?: string | null | undefined;
  key?: string | null | undefined;
  /** Name of the trunk through which the leg was dialed. */
  trunk?: string | null | undefined;
}

export interface Reaction {
  /** New statuses by attempt; empty when nothing changes. */
  changes: ReadonlyMap<string, AttemptStatus>;
  /** The attempt whose buyer has just taken the call. */
  connected?: string;
  /** True when another buyer must be found. */
  route: boolean;
  over: boolean;
  /** False for a repeated or late event. */
  news: boolean;
}

export const isOpen = ({ status }: Pick<AttemptState, 'status'>): boolean =>
  (OPEN_STATUSES as readonly string[]).includes(status);

const NOTHING: Reaction = { changes: new Map(), route: false, over: false, news: false };

/**
 * The attempt of an event: the one that it names, or else the only possible one. Undefined when
 * that is ambiguous.
 */
export function pickAttempt<Attempt extends AttemptState>(
  attempts: readonly Attempt[],
  { event, attempt }: CallEvent,
): Attempt | undefined {
  if (attempt) return attempts.find(({ uuid }) => uuid === attempt.toLowerCase());
  const meant = attempts.filter(
    (item) => isOpen(item) && (event !== 'key_press' || item.status === 'answered'),
  );
  return meant.length === 1 ? meant[0] : undefined;
}

/** The effect of an event on a call in progress. Pure; a repeated event changes nothing. */
export function react(attempts: readonly AttemptState[], event: CallEvent): Reaction {
  if (event.event === 'completed') return complete(attempts);
  const attempt = pickAttempt(attempts, event);
  if (!attempt || !isOpen(attempt)) return NOTHING;
  switch (event.event) {
    case 'ringing':
    case 'early_media':
      return attempt.status === 'ringing' ? { ...NOTHING, news: true } : NOTHING;
    case 'held':
    case 'resumed':
    case 'transferred':
      return attempt.status === 'connected' ? { ...NOTHING, news: true } : NOTHING;
    case 'duration':
    case 'recording':
      return { ...NOTHING, news: true };
    case 'answered':
      if (attempt.status !== 'ringing') return NOTHING;
      return attempt.press_one_to_accept ? change(attempt, 'answered') : connect(attempts, attempt);
    case 'key_press':
      if (attempt.status !== 'answered') return NOTHING;
      return event.key === '1' ? connect(attempts, attempt) : leave(attempts, attempt, 'declined');
    default:
      // A connected buyer that hangs up ends the call; before that, only its attempt ends.
      if (attempt.status === 'connected') return complete(attempts);
      return leave(
        attempts,
        attempt,
        attempt.status === 'answered' ? 'declined' : pickEndStatus(event),
      );
  }
}

/** How the attempt of a buyer has ended that did not answer. */
function pickEndStatus(event: CallEvent): AttemptStatus {
  if (event.event === 'no_answer' || event.event === 'busy') return event.event;
  const cause = findLegFailure(event);
  return cause === undefined || cause === 'no_such_number' ? 'failed' : cause;
}

const change = ({ uuid }: AttemptState, status: AttemptStatus): Reaction => ({
  ...NOTHING,
  changes: new Map([[uuid, status]]),
  news: true,
});

/** The first buyer that takes the call gets it; the other attempts are released. */
function connect(attempts: readonly AttemptState[], { uuid }: AttemptState): Reaction {
  if (attempts.some(({ status }) => status === 'connected'))
    return { ...NOTHING, changes: new Map([[uuid, 'released']]), news: true };
  const releasedAttempts = attempts
    .filter((attempt) => isOpen(attempt) && attempt.uuid !== uuid)
    .map((attempt) => [attempt.uuid, 'released'] as const);
  return {
    ...NOTHING,
    changes: new Map<string, AttemptStatus>([[uuid, 'connected'], ...releasedAttempts]),
    connected: uuid,
    news: true,
  };
}

function leave(
  attempts: readonly AttemptState[],
  attempt: AttemptState,
  status: AttemptStatus,
): Reaction {
  const hasOpenAttempt = attempts.some((item) => isOpen(item) && item.uuid !== attempt.uuid);
  return { ...change(attempt, status), route: !hasOpenAttempt };
}

function complete(attempts: readonly AttemptState[]): Reaction {
  const changes = attempts
    .filter(isOpen)
    .map(({ uuid, status }) => [uuid, status === 'connected' ? 'completed' : 'canceled'] as const);
  return { ...NOTHING, changes: new Map(changes), over: true, news: true };
}

export interface DialBuyer {
  attempt: string;
  buyer_id: number;
  user_buyer_id: string | null;
  name: string | null;
  buyer_group_id: number | null;
  /** + and digits, or a SIP address. */
  number: string;
  timeout_seconds: number;
  /** + and digits; null for none. */
  caller_id: string | null;
  dtmf_tones: string | null;
  press_one_to_accept: boolean;
  record_calls: boolean;
  /** The line to dial it through; null where the switch chooses that. */
  trunk: Route['trunk'] | null;
  headers: SipHeaders;
}

export type InstructionAction =
  'dial' | 'wait' | 'ask_for_key' | 'connect' | 'fallback' | 'hang_up';

export interface Dialed<Dial> {
  uuid: string;
  status: AttemptStatus;
  round: number;
  dial: Dial;
}

export interface Fallback {
  type: 'hang_up' | 'message' | 'voicemail' | 'number';
  message: string | null;
  number: string | null;
}

export interface Instruction<Dial> {
  action: InstructionAction;
  reason: string | null;
  message: string | null;
  /** Played to the caller before the first buyer is dialed. */
  greeting: string | null;
  dial: Dial[];
  attempt: string | null;
  /** Said to a buyer that is asked for a key. */
  prompt: string | null;
  cancel: string[];
  fallback: Fallback | null;
  max_seconds: number | null;
  sip_status: number | null;
  sip_reason: string | null;
  report_within_seconds: number | null;
}

export interface InstructedCall<Dial> {
  ended: boolean;
  /** Used when no buyer is left. */
  fallback: Fallback | null;
  reason: string | null;
  /** Null for a call that somebody has answered, or that was greeted already. */
  greeting: string | null;
  /** True for a call that was never answered: it may be refused. */
  unanswered: boolean;
  attempts: readonly Dialed<Dial>[];
  /** True when the ringing buyers were just chosen; otherwise the carrier knows them. */
  fresh: boolean;
  /** The longest talk. */
  max_seconds: number;
  report_within_seconds: number;
}

/** Said to a buyer that must accept the call. */
export const PRESS_ONE_PROMPT = 'Press 1 to take this call.';

const NO_REFUSAL = { sip_status: null, sip_reason: null };
const UNAVAILABLE = { sip_status: 480, sip_reason: 'Temporarily Unavailable' };
const REFUSALS: Record<string, { sip_status: number; sip_reason: string }> = {
  blacklisted: { sip_status: 603, sip_reason: 'Decline' },
  offer_suppressed: { sip_status: 603, sip_reason: 'Decline' },
  traffic_source_cap_reached: { sip_status: 486, sip_reason: 'Busy Here' },
  traffic_source_concurrency_full: { sip_status: 486, sip_reason: 'Busy Here' },
};

/** The instruction for a call in its current state. Pure. */
export function buildInstruction<Dial>({
  ended,
  fallback,
  reason,
  greeting,
  unanswered,
  attempts,
  fresh,
  max_seconds,
  report_within_seconds,
}: InstructedCall<Dial>): Instruction<Dial> {
  const none = {
    reason,
    message: null,
    greeting: null,
    dial: [],
    attempt: null,
    prompt: null,
    cancel: [],
    fallback: null,
    max_seconds,
    ...NO_REFUSAL,
    report_within_seconds: null,
  };
  if (fallback && fallback.type !== 'hang_up' && ended)
    return { ...none, action: 'fallback', message: fallback.message, fallback };
  if (ended) {
    const refusal = unanswered ? (REFUSALS[reason ?? ''] ?? UNAVAILABLE) : NO_REFUSAL;
    return { ...none, ...refusal, action: 'hang_up', max_seconds: null };
  }
  const open = attempts.filter(isOpen);
  const underWay = { ...none, reason: null, report_within_seconds };
  const connected = open.find(({ status }) => status === 'connected');
  if (connected) {
    const cancel = attempts
      .filter(({ status, round }) => status === 'released' && round === connected.round)
      .map(({ uuid }) => uuid);
    return { ...underWay, action: 'connect', attempt: connected.uuid, cancel };
  }
  const answered = open.find(({ status }) => status === 'answered');
  if (answered)
    return {
      ...underWay,
      ...{ action: 'ask_for_key', attempt: answered.uuid, prompt: PRESS_ONE_PROMPT },
    };
  const dial = open.map((attempt) => attempt.dial);
  return fresh
    ? { ...underWay, action: 'dial', greeting, dial }
    : { ...underWay, action: 'wait', dial };
}
