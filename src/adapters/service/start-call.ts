import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refused, type Service, type Session } from './service';
import type { Syncing } from './sync';

// A call that has come in, as the service is asked about it.

/** `call_sid` has no more characters. */
const MAX_SID = 100;
/** How long a caller waits for the service before the overflow: the second request is the same. */
const TRY_TIMEOUTS_MS = [3_000, 2_000];
const PAUSE_MS = 300;

/** The Call-ID of SIP, by which all name the call; else the name that the switch has for it. */
export const buildSid = (callId: string | undefined, channel: string): string =>
  callId && callId.length <= MAX_SID ? callId : channel;

export interface Caller {
  sid: string;
  number_called: string;
  caller_number: string | null;
  /** Headers of the INVITE that are passed on. */
  headers: Record<string, string>;
}

export type Start =
  | { type: 'session'; session: Session }
  /** The service does not take the call: the number called is not one of its own. */
  | { type: 'unknown_number' }
  | { type: 'unreachable' };

export interface StartEdges {
  service: Pick<Service, 'startCall'>;
  sync: Pick<Syncing, 'gate'>;
  log: Logger;
}

/** Asks the service what to do with a caller. */
export async function startCall(
  { sid, number_called, caller_number, headers }: Caller,
  { service, sync, log }: StartEdges,
): Promise<Start> {
  await sync.gate();
  const { Diversion: diversion, ...others } = headers;
  const sip = { headers: others, ...(diversion !== undefined && { diversion }) };
  const body = {
    ...{ number_called, caller_number, call_sid: sid },
    ...(Object.keys(headers).length > 0 && { sip }),
  };
  for (const [index, timeout] of TRY_TIMEOUTS_MS.entries()) {
    if (index > 0) await sleep(PAUSE_MS);
    try {
      return { type: 'session', session: await service.startCall(body, { timeout_ms: timeout }) };
    } catch (error) {
      log.warn({ err: error, sid }, 'the service did not take a call');
      if (error instanceof Refused) return { type: 'unknown_number' };
    }
  }
  return { type: 'unreachable' };
}
