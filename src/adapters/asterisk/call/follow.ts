import { FALLBACK, listLegs, type Call, type Turn } from './call';
import type { Session } from '../../service/service';
import {
  connectLeg,
  dialAll,
  dialNumber,
  dropLeg,
  dropOthers,
  endCall,
  endFallback,
  promptLeg,
} from './legs';

// An instruction of the service is the whole state of the call, as of the event that it answers:
// legs that have gone on since are left to the answer of what was reported since.

type Instruction = Session['instruction'];

export function follow(turn: Turn, { uuid, instruction }: Session): void {
  const { call } = turn;
  call.uuid = uuid;
  for (const attempt of instruction.cancel) if (attempt !== call.taker) dropLeg(turn, attempt);
  switch (instruction.action) {
    case 'dial':
    case 'wait':
      return dial(turn, instruction);
    case 'ask_for_key':
      dropRefused(turn, instruction);
      return promptLeg(turn, instruction.attempt!, instruction.prompt);
    case 'connect':
      connectLeg(turn, instruction.attempt!, instruction.max_seconds);
      return playKeys(turn, instruction);
    case 'fallback':
      return startFallback(turn, instruction);
    case 'hang_up':
      return hangUp(turn, instruction);
  }
}

/** The caller is with somebody, or was given up. */
const isSettled = ({ phase }: Call): boolean =>
  phase === 'connected' || phase === 'fallback' || phase === 'over';

function dial(turn: Turn, instruction: Instruction): void {
  const { call } = turn;
  if (isSettled(call) || call.phase === 'calling' || call.phase === 'detecting') return;
  dropRefused(turn, instruction);
  if (instruction.greeting === null || call.was_greeted) {
    if (call.phase === 'greeting') return;
    return dialAll(turn, instruction.dial);
  }
  if (!call.is_answered) turn.act({ type: 'answer' });
  Object.assign(call, { is_answered: true, was_greeted: true, phase: 'greeting' });
  call.after_greeting = instruction.dial;
  const { channel } = call;
  turn.act({ type: 'play', channel, playback: 'greeting', text: instruction.greeting });
}

/** Ends the legs of buyers who have answered, and are not waited for any more. */
function dropRefused(turn: Turn, { dial: buyers, attempt }: Instruction): void {
  const named = new Set([attempt, ...buyers.map((buyer) => buyer.attempt)]);
  for (const [name, { state }] of listLegs(turn.call))
    if (state === 'pressed' && !named.has(name)) dropLeg(turn, name);
}

/** Plays each key press once. */
function playKeys(turn: Turn, { attempt, key_presses }: Instruction): void {
  const { call } = turn;
  const leg = call.legs[attempt!];
  if (leg?.state !== 'connected') return;
  for (const { id, digits } of key_presses) {
    if (id <= call.played_id) continue;
    call.played_id = id;
    turn.act({ type: 'play_keys', channel: leg.channel, digits, id });
  }
}

function startFallback(turn: Turn, { fallback, max_seconds }: Instruction): void {
  const { call } = turn;
  if (!fallback || isSettled(call)) return;
  dropOthers(turn);
  call.phase = 'fallback';
  call.fallback = { type: fallback.type, since: turn.now, is_recording: false };
  turn.act({ type: 'report', event: { event: 'fallback_started' } });
  if (max_seconds !== null) turn.act({ type: 'start_timer', timer: 'max', seconds: max_seconds });
  if (fallback.type === 'number' && fallback.number !== null)
    return dialNumber(turn, FALLBACK, fallback.number);
  if (!call.is_answered) turn.act({ type: 'answer' });
  call.is_answered = true;
  if (fallback.message === null) return endMessage(turn);
  const { channel } = call;
  turn.act({ type: 'play', channel, playback: 'message', text: fallback.message });
}

/** The message has been played. */
export function endMessage(turn: Turn): void {
  const { fallback } = turn.call;
  if (fallback?.type !== 'voicemail' || fallback.is_recording) return endFallback(turn);
  fallback.is_recording = true;
  turn.act({ type: 'record_voicemail' });
}

function hangUp(turn: Turn, { sip_status }: Instruction): void {
  const { call } = turn;
  // The call has ended there when the fallback begins; its own end is reported later.
  if (call.phase === 'fallback') return;
  if (sip_status !== null && !call.is_answered && !call.is_outbound) refuse(turn, sip_status);
  else endCall(turn);
}

/** Refuses a caller who was not answered. */
export function refuse(turn: Turn, status: number): void {
  dropOthers(turn);
  turn.call.phase = 'over';
  turn.act({ type: 'refuse', status });
  turn.act({ type: 'forget' });
}
