import type { Logger } from 'pino';
import type { Call, Calls } from './calls';
import type { FreeswitchSettings } from './settings';
import type { EventSocket } from './socket/event-socket';
import type { Journal } from '../service/journal';
import type { Reports } from '../service/reports';
import { readSession, type CallEvent, type Service } from '../service/service';
import type { Syncing } from '../service/sync';

/** All that the handling of a call needs. */
export interface Edges {
  calls: Calls;
  service: Service;
  reports: Reports;
  sync: Pick<Syncing, 'gate'>;
  journal: Journal;
  settings: FreeswitchSettings;
  /** The connection of the moment. */
  socket: Pick<EventSocket, 'api'>;
  log: Logger;
}

/** The call has its answer in `session`; or there is none yet. */
export type Outcome = 'answered' | 'unreachable';

/** Reports an event. It is sent until it has an answer, also where this returns before. */
export function report(call: Call, event: CallEvent, on: Edges): Promise<Outcome> {
  const { sid, session } = call;
  const id = session?.uuid ?? `sid:${sid}`;
  const path = `/call_sessions/${encodeURIComponent(id)}/events`;
  const { event: kind, attempt, duration, sip_code, q850 } = event;
  on.log.info({ sid, event: kind, attempt, duration, sip_code, q850 }, 'reported');
  return new Promise((done) => {
    on.reports.send(
      { of: sid, path, body: event },
      {
        answered: (answer) => {
          call.session = readSession(answer);
          done('answered');
        },
        // The service has gone on without it.
        refused: () => void refresh(call, on).then(done),
        unreachable: () => done('unreachable'),
      },
    );
  });
}

/** Asks the service how the call goes on. */
export async function refresh(call: Call, { service, log }: Edges): Promise<Outcome> {
  try {
    call.session = await service.readCall(call.session?.uuid ?? `sid:${call.sid}`);
    return 'answered';
  } catch (error) {
    log.warn({ err: error, sid: call.sid }, 'the service does not say how the call goes on');
    return 'unreachable';
  }
}

/** Whole seconds, from one instant in ms to another. */
export const countSeconds = (from: number, to: number): number =>
  Math.max(0, Math.round((to - from) / 1000));
