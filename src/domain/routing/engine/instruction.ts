import { isOpen, type AttemptStatus } from './progress';

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
  dial: Dial[];
  attempt: string | null;
  cancel: string[];
  fallback: Fallback | null;
  report_within_seconds: number | null;
}

export interface InstructedCall<Dial> {
  ended: boolean;
  /** Used when no buyer is left. */
  fallback: Fallback | null;
  reason: string | null;
  attempts: readonly Dialed<Dial>[];
  /** True when the ringing buyers were just chosen; otherwise the carrier knows them. */
  fresh: boolean;
  report_within_seconds: number;
}

/** The instruction for a call in its current state. Pure. */
export function buildInstruction<Dial>({
  ended,
  fallback,
  reason,
  attempts,
  fresh,
  report_within_seconds,
}: InstructedCall<Dial>): Instruction<Dial> {
  const none = {
    reason,
    message: null,
    dial: [],
    attempt: null,
    cancel: [],
    fallback: null,
    report_within_seconds: null,
  };
  if (fallback && fallback.type !== 'hang_up' && ended)
    return { ...none, action: 'fallback', message: fallback.message, fallback };
  if (ended) return { ...none, action: 'hang_up' };
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
  if (answered) return { ...underWay, action: 'ask_for_key', attempt: answered.uuid };
  return { ...underWay, action: fresh ? 'dial' : 'wait', dial: open.map(({ dial }) => dial) };
}
