import type { Logger } from 'pino';
import { APP, AriFault, type Ari, type Channel } from './ari/ari';
import { buildBridge, type Action, type Call, type Playback } from './call/call';
import { findMedia } from './media';
import { buildHeaders, type AsteriskSettings } from './settings';
import { buildEndpoint, buildTrunkEndpoint } from '../service/dialing';
import { buildRecording } from '../service/recordings';

// Decisions, carried out in Asterisk.

export interface Performing {
  ari: Ari;
  settings: AsteriskSettings;
  log: Logger;
  /** Nothing will be heard of a playback that could not begin. */
  endPlayback(channel: string, playback: Playback): void;
  /** The dialplan gets the caller. */
  followOverflow(channel: Channel): Promise<void>;
  /** Nothing will be heard of a leg that could not be dialed. */
  endLeg(leg: string): void;
}

export const OVERFLOW_CONTEXT = 'trunkline-overflow';
const REFUSE_CONTEXT = 'trunkline-refuse';
const DETECT_CONTEXT = 'trunkline-detect';
/** Where the channels have it, the last key press that was played: it outlives this process. */
export const PLAYED_VARIABLE = 'TRUNKLINE_PLAYED';
const MAX_VOICEMAIL_SECONDS = '300';
const MAX_SILENCE_SECONDS = '10';

/** Actions that Asterisk carries out; the others are of the actor. */
export type AsteriskAction = Exclude<
  Action,
  { type: 'report' | 'refresh' | 'forget' | 'start_timer' | 'stop_timer' | 'result' }
>;

/** Carries out an action. What is gone is left alone: its end comes as an event. */
export async function perform(action: AsteriskAction, call: Call, on: Performing): Promise<void> {
  try {
    await run(action, call, on);
  } catch (error) {
    on.log.warn(
      { err: error, call_uuid: call.uuid, action: action.type },
      'Asterisk did not do it',
    );
    if (action.type === 'dial') on.endLeg(action.leg);
    if (action.type === 'play') on.endPlayback(action.channel, action.playback);
  }
}

async function run(action: AsteriskAction, call: Call, on: Performing): Promise<void> {
  const { ari } = on;
  const caller = `/channels/${call.channel}`;
  switch (action.type) {
    case 'ring':
    case 'answer':
      return ari.ask({ method: 'POST', path: `${caller}/${action.type}` });
    case 'dial':
      return dial(action, call, on);
    case 'hang_up':
      return hangUp(action.channel, ari);
    case 'refuse':
      return leave(call, { context: REFUSE_CONTEXT, extension: String(action.status) }, ari);
    case 'overflow':
      return overflow(call, on);
    case 'detect':
      return leave(call, { context: DETECT_CONTEXT, extension: action.detect }, ari);
    case 'play':
      // Speech takes its time to be made: the call goes on meanwhile.
      void play(action, on);
      return;
    case 'stop_playing':
      return quietly(ari.ask({ method: 'DELETE', path: `/playbacks/${buildPlayback(action)}` }));
    case 'connect':
      return connect(action, call, ari);
    case 'record_talk':
      return record(`/bridges/${buildBridge(call.uuid!)}/record`, 'talk', call, ari);
    case 'record_voicemail':
      return record(`${caller}/record`, 'voicemail', call, ari);
    case 'play_keys':
      return playKeys(action, call, ari);
  }
}

/** A fault of what has gone meanwhile says nothing new. */
async function quietly(asking: Promise<unknown>): Promise<void> {
  await asking.catch((error: unknown) => {
    if (!(error instanceof AriFault)) throw error;
  });
}

async function dial(
  { leg, number, caller_id, seconds, trunk, headers }: Extract<AsteriskAction, { type: 'dial' }>,
  call: Call,
  { ari, settings }: Performing,
): Promise<void> {
  const endpoint = trunk ? buildTrunkEndpoint(trunk, settings) : buildEndpoint(number, settings);
  if (endpoint === undefined) throw new Error('this is no number that can be dialed');
  const { channel: channelId } = call.legs[leg]!;
  try {
    await ari.ask({
      ...{ method: 'POST', path: '/channels' },
      query: {
        ...{ endpoint, channelId, app: APP, appArgs: 'leg', originator: call.channel },
        ...{ timeout: String(seconds), callerId: caller_id ?? 'anonymous' },
      },
      body: {
        variables: {
          ...(caller_id === null && { 'CALLERID(pres)': 'prohib' }),
          ...buildHeaders(headers),
        },
      },
    });
  } catch (error) {
    // It was dialed by a request whose answer was lost.
    if (!(error instanceof AriFault && error.status === 409)) throw error;
  }
}

const hangUp = (channel: string, ari: Ari): Promise<void> =>
  quietly(ari.ask({ method: 'DELETE', path: `/channels/${channel}` }));

async function overflow(call: Call, { ari, log, followOverflow }: Performing): Promise<void> {
  try {
    await followOverflow(await ari.ask({ method: 'GET', path: `/channels/${call.channel}` }));
  } catch (error) {
    // The caller matters more than the report.
    log.warn({ err: error, sid: call.sid }, 'the end of a call that overflows will not be known');
  }
  await leave(call, { context: OVERFLOW_CONTEXT, extension: 's' }, ari);
}

/** Sends the caller back to the dialplan; one for whom it has nothing is hung up on. */
async function leave(call: Call, query: Record<string, string>, ari: Ari): Promise<void> {
  try {
    await ari.ask({ method: 'POST', path: `/channels/${call.channel}/continue`, query });
  } catch (error) {
    await hangUp(call.channel, ari);
    throw error;
  }
}

async function play(
  { channel, playback, text }: Extract<AsteriskAction, { type: 'play' }>,
  { ari, settings, log, endPlayback }: Performing,
): Promise<void> {
  try {
    const media = await findMedia(text, playback, settings);
    if (media === undefined) {
      log.warn({ playback }, 'a text was not played: there is no program that speaks');
      return endPlayback(channel, playback);
    }
    const path = `/channels/${channel}/play`;
    const query = { media, playbackId: buildPlayback({ channel, playback }) };
    await ari.ask({ method: 'POST', path, query });
  } catch (error) {
    log.warn({ err: error, playback }, 'a text was not played');
    endPlayback(channel, playback);
  }
}

interface Played {
  channel: string;
  playback: Playback;
}

const buildPlayback = ({ channel, playback }: Played): string => `tl-${playback}-${channel}`;

/** The channel and the kind in the id of a playback; undefined for one of somebody else. */
export function readPlayback(id: string): Played | undefined {
  const [, playback, channel] = /^tl-(greeting|prompt|message)-(.+)$/.exec(id) ?? [];
  return channel === undefined ? undefined : { channel, playback: playback as Playback };
}

async function connect(
  { leg, drop }: Extract<AsteriskAction, { type: 'connect' }>,
  call: Call,
  ari: Ari,
): Promise<void> {
  const bridge = `/bridges/${buildBridge(call.uuid!)}`;
  const member = call.legs[leg]!.channel;
  if (drop !== undefined) {
    const channel = call.legs[drop]!.channel;
    await quietly(ari.ask({ method: 'POST', path: `${bridge}/removeChannel`, query: { channel } }));
    await ari.ask({ method: 'POST', path: `${bridge}/addChannel`, query: { channel: member } });
    return;
  }
  await ari.ask({ method: 'POST', path: bridge, query: { type: 'mixing' } });
  const channel = `${call.channel},${member}`;
  await ari.ask({ method: 'POST', path: `${bridge}/addChannel`, query: { channel } });
}

async function record(
  path: string,
  kind: 'talk' | 'voicemail',
  { uuid }: Call,
  ari: Ari,
): Promise<void> {
  const isMail = kind === 'voicemail';
  const query = {
    ...{ name: buildRecording(kind, uuid!), format: 'wav', ifExists: 'fail' },
    ...(isMail && { maxDurationSeconds: MAX_VOICEMAIL_SECONDS, beep: 'true', terminateOn: '#' }),
    ...(isMail && { maxSilenceSeconds: MAX_SILENCE_SECONDS }),
  };
  await quietly(ari.ask({ method: 'POST', path, query }));
}

/** A pause before the next tones: `w` half a second, `W` a whole one. */
const PAUSES: Record<string, number> = { w: 500, W: 1000 };

async function playKeys(
  { channel, digits, id }: Extract<AsteriskAction, { type: 'play_keys' }>,
  { channel: caller }: Call,
  ari: Ari,
): Promise<void> {
  if (id !== undefined) {
    // Before they are played: rather not than twice.
    const query = { variable: PLAYED_VARIABLE, value: String(id) };
    await ari.ask({ method: 'POST', path: `/channels/${caller}/variable`, query });
  }
  let before = 0;
  for (const part of digits.match(/[wW]+|[^wW]+/g) ?? []) {
    const pause = [...part].reduce((sum, tone) => sum + (PAUSES[tone] ?? 0), 0);
    before += pause;
    if (pause > 0) continue;
    const query = { dtmf: part, before: String(before) };
    await ari.ask({ method: 'POST', path: `/channels/${channel}/dtmf`, query });
    before = 0;
  }
}
