import { AriFault, type Ari, type Bridge, type Channel } from './ari/ari';
import {
  buildBridge,
  buildLegChannel,
  FALLBACK,
  type Call,
  type Input,
  type Leg,
} from './call/call';
import { PLAYED_VARIABLE } from './perform';
import { buildRecording } from '../service/recordings';
import type { Session } from '../service/service';
import { buildSid, startCall, type StartEdges } from '../service/start-call';
import type { AsteriskSettings } from './settings';

// A call that has come in, or that is there when this process starts.

export interface BeginEdges extends StartEdges {
  ari: Ari;
  settings: Pick<AsteriskSettings, 'headers'>;
}

/** The Call-ID of SIP, by which all name the call; else the name that Asterisk has for it. */
export async function readSid(channel: string, ari: Ari): Promise<string> {
  const callId = await readVariable('CHANNEL(pjsip,call-id)', channel, ari);
  return buildSid(callId, channel);
}

/** A variable or function of a channel; undefined where it has none. */
export async function readVariable(
  variable: string,
  channel: string,
  ari: Ari,
): Promise<string | undefined> {
  const path = `/channels/${channel}/variable`;
  try {
    const answer = await ari.ask<{ value: string }>({ method: 'GET', path, query: { variable } });
    return answer.value === '' ? undefined : answer.value;
  } catch (error) {
    if (error instanceof AriFault) return undefined;
    throw error;
  }
}

/** Asks the service what to do with a caller. */
export async function beginCall(
  channel: Channel,
  sid: string,
  edges: BeginEdges,
): Promise<Input[]> {
  const { ari, settings } = edges;
  const headers = await Promise.all(
    settings.headers.map(async (name) => [
      name,
      await readVariable(`PJSIP_HEADER(read,${name})`, channel.id, ari),
    ]),
  );
  const caller = {
    ...{ sid, number_called: channel.dialplan.exten, caller_number: channel.caller.number || null },
    headers: Object.fromEntries(headers.filter(([, value]) => value !== undefined)),
  };
  return [await startCall(caller, edges)];
}

/** Everything that Asterisk has. */
export interface Live {
  channels: Channel[];
  bridges: Bridge[];
}

export const listLive = async (ari: Ari): Promise<Live> => ({
  channels: await ari.ask({ method: 'GET', path: '/channels' }),
  bridges: await ari.ask({ method: 'GET', path: '/bridges' }),
});

/** Adds to a session what Asterisk has of its call, for one that was there before this process. */
export async function restore(
  inputs: Input[],
  { channel, live, ari }: { channel: Channel; live: Live; ari: Ari },
): Promise<Input[]> {
  const answer = inputs.find((input) => input.type === 'session');
  if (!answer) return inputs;
  const { session } = answer;
  const playedId = Number((await readVariable(PLAYED_VARIABLE, channel.id, ari)) ?? 0);
  const call = {
    ...readLive(session, channel, live),
    ...(await readVoicemail(session, ari)),
    played_id: playedId,
  };
  const isGone = session.instruction.action === 'connect' && call.taker === undefined;
  return isGone
    ? [{ type: 'restored', call: { uuid: session.uuid } }, { type: 'buyer_gone' }]
    : [{ type: 'restored', call }, ...inputs];
}

/** Pure: the state of a call by its session, its channels and its bridge. */
export function readLive(session: Session, channel: Channel, live: Live): Partial<Call> {
  const { uuid, instruction } = session;
  const bridge = live.bridges.find(({ id }) => id === buildBridge(uuid));
  const legs: Record<string, Leg> = {};
  const attempts = instruction.dial.map(({ attempt }) => attempt);
  for (const name of [...attempts, instruction.attempt ?? '', FALLBACK]) {
    const id = buildLegChannel(name, { uuid });
    const leg = live.channels.find(
      (candidate) => candidate.id === id || candidate.id.startsWith(`${id}-`),
    );
    if (!leg) continue;
    const settings = instruction.dial.find(({ attempt }) => attempt === name);
    const isTalking = bridge?.channels.includes(leg.id) && bridge.channels.includes(channel.id);
    const rest = leg.state === 'Up' ? 'answered' : 'ringing';
    legs[name] = {
      ...{ channel: leg.id, state: isTalking ? 'connected' : rest, tones: null, record: false },
      press_one: settings?.press_one_to_accept ?? false,
      trunks: settings?.trunk ? [settings.trunk.name] : [],
    };
  }
  const taker = Object.keys(legs).find((name) => legs[name]!.state === 'connected');
  const isAnswered = channel.state === 'Up';
  const since = bridge ? Date.parse(bridge.creationtime) : Date.now();
  return {
    ...{ uuid, legs, is_answered: isAnswered, was_greeted: isAnswered },
    ...(taker !== undefined && { taker, connected_at: since, phase: 'connected' }),
    ...(legs[FALLBACK] && {
      phase: 'fallback',
      fallback: { type: 'number', since, is_recording: false },
    }),
  };
}

async function readVoicemail({ uuid }: Session, ari: Ari): Promise<Partial<Call>> {
  const path = `/recordings/live/${buildRecording('voicemail', uuid)}`;
  try {
    await ari.ask({ method: 'GET', path });
  } catch (error) {
    if (error instanceof AriFault) return {};
    throw error;
  }
  return {
    phase: 'fallback',
    fallback: { type: 'voicemail', since: Date.now(), is_recording: true },
  };
}
