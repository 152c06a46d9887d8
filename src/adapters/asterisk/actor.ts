import type { Logger } from 'pino';
import type { Action, Call, Input, Timer } from './call/call';
import { step } from './call/step';
import type { Reports } from '../service/reports';
import { buildResultPath, readSession, type Service, type CallEvent } from '../service/service';
import type { AsteriskAction } from './perform';

// One actor per call: its facts are handled in their order, the next when all is done that the one
// before has led to.

export interface Actor {
  readonly call: Call;
  take(input: Input): void;
  /** Resolves when all is done that was taken so far. */
  idle(): Promise<void>;
}

export interface ActorEdges {
  service: Pick<Service, 'readCall'>;
  reports: Pick<Reports, 'send'>;
  switch_name: string;
  log: Logger;
  now(): number;
  perform(action: AsteriskAction, call: Call): Promise<void>;
  /** The call is over, or has other legs now. */
  changed(actor: Actor): void;
  forget(actor: Actor): void;
}

/** Facts that come while it begins are handled afterwards. */
export type Begin = () => AsyncIterable<Input>;

export function startActor(call: Call, edges: ActorEdges, begin: Begin): Actor {
  const timers = new Map<Timer, NodeJS.Timeout>();
  let current = call;
  let queue: Promise<void>;
  const actor: Actor = {
    get call() {
      return current;
    },
    take: (input) => {
      queue = queue.then(() => handle(input)).catch(logFault);
    },
    idle: () => queue,
  };
  const logFault = (error: unknown) =>
    edges.log.error({ err: error, sid: current.sid }, 'a step of a call failed');
  const handle = async (input: Input) => {
    const decision = step(current, input, edges.now());
    current = decision.call;
    edges.changed(actor);
    for (const action of decision.actions) await act(action);
  };
  const act = async (action: Action): Promise<void> => {
    switch (action.type) {
      case 'report':
        return report(actor, action.event, edges);
      case 'result':
        return sendResult(actor, action, edges);
      case 'refresh':
        return refresh(actor, edges);
      case 'start_timer':
        clearTimeout(timers.get(action.timer));
        timers.set(
          action.timer,
          setTimeout(
            () => actor.take({ type: 'time_is_up', timer: action.timer }),
            action.seconds * 1000,
          ),
        );
        return;
      case 'stop_timer':
        clearTimeout(timers.get(action.timer));
        return;
      case 'forget':
        for (const timer of timers.values()) clearTimeout(timer);
        return edges.forget(actor);
      default:
        return edges.perform(action, current);
    }
  };
  const handleAll = async () => {
    for await (const input of begin()) await handle(input);
  };
  queue = handleAll().catch(logFault);
  return actor;
}

/** Does not wait: the answer is a fact of its own. */
function report(actor: Actor, event: CallEvent, edges: ActorEdges): void {
  const { uuid, sid } = actor.call;
  const id = uuid ?? `sid:${sid}`;
  const path = `/call_sessions/${encodeURIComponent(id)}/events`;
  edges.log.info({ call_uuid: uuid, ...pickFacts(event) }, 'reported');
  edges.reports.send(
    { of: sid, path, body: event },
    {
      answered: (answer) => actor.take({ type: 'session', session: readSession(answer) }),
      // The service has gone on without it.
      refused: () => void refresh(actor, edges),
      unreachable: () => actor.take({ type: 'unreachable' }),
    },
  );
}

const pickFacts = ({ event, attempt, duration, sip_code, q850 }: CallEvent) => ({
  ...{ event, attempt, duration, sip_code, q850 },
});

function sendResult(
  { call: { sid } }: Actor,
  { type, command_id, ...body }: Extract<Action, { type: 'result' }>,
  { reports, switch_name }: ActorEdges,
): void {
  // A result does not wait behind events of the call.
  const of = `${sid} ${type} ${command_id}`;
  reports.send({ of, path: buildResultPath(switch_name, command_id), body });
}

async function refresh(actor: Actor, { service, log }: ActorEdges): Promise<void> {
  const { uuid } = actor.call;
  if (uuid === undefined || actor.call.phase === 'over') return;
  try {
    const session = await service.readCall(uuid);
    actor.take({ type: 'session', session });
  } catch (error) {
    log.warn({ err: error, call_uuid: uuid }, 'the service does not say how the call goes on');
    actor.take({ type: 'unreachable' });
  }
}
