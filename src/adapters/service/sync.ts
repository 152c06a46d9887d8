import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Service } from './service';
import { pause } from '../../platform/pause';

const SYNC_MS = 60_000;
/** Until the first has an answer. */
const FIRST_MS = 5_000;
const TIMEOUT_MS = 3_000;

export interface SyncEdges {
  service: Pick<Service, 'sync'>;
  /** The live calls by `call_sid`, each with what ends it. */
  listLive(): ReadonlyMap<string, () => void>;
  log: Logger;
  signal: AbortSignal;
}

export interface Syncing {
  /** Says again and again which calls are live; begun once those are known. */
  start(): void;
  /**
   * A call may begin. The first sync ends all calls that it does not list: one that begins while it
   * is under way would be among them.
   */
  gate(): Promise<void>;
  /** Resolves when it has ended with the process. */
  ended(): Promise<void>;
}

export function createSync(edges: SyncEdges): Syncing {
  const bootId = randomUUID();
  let isSynced = false;
  let openGate: () => void = () => undefined;
  let attempt = new Promise<void>((done) => {
    openGate = done;
  });
  let running: Promise<void> | undefined;
  const run = async () => {
    while (!edges.signal.aborted) {
      const sync = syncOnce(bootId, edges).then((isDone) => void (isSynced ||= isDone));
      attempt = sync;
      await sync;
      openGate();
      const pauseMs = isSynced ? SYNC_MS : FIRST_MS;
      await pause(pauseMs, edges.signal);
    }
  };
  return {
    start: () => void (running ??= run()),
    gate: () => (isSynced ? Promise.resolve() : attempt),
    ended: () => running ?? Promise.resolve(),
  };
}

/** Returns false without an answer. Calls that have ended at the service are hung up. */
async function syncOnce(
  bootId: string,
  { service, listLive, log, signal }: SyncEdges,
): Promise<boolean> {
  const live = listLive();
  try {
    const body = { boot_id: bootId, live: [...live.keys()] };
    const { ended, lost, renewed } = await service.sync(body, { timeout_ms: TIMEOUT_MS, signal });
    log.debug({ renewed, ended: ended.length, lost: lost.length }, 'synced');
    for (const sid of ended) live.get(sid)?.();
    return true;
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'no sync with the service');
    return false;
  }
}
