import type { Schemas } from '../../../platform/contract/contract-document';
import type { Cause } from '../../service/failures';
import type { CallEvent, Command, DialBuyer, Result } from '../../service/service';
import type { Start } from '../../service/start-call';

// A call as the adapter sees it, the facts that change it, and what is then to be done.

export type LegState =
  | 'ringing'
  | 'answered'
  /** Hears the prompt, or is to press a key. */
  | 'prompted'
  /** Has pressed a key, which was reported. */
  | 'pressed'
  | 'connected'
  | 'over';

/** A telephone that is rung for the caller: of an attempt, or one of these names. */
export interface Leg {
  /** Its channel in Asterisk. */
  channel: string;
  state: LegState;
  press_one: boolean;
  tones: string | null;
  record: boolean;
  /** The trunks that it was dialed through, the present one last; empty where there is none. */
  trunks: string[];
}

/** Names of legs that are of no attempt. */
export const FALLBACK = 'fallback';
export const TRANSFER = 'transfer';

export type Phase =
  /** The person who is called has not answered, or a machine is looked for. */
  | 'calling'
  | 'detecting'
  /** The caller waits, and hears the greeting first. */
  | 'greeting'
  | 'dialing'
  | 'connected'
  | 'fallback'
  | 'over';

export interface Call {
  /** `call_sid`. */
  sid: string;
  /** Absent until the service knows the call. */
  uuid?: string;
  /** The channel of the caller, or of the person who was called. */
  channel: string;
  is_outbound: boolean;
  /** The caller's side of the line is up. */
  is_answered: boolean;
  phase: Phase;
  /** By attempt or name. */
  legs: Record<string, Leg>;
  /** The leg that the caller talks to. */
  taker?: string;
  /** When the buyer took the call, in ms. */
  connected_at?: number;
  is_recorded: boolean;
  /** Who is dialed after the greeting. */
  after_greeting: DialBuyer[];
  was_greeted: boolean;
  /** The last key press that was played. */
  played_id: number;
  fallback?: { type: Schemas['FallbackType']; since: number; is_recording: boolean };
  /** A transfer that waits for its answer. */
  transfer?: { command_id: number; number: string };
}

/** A call that has come in. */
export const buildCall = (channel: string, more: Partial<Call> = {}): Call => ({
  sid: channel,
  channel,
  is_outbound: false,
  is_answered: false,
  phase: 'dialing',
  legs: {},
  is_recorded: false,
  after_greeting: [],
  was_greeted: false,
  played_id: 0,
  ...more,
});

/** When a machine is to be distinguished from a person: at once, or when its greeting has ended. */
export type Detection = 'at_once' | 'for_message';
export type Playback = 'greeting' | 'prompt' | 'message';

export type Input =
  | { type: 'named'; sid: string }
  /** Found in Asterisk by a process that has just started. */
  | { type: 'restored'; call: Partial<Call> }
  /** The buyer has hung up while this process was not there. */
  | { type: 'buyer_gone' }
  /** The answer of the service; none makes it `unreachable`. */
  | Start
  | { type: 'leg_ringing' | 'leg_up'; leg: string }
  | { type: 'leg_over'; leg: string; cause: Cause }
  | { type: 'key'; leg: string; key: string }
  | { type: 'played'; playback: Playback }
  | { type: 'recorded' }
  | { type: 'person_ringing' }
  | { type: 'person_up'; detect: Detection | undefined }
  | { type: 'detected'; answered_by: Schemas['AnsweredBy'] }
  | { type: 'caller_over'; cause: Cause }
  | { type: 'held'; by: 'caller' | 'buyer'; is_held: boolean }
  | { type: 'time_is_up'; timer: Timer }
  | { type: 'command'; command: Command }
  /** It has ended at the service. */
  | { type: 'ended' };

/** Names of timers of a call; those of keys have their leg. */
export type Timer = 'max' | `key:${string}`;

export type Action =
  | { type: 'report'; event: CallEvent }
  | { type: 'ring' | 'answer' | 'overflow' | 'refresh' | 'forget' }
  | { type: 'detect'; detect: Detection }
  | ({ type: 'dial'; leg: string } & Dialing)
  | { type: 'hang_up'; channel: string }
  | { type: 'refuse'; status: number }
  | { type: 'play'; channel: string; playback: Playback; text: string | null }
  | { type: 'stop_playing'; channel: string; playback: Playback }
  | { type: 'connect'; leg: string; drop?: string | undefined }
  | { type: 'record_talk' | 'record_voicemail' }
  | { type: 'play_keys'; channel: string; digits: string; id?: number | undefined }
  | { type: 'start_timer'; timer: Timer; seconds: number }
  | { type: 'stop_timer'; timer: Timer }
  | ({ type: 'result'; command_id: number } & Result);

export interface Dialing {
  number: string;
  caller_id: string | null;
  seconds: number;
  trunk: DialBuyer['trunk'];
  headers: Record<string, string>;
}

export interface Decision {
  call: Call;
  actions: Action[];
}

/** A call that is being decided about: its next state, and what is to be done. */
export interface Turn {
  call: Call;
  now: number;
  act(action: Action): void;
}

export const isAlive = ({ state }: Leg): boolean => state !== 'over';

/** Legs by name that have not ended. */
export const listLegs = ({ legs }: Call): [string, Leg][] =>
  Object.entries(legs).filter(([, leg]) => isAlive(leg));

/** Whole seconds since the buyer took the call; undefined if none has. */
export const countTalk = ({ connected_at }: Call, now: number): number | undefined =>
  connected_at === undefined ? undefined : Math.max(0, Math.round((now - connected_at) / 1000));

export const buildLegChannel = (leg: string, { uuid }: Pick<Call, 'uuid'>): string =>
  leg === FALLBACK || leg === TRANSFER ? `tl-${leg}-${uuid}` : `tl-leg-${leg}`;
/** The channel of a leg that is dialed again, through another trunk. */
export const buildNextChannel = (first: string, trunks: readonly string[]): string =>
  trunks.length > 1 ? `${first}-${trunks.length}` : first;
export const buildPersonChannel = (uuid: string): string => `tl-person-${uuid}`;
export const buildBridge = (uuid: string): string => `tl-${uuid}`;
