import type { Call } from './calls';
import { countSeconds, refresh, report, type Edges } from './edges';
import { keepPlayed, playInTurn, readPlayed } from './keys';
import { buildRecordingPath } from './work';
import type { Command } from '../service/service';

// Commands of the service, carried out by the event socket. Each returns why it failed.

const DIGITS = /^[\dA-D*#w]+$/i;

export async function carryOut(command: Command, on: Edges): Promise<string | undefined> {
  const call = on.calls.findByCommand(command);
  if (!call || call.phase === 'over')
    return command.command === 'hang_up' && call ? undefined : 'no such call';
  switch (command.command) {
    case 'hang_up':
      return hangUp(call, on);
    case 'refresh':
      return bringUpToDate(call, on);
    case 'stop_leg':
      return stopLeg(call, command, on);
    case 'play_keys':
      return playInTurn(call, () => playKeys(call, command, on));
    case 'start_recording':
      return startRecording(call, on);
    default:
      return 'this switch does not know the command';
  }
}

/** Ends a call that has ended at the service. */
export async function hangUp(call: Call, { socket }: Edges): Promise<undefined> {
  const { phase } = call;
  // Its end, which FreeSWITCH says at once, is not reported.
  call.phase = 'over';
  try {
    await socket.api(`uuid_kill ${call.channel}`);
  } catch (error) {
    call.phase = phase;
    throw error;
  }
  return undefined;
}

async function bringUpToDate(call: Call, on: Edges): Promise<string | undefined> {
  if ((await refresh(call, on)) === 'unreachable') return 'the service did not answer';
  const { action, dial, attempt, key_presses } = call.session!.instruction;
  if (action === 'hang_up' && call.phase !== 'fallback') return hangUp(call, on);
  const { leg } = call;
  if (!leg) return undefined;
  if (action === 'connect' && attempt === leg.attempt && leg.state === 'taken') {
    for (const { id, digits } of key_presses)
      await playInTurn(call, () => playOnce(call, { id, digits }, on));
    return undefined;
  }
  const isWanted = dial.some((buyer) => buyer.attempt === leg.attempt) || attempt === leg.attempt;
  // FreeSWITCH asks what to do then.
  if (leg.state === 'ringing' && !isWanted) await on.socket.api(`uuid_kill ${leg.channel}`);
  return undefined;
}

/** The end of the leg is reported when FreeSWITCH says it. */
async function stopLeg(
  call: Call,
  { attempt }: Command,
  { socket }: Edges,
): Promise<string | undefined> {
  const { leg } = call;
  if (leg?.attempt !== attempt || leg?.state !== 'ringing') return 'it does not ring';
  await socket.api(`uuid_kill ${leg.channel}`);
  return undefined;
}

async function playKeys(
  call: Call,
  { id, digits, key_press_id }: Command,
  on: Edges,
): Promise<string | undefined> {
  if (call.leg?.state !== 'taken' || digits === null) return 'no buyer has the call';
  if (key_press_id !== null) return playOnce(call, { id: key_press_id, digits }, on);
  // It was carried out before, and its result was lost.
  return on.journal.carry(id) ? sendKeys(call, digits, on) : undefined;
}

/** Plays keys unless they, or later ones, were played before. */
async function playOnce(
  call: Call,
  { id, digits }: { id: number; digits: string },
  on: Edges,
): Promise<string | undefined> {
  if (id <= (await readPlayed(call, on))) return undefined;
  await keepPlayed(call, id, on);
  return sendKeys(call, digits, on);
}

async function sendKeys(
  { leg }: Call,
  digits: string,
  { socket }: Edges,
): Promise<string | undefined> {
  if (!DIGITS.test(digits)) return 'these are no keys';
  await socket.api(`uuid_send_dtmf ${leg!.channel} ${digits}`);
  return undefined;
}

async function startRecording(
  { leg, session }: Call,
  { socket, settings }: Edges,
): Promise<string | undefined> {
  if (leg?.state !== 'taken' || !session) return 'no buyer has the call';
  if (leg.record) return undefined;
  leg.record = true;
  const path = buildRecordingPath('talk', session.uuid, settings.recordings_dir);
  await socket.api(`uuid_record ${leg.channel} start ${path}`);
  return undefined;
}

/**
 * Ends calls whose channels FreeSWITCH no longer has, and of which it did not say so: those that
 * were missing before already. Returns those that are missing.
 */
export async function endMissing(before: ReadonlySet<Call>, on: Edges): Promise<Set<Call>> {
  const missing = new Set<Call>();
  for (const call of on.calls.list()) {
    if ((await on.socket.api(`uuid_exists ${call.channel}`)) === 'true') continue;
    missing.add(call);
    if (before.has(call)) endCall(call, on);
  }
  return missing;
}

function endCall(call: Call, on: Edges): void {
  on.calls.remove(call.channel);
  if (call.phase === 'over') return;
  const isFallback = call.phase === 'fallback';
  call.phase = 'over';
  const duration = countSeconds(call.fallback_since ?? Date.now(), Date.now());
  void report(
    call,
    isFallback ? { event: 'fallback_ended', duration } : { event: 'completed', by: 'switch' },
    on,
  );
}
