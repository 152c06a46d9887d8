import type { Command, Session } from '../service/service';

// A call as the adapter sees it. FreeSWITCH keeps in variables what another process would need.

export type LegState =
  | 'ringing'
  | 'answered'
  /** Is to press a key. */
  | 'prompted'
  /** Is connected to the caller, or about to be. */
  | 'taken'
  /** Its end is reported. */
  | 'over';

/** The telephone that is rung for the caller. */
export interface Leg {
  attempt: string;
  /** The uuid that FreeSWITCH has for it. */
  channel: string;
  trunk: string | null;
  state: LegState;
  press_one: boolean;
  tones: string | null;
  record: boolean;
  /** Ends when its latest request has been answered. */
  pending: Promise<unknown>;
}

export interface Call {
  /** The uuid that FreeSWITCH has for the caller's channel. */
  channel: string;
  /** `call_sid`. */
  sid: string;
  /** The latest answer of the service. */
  session?: Session;
  leg?: Leg;
  /** Attempts that were dialed, each with its trunk. */
  dialed: Set<string>;
  /** `over`: nothing about it is reported any more. */
  phase: 'dialing' | 'fallback' | 'over';
  /** When the fallback began, in ms. */
  fallback_since?: number;
  was_greeted: boolean;
  /** Ends when the keys that were given so far are played. */
  keys: Promise<unknown>;
  /** How often there was no buyer to dial. */
  idle_count: number;
}

export const buildCall = (channel: string, sid: string): Call => ({
  ...{ channel, sid, dialed: new Set(), phase: 'dialing', was_greeted: false },
  ...{ keys: Promise.resolve(), idle_count: 0 },
});

export const nameDialing = (attempt: string, trunk: string | null): string =>
  `${attempt} ${trunk ?? ''}`;

export type Calls = ReturnType<typeof createCalls>;

/** The calls of this process, by the channel of the caller. */
export function createCalls() {
  const calls = new Map<string, Call>();
  return {
    list: (): Call[] => [...calls.values()],
    find: (channel: string): Call | undefined => calls.get(channel),
    findByCommand: ({ call_uuid, call_sid }: Command): Call | undefined =>
      [...calls.values()].find(
        ({ sid, session }) => session?.uuid === call_uuid || sid === call_sid,
      ),
    add: (call: Call): Call => {
      calls.set(call.channel, call);
      return call;
    },
    remove: (channel: string): void => void calls.delete(channel),
  };
}
