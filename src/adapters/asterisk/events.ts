import type { AriEvent, Channel } from './ari/ari';
import type { Detection, Input } from './call/call';
import { readPlayback } from './perform';
import { readPersonUuid } from './person';
import { readRecordingUuid } from '../service/recordings';

// Events of Asterisk as facts of calls.

export type ReadEvent =
  /** A caller has come in. */
  | { type: 'caller'; channel: Channel }
  /** A recording has ended, of this channel or of a bridge. */
  | { type: 'recording'; name: string; channel: string | undefined; has_file: boolean }
  /** A fact of the call of a channel: of its caller, or of a leg. */
  | { type: 'fact'; channel: string; read(leg: string | undefined): Input | undefined };

export function readEvent(event: AriEvent): ReadEvent | undefined {
  const { channel } = event;
  switch (event.type) {
    case 'StasisStart':
      return channel && readStart(channel, event.args ?? []);
    case 'StasisEnd':
      return channel && ofChannel(channel, (leg) => readLeaving(channel, leg));
    case 'ChannelDestroyed':
      return channel && ofChannel(channel, (leg) => readEnd(event, leg));
    case 'ChannelStateChange':
      if (channel?.state !== 'Ringing') return undefined;
      return ofChannel(channel, (leg) => readRinging(channel, leg));
    case 'ChannelDtmfReceived':
      return channel && ofChannel(channel, (leg) => readKey(event, leg));
    case 'ChannelHold':
    case 'ChannelUnhold':
      return channel && ofChannel(channel, (leg) => readHold(event, leg));
    case 'PlaybackFinished':
      return readPlaybackEnd(event);
    case 'RecordingFinished':
    case 'RecordingFailed':
      return readRecordingEnd(event);
    default:
      return undefined;
  }
}

const ofChannel = (
  { id }: Channel,
  read: (leg: string | undefined) => Input | undefined,
): ReadEvent => ({ type: 'fact', channel: id, read });

const isPerson = (channel: Channel): boolean => readPersonUuid(channel) !== undefined;

/** By AMDSTATUS; HANGUP and NOTSURE are neither. */
const ANSWERED_BY = { HUMAN: 'human', MACHINE: 'machine' } as const;

/** The dialplan says why a channel comes: `leg`, `person`, `detected`; a caller without a word. */
function readStart(channel: Channel, [reason, detail]: string[]): ReadEvent {
  switch (reason) {
    case 'leg':
      return ofChannel(channel, (leg) => (leg === undefined ? undefined : { type: 'leg_up', leg }));
    case 'person': {
      const detect = detail === '' ? undefined : (detail as Detection | undefined);
      return ofChannel(channel, () => ({ type: 'person_up', detect }));
    }
    case 'detected': {
      const answeredBy = ANSWERED_BY[detail as keyof typeof ANSWERED_BY] ?? 'unknown';
      return ofChannel(channel, () => ({ type: 'detected', answered_by: answeredBy }));
    }
    default:
      return { type: 'caller', channel };
  }
}

/** A caller who leaves has hung up; a person leaves for the detection too. */
function readLeaving(channel: Channel, leg: string | undefined): Input | undefined {
  return leg === undefined && !isPerson(channel) ? { type: 'caller_over', cause: {} } : undefined;
}

function readEnd({ cause, tech_cause }: AriEvent, leg: string | undefined): Input {
  const why = { q850: cause, ...(tech_cause !== undefined && { sip_code: tech_cause }) };
  return leg === undefined
    ? { type: 'caller_over', cause: why }
    : { type: 'leg_over', leg, cause: why };
}

function readRinging(channel: Channel, leg: string | undefined): Input | undefined {
  if (leg !== undefined) return { type: 'leg_ringing', leg };
  return isPerson(channel) ? { type: 'person_ringing' } : undefined;
}

const readKey = ({ digit }: AriEvent, leg: string | undefined): Input | undefined =>
  leg !== undefined && digit !== undefined ? { type: 'key', leg, key: digit } : undefined;

const readHold = ({ type }: AriEvent, leg: string | undefined): Input => ({
  ...{ type: 'held', by: leg === undefined ? 'caller' : 'buyer' },
  is_held: type === 'ChannelHold',
});

function readPlaybackEnd({ playback }: AriEvent): ReadEvent | undefined {
  const played = readPlayback(playback?.id ?? '');
  return (
    played && {
      ...{ type: 'fact', channel: played.channel },
      read: () => ({ type: 'played', playback: played.playback }),
    }
  );
}

function readRecordingEnd({ type, recording }: AriEvent): ReadEvent | undefined {
  if (!recording || readRecordingUuid(recording.name) === undefined) return undefined;
  const channel = /^channel:(.+)$/.exec(recording.target_uri)?.[1];
  const hasFile = type === 'RecordingFinished';
  return { type: 'recording', name: recording.name, channel, has_file: hasFile };
}
