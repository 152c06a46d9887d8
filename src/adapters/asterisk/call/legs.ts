import {
  buildLegChannel,
  buildNextChannel,
  countTalk,
  FALLBACK,
  isAlive,
  listLegs,
  TRANSFER,
  type Leg,
  type Turn,
} from './call';
import { describeFailure, type Cause } from '../../service/failures';
import { toResult, type CallEvent, type DialBuyer } from '../../service/service';

// The telephones that are rung for the caller.

/** The time to press a key, after the prompt; and if its end is not heard of. */
const KEY_SECONDS = 10;
const PROMPT_SECONDS = 60;
/** How long a number rings that no buyer has given a time for. */
const RING_SECONDS = 30;

/** Dials those that were not dialed yet, all at once. */
export function dialAll(turn: Turn, buyers: readonly DialBuyer[]): void {
  for (const buyer of buyers) {
    const { attempt: leg, number, caller_id, timeout_seconds: seconds, trunk, headers } = buyer;
    const former = turn.call.legs[leg];
    const isTried = trunk === null || former?.trunks.includes(trunk.name);
    // An attempt is dialed again only through a trunk that it was not dialed through.
    if (former && (isAlive(former) || isTried)) continue;
    addLeg(turn, leg, {
      press_one: buyer.press_one_to_accept,
      tones: buyer.dtmf_tones,
      record: buyer.record_calls,
      trunks: [...(former?.trunks ?? []), ...(trunk === null ? [] : [trunk.name])],
    });
    turn.act({ type: 'dial', leg, number, caller_id, seconds, trunk, headers });
  }
}

/** Dials a number that is of no buyer. */
export function dialNumber(turn: Turn, leg: typeof FALLBACK | typeof TRANSFER, number: string) {
  addLeg(turn, leg, { press_one: false, tones: null, record: false, trunks: [] });
  const dialing = { number, caller_id: null, seconds: RING_SECONDS, trunk: null, headers: {} };
  turn.act({ type: 'dial', leg, ...dialing });
}

function addLeg({ call }: Turn, name: string, settings: Omit<Leg, 'channel' | 'state'>): void {
  const channel = buildNextChannel(buildLegChannel(name, call), settings.trunks);
  call.legs[name] = { channel, state: 'ringing', ...settings };
}

/** Ends a leg, whose end is then not reported. */
export function dropLeg(turn: Turn, name: string): void {
  const leg = turn.call.legs[name];
  if (!leg || !isAlive(leg)) return;
  leg.state = 'over';
  turn.act({ type: 'stop_timer', timer: `key:${name}` });
  turn.act({ type: 'hang_up', channel: leg.channel });
}

export function dropOthers(turn: Turn, kept?: string): void {
  for (const [name] of listLegs(turn.call)) if (name !== kept) dropLeg(turn, name);
}

/** The buyer has answered. */
export function answerLeg(turn: Turn, name: string): void {
  const leg = turn.call.legs[name];
  if (leg?.state !== 'ringing') return;
  leg.state = 'answered';
  if (leg.tones) turn.act({ type: 'play_keys', channel: leg.channel, digits: leg.tones });
  turn.act({ type: 'report', event: { event: 'answered', attempt: name, leg_sid: leg.channel } });
}

export function promptLeg(turn: Turn, name: string, prompt: string | null): void {
  const leg = turn.call.legs[name];
  if (!leg || (leg.state !== 'answered' && leg.state !== 'pressed')) return;
  leg.state = 'prompted';
  turn.act({ type: 'play', channel: leg.channel, playback: 'prompt', text: prompt });
  turn.act({ type: 'start_timer', timer: `key:${name}`, seconds: PROMPT_SECONDS });
}

/** The prompt has been played: now the buyer has some seconds. */
export function awaitKeys(turn: Turn): void {
  for (const [name, { state }] of listLegs(turn.call))
    if (state === 'prompted')
      turn.act({ type: 'start_timer', timer: `key:${name}`, seconds: KEY_SECONDS });
}

export function pressKey(turn: Turn, name: string, key: string): void {
  const leg = turn.call.legs[name];
  if (leg?.state !== 'prompted' || !/^[\d*#]$/.test(key)) return;
  leg.state = 'pressed';
  turn.act({ type: 'stop_timer', timer: `key:${name}` });
  turn.act({ type: 'stop_playing', channel: leg.channel, playback: 'prompt' });
  turn.act({ type: 'report', event: { event: 'key_press', attempt: name, key } });
}

/** No key was pressed in time. */
export function giveUpKey(turn: Turn, name: string): void {
  const leg = turn.call.legs[name];
  if (leg?.state !== 'prompted') return;
  dropLeg(turn, name);
  turn.act({ type: 'report', event: { event: 'no_answer', attempt: name } });
}

/** Connects the caller to a leg that has answered, and stops the others. */
export function connectLeg(turn: Turn, name: string, maxSeconds: number | null): void {
  const { call } = turn;
  const leg = call.legs[name];
  if (!leg || !isAlive(leg) || leg.state === 'ringing' || call.taker !== undefined) return;
  leg.state = 'connected';
  turn.act({ type: 'stop_timer', timer: `key:${name}` });
  dropOthers(turn, name);
  if (!call.is_answered) turn.act({ type: 'answer' });
  turn.act({ type: 'connect', leg: name });
  Object.assign(call, { phase: 'connected', taker: name, is_answered: true });
  call.connected_at = turn.now;
  if (leg.record) recordTalk(turn);
  if (maxSeconds !== null) turn.act({ type: 'start_timer', timer: 'max', seconds: maxSeconds });
}

export function recordTalk(turn: Turn): void {
  if (!turn.call.is_recorded) turn.act({ type: 'record_talk' });
  turn.call.is_recorded = true;
}

/** A leg has ended by itself. */
export function endLeg(turn: Turn, name: string, cause: Cause): void {
  const { call } = turn;
  const leg = call.legs[name];
  if (!leg || !isAlive(leg)) return;
  const { state } = leg;
  leg.state = 'over';
  turn.act({ type: 'stop_timer', timer: `key:${name}` });
  if (name === TRANSFER && state === 'ringing') return failTransfer(turn);
  if (name === FALLBACK) return endFallback(turn);
  if (state === 'connected') return endTalk(turn, 'buyer');
  const event: CallEvent = state === 'ringing' ? describeFailure(cause) : { event: 'no_answer' };
  const trunk = leg.trunks.at(-1);
  if (event.event === 'failed' && trunk !== undefined) event.trunk = trunk;
  turn.act({ type: 'report', event: { ...event, attempt: name } });
}

/** Ends a call that a buyer had, by a side that has hung up or by the adapter. */
export function endTalk(turn: Turn, by: 'caller' | 'buyer' | 'switch'): void {
  const duration = countTalk(turn.call, turn.now);
  turn.act({
    type: 'report',
    event: { event: 'completed', by, ...(duration !== undefined && { duration }) },
  });
  endCall(turn);
}

/** Lets go of all that is left of a call. */
export function endCall(turn: Turn): void {
  const { call } = turn;
  if (call.phase === 'over') return;
  if (call.transfer) failTransfer(turn);
  dropOthers(turn);
  call.phase = 'over';
  turn.act({ type: 'stop_timer', timer: 'max' });
  turn.act({ type: 'hang_up', channel: call.channel });
  turn.act({ type: 'forget' });
}

/** Reports the end of a message, voicemail or other number, and ends the call. */
export function endFallback(turn: Turn): void {
  const { fallback } = turn.call;
  if (!fallback) return;
  const duration = Math.max(0, Math.round((turn.now - fallback.since) / 1000));
  turn.act({ type: 'report', event: { event: 'fallback_ended', duration } });
  endCall(turn);
}

export function failTransfer(turn: Turn): void {
  const { transfer } = turn.call;
  if (!transfer) return;
  delete turn.call.transfer;
  const failure = `${transfer.number} did not answer`;
  turn.act({ type: 'result', command_id: transfer.command_id, ...toResult(failure) });
}

/** The number to which the caller is to be sent has answered: the buyer is let go. */
export function transferTo(turn: Turn): void {
  const { call } = turn;
  const leg = call.legs[TRANSFER];
  if (leg?.state !== 'ringing' || !call.transfer || call.taker === undefined) return;
  const { command_id, number } = call.transfer;
  const former = call.taker;
  leg.state = 'connected';
  call.taker = TRANSFER;
  delete call.transfer;
  turn.act({ type: 'connect', leg: TRANSFER, drop: former });
  dropLeg(turn, former);
  turn.act({ type: 'report', event: { event: 'transferred', by: 'switch', number } });
  turn.act({ type: 'result', command_id, ...toResult() });
}
