import {
  FALLBACK,
  listLegs,
  TRANSFER,
  type Call,
  type Decision,
  type Detection,
  type Input,
  type Turn,
} from './call';
import { describeFailure, type Cause } from '../../service/failures';
import { toResult, type CallEvent, type Command } from '../../service/service';
import { endMessage, follow, refuse } from './follow';
import {
  answerLeg,
  awaitKeys,
  connectLeg,
  dialAll,
  dialNumber,
  dropLeg,
  endCall,
  endFallback,
  endLeg,
  endTalk,
  giveUpKey,
  pressKey,
  recordTalk,
  transferTo,
} from './legs';

/** Decides what a fact means for a call: its next state, and what is to be done. Pure. */
export function step(call: Call, input: Input, now: number): Decision {
  const decision: Decision = { call: structuredClone(call), actions: [] };
  const turn: Turn = {
    ...{ call: decision.call, now },
    act: (action) => void decision.actions.push(action),
  };
  if (call.phase !== 'over') take(turn, input);
  else if (input.type === 'command')
    answer(turn, input.command, input.command.command === 'hang_up' ? undefined : 'it has ended');
  return decision;
}

function take(turn: Turn, input: Input): void {
  const { call } = turn;
  switch (input.type) {
    case 'named':
      call.sid = input.sid;
      return;
    case 'restored':
      Object.assign(call, input.call);
      return;
    case 'buyer_gone':
      return endTalk(turn, 'buyer');
    case 'session':
      return follow(turn, input.session);
    case 'unreachable':
      return goOnAlone(turn);
    case 'unknown_number':
      return refuse(turn, NOT_FOUND);
    case 'leg_ringing':
      return report(turn, input.leg, 'ringing');
    case 'leg_up':
      return answerAny(turn, input.leg);
    case 'leg_over':
      return endLeg(turn, input.leg, input.cause);
    case 'key':
      return pressKey(turn, input.leg, input.key);
    case 'played':
      return endPlayback(turn, input.playback);
    case 'recorded':
      return call.fallback?.is_recording ? endFallback(turn) : undefined;
    case 'person_ringing':
      return turn.act({ type: 'report', event: { event: 'ringing' } });
    case 'person_up':
      return answerPerson(turn, input.detect);
    case 'detected':
      return reportPerson(turn, { event: 'answered', answered_by: input.answered_by });
    case 'caller_over':
      return endCaller(turn, input.cause);
    case 'held':
      return reportHold(turn, input);
    case 'time_is_up':
      return input.timer === 'max'
        ? endInTime(turn)
        : giveUpKey(turn, input.timer.slice('key:'.length));
    case 'command':
      return obey(turn, input.command);
    case 'ended':
      return call.phase === 'fallback' ? undefined : endCall(turn);
  }
}

const NOT_FOUND = 404;

function report(turn: Turn, attempt: string, event: 'ringing'): void {
  const leg = turn.call.legs[attempt];
  if (leg?.state !== 'ringing' || attempt === FALLBACK || attempt === TRANSFER) return;
  turn.act({ type: 'report', event: { event, attempt, leg_sid: leg.channel } });
}

function answerAny(turn: Turn, name: string): void {
  const { call } = turn;
  if (name === TRANSFER) return transferTo(turn);
  if (name !== FALLBACK) return answerLeg(turn, name);
  const leg = call.legs[FALLBACK];
  if (leg?.state !== 'ringing') return;
  leg.state = 'connected';
  if (!call.is_answered) turn.act({ type: 'answer' });
  Object.assign(call, { is_answered: true, taker: FALLBACK });
  turn.act({ type: 'connect', leg: FALLBACK });
}

function endPlayback(turn: Turn, playback: Extract<Input, { type: 'played' }>['playback']): void {
  const { call } = turn;
  if (playback === 'prompt') return awaitKeys(turn);
  if (playback === 'message' && call.phase === 'fallback') return endMessage(turn);
  if (playback !== 'greeting' || call.phase !== 'greeting') return;
  call.phase = 'dialing';
  const buyers = call.after_greeting;
  call.after_greeting = [];
  dialAll(turn, buyers);
}

function answerPerson(turn: Turn, detect: Detection | undefined): void {
  if (turn.call.phase !== 'calling') return;
  turn.call.is_answered = true;
  if (!detect) return reportPerson(turn, { event: 'answered' });
  turn.call.phase = 'detecting';
  turn.act({ type: 'detect', detect });
}

function reportPerson(turn: Turn, event: CallEvent): void {
  if (turn.call.phase !== 'calling' && turn.call.phase !== 'detecting') return;
  turn.call.phase = 'dialing';
  turn.act({ type: 'report', event });
}

function reportHold({ call, act }: Turn, { by, is_held }: Extract<Input, { type: 'held' }>): void {
  if (call.phase === 'connected')
    act({ type: 'report', event: { event: is_held ? 'held' : 'resumed', by } });
}

/** The caller has hung up, or the person who was called has not answered. */
function endCaller(turn: Turn, cause: Cause): void {
  const { call } = turn;
  if (call.phase === 'fallback') return endFallback(turn);
  if (call.phase === 'calling') {
    turn.act({ type: 'report', event: describeFailure(cause) });
    return endCall(turn);
  }
  endTalk(turn, 'caller');
}

/** The longest time has passed. */
function endInTime(turn: Turn): void {
  if (turn.call.phase === 'fallback') endFallback(turn);
  else endTalk(turn, 'switch');
}

/**
 * The service does not answer. The first buyer who has accepted gets the caller; where none rings
 * any more, the caller goes to the overflow, and a person who was called is let go.
 */
function goOnAlone(turn: Turn): void {
  const { call } = turn;
  if (call.phase !== 'dialing') return;
  const accepted = listLegs(call).find(
    ([, { state, press_one }]) => state === 'answered' && !press_one,
  );
  if (accepted) return connectLeg(turn, accepted[0], null);
  if (listLegs(call).length > 0) return;
  const event: CallEvent = { event: 'completed', by: 'switch', hangup_cause: 'overflow' };
  turn.act({ type: 'report', event });
  if (call.is_outbound) return endCall(turn);
  call.phase = 'over';
  turn.act({ type: 'overflow' });
  turn.act({ type: 'forget' });
}

/** Carries out a command, and reports its result. */
function obey(turn: Turn, command: Command): void {
  const { call } = turn;
  switch (command.command) {
    case 'hang_up':
      answer(turn, command);
      return endCall(turn);
    case 'refresh':
      turn.act({ type: 'refresh' });
      return answer(turn, command);
    case 'stop_leg':
      if (!stopLeg(turn, command)) return answer(turn, command, 'it does not ring');
      return answer(turn, command);
    case 'play_keys':
      return answer(turn, command, playKeys(turn, command));
    case 'start_recording':
      if (call.phase !== 'connected') return answer(turn, command, 'no buyer has the call');
      recordTalk(turn);
      return answer(turn, command);
    case 'transfer':
      return startTransfer(turn, command);
    default:
      return answer(turn, command, 'this switch does not know the command');
  }
}

function answer(turn: Turn, { id }: Command, failure?: string): void {
  turn.act({ type: 'result', command_id: id, ...toResult(failure) });
}

/** The service has given the buyer up, or learns of it by the event. */
function stopLeg(turn: Turn, { attempt }: Command): boolean {
  const leg = turn.call.legs[attempt ?? ''];
  if (leg?.state !== 'ringing') return false;
  dropLeg(turn, attempt!);
  turn.act({ type: 'report', event: { event: 'no_answer', attempt } });
  return true;
}

/** Returns why keys cannot be played. Those that the instruction has had are not played again. */
function playKeys(turn: Turn, { digits, key_press_id: id }: Command): string | undefined {
  const { call } = turn;
  const leg = call.taker === undefined ? undefined : call.legs[call.taker];
  if (leg?.state !== 'connected' || digits === null) return 'no buyer has the call';
  if (id !== null && id <= call.played_id) return undefined;
  call.played_id = id ?? call.played_id;
  turn.act({ type: 'play_keys', channel: leg.channel, digits, id: id ?? undefined });
  return undefined;
}

const omitLeg = (legs: Call['legs'], name: string): Call['legs'] =>
  Object.fromEntries(Object.entries(legs).filter(([leg]) => leg !== name));

function startTransfer(turn: Turn, command: Command): void {
  const { call } = turn;
  if (call.phase !== 'connected' || command.number === null || call.transfer)
    return answer(turn, command, 'no buyer has the call, or it is being transferred');
  if (call.taker === TRANSFER) return answer(turn, command, 'it was transferred before');
  call.legs = omitLeg(call.legs, TRANSFER);
  call.transfer = { command_id: command.id, number: command.number };
  dialNumber(turn, TRANSFER, command.number);
}
