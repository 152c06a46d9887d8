import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { answerCaller } from './caller';
import { createCalls, type Call } from './calls';
import { carryOut, endMissing, hangUp } from './commands';
import type { Edges } from './edges';
import type { Work } from './httapi/document';
import { isChannel, type HttapiRequest } from './httapi/request';
import { openDoor, type DoorSettings } from './httapi/door';
import { answerLeg } from './leg';
import { listCallers, takeUp } from './restore';
import type { FreeswitchSettings } from './settings';
import type { ConnectSocket, EventSocket } from './socket/event-socket';
import { followCommands } from '../service/commands';
import type { Journal } from '../service/journal';
import { readIfThere, readRecordingUuid, storeRecording } from '../service/recordings';
import { openReports } from '../service/reports';
import { buildResultPath, toResult, type Command, type Service } from '../service/service';
import { createSync, type Syncing } from '../service/sync';
import { pause } from '../../platform/pause';

const RECONNECT_MS = 1_000;
/** Calls that have ended in silence, and recordings, are looked for again. */
const WATCH_MS = 60_000;

export interface AdapterEdges {
  door: DoorSettings;
  connect: ConnectSocket;
  service: Service;
  journal: Journal;
  settings: FreeswitchSettings;
  log: Logger;
  signal: AbortSignal;
  /** The port at which FreeSWITCH may ask. */
  listening?(port: number): void;
}

/**
 * Answers FreeSWITCH by HTTP, and gives it the commands of the service by its event socket, until
 * the signal; then calls go on without it.
 */
export async function runAdapter(edges: AdapterEdges): Promise<void> {
  const { log, signal } = edges;
  const adapter = openAdapter(edges);
  const { on, sync } = adapter;
  const door = await openDoor(edges.door, (request) => answer(request, on), log);
  edges.listening?.(door.port);
  const commands = followCommands(edges, (command) => void obey(command, on));
  while (!signal.aborted) {
    try {
      const socket = await edges.connect(signal);
      await adapter.use(socket, () => serve(socket, adapter));
      if (!signal.aborted) log.warn('the connection to FreeSWITCH is lost');
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'no connection to FreeSWITCH');
    }
    await pause(RECONNECT_MS, signal);
  }
  await door.close();
  await Promise.all([commands, sync.ended()]);
  await on.reports.settle();
}

const DISCONNECTED: Edges['socket'] = {
  api: async () => {
    throw new Error('there is no connection to FreeSWITCH');
  },
};

interface Adapter {
  on: Edges;
  sync: Syncing;
  recordings: ReturnType<typeof createStore>;
  /** Does work for which the socket is the connection of the moment. */
  use(socket: EventSocket, work: () => Promise<void>): Promise<void>;
}

function openAdapter(edges: AdapterEdges): Adapter {
  const { service, journal, settings, log, signal } = edges;
  let current = DISCONNECTED;
  const calls = createCalls();
  const end = (error: unknown) => log.warn({ err: error }, 'a call was not ended');
  const listLive = () =>
    new Map(
      calls
        .list()
        // The dialplan has the others.
        .filter(({ phase }) => phase !== 'over')
        .map((call) => [call.sid, () => endAtService(call)]),
    );
  // A call has ended there when its fallback begins.
  const endAtService = (call: Call) => {
    if (call.phase === 'dialing') hangUp(call, on).catch(end);
  };
  const sync = createSync({ service, listLive, log, signal });
  const on: Edges = {
    ...{ calls, service, journal, settings, log, sync },
    reports: openReports({ service, journal, log, signal }),
    socket: { api: (command) => current.api(command) },
  };
  const use: Adapter['use'] = async (socket, work) => {
    current = socket;
    signal.addEventListener('abort', socket.close, { once: true });
    try {
      await work();
    } finally {
      signal.removeEventListener('abort', socket.close);
      socket.close();
      current = DISCONNECTED;
    }
  };
  return { on, sync, recordings: createStore(edges), use };
}

/** The dialplan names what a channel is: that of a buyer who has answered, or of a caller. */
function answer(request: HttapiRequest, on: Edges): Promise<Work> {
  const [attempt, caller] = [
    request.variable('trunkline_buyer'),
    request.variable('trunkline_caller'),
  ];
  return attempt !== undefined && caller !== undefined && isChannel(caller)
    ? answerLeg(request, { attempt, caller }, on)
    : answerCaller(request, on);
}

/** Until the connection is lost. */
async function serve(socket: EventSocket, { on, sync, recordings }: Adapter): Promise<void> {
  await endMissing(new Set(on.calls.list()), on);
  await takeUp(await listCallers(on), on);
  sync.start();
  socket.onRecordingEnd((path) => recordings.store(basename(path, '.wav')));
  on.log.info({ calls: on.calls.list().length }, 'connected to FreeSWITCH');
  const ended = new AbortController();
  const isLost = socket.lost.then(() => ended.abort());
  let missing = new Set<Call>();
  while (!ended.signal.aborted) {
    await recordings.storeLeft(on.calls.list());
    await pause(WATCH_MS, ended.signal);
    if (!ended.signal.aborted) missing = await endMissing(missing, on);
  }
  return isLost;
}

/** Stores recordings that have ended. */
function createStore({ service, settings, log, signal }: AdapterEdges) {
  const storing = new Set<string>();
  const store = (name: string) => {
    if (storing.has(name)) return;
    storing.add(name);
    const file = join(settings.recordings_dir, `${name}.wav`);
    const remove = () => rm(file, { force: true });
    const edges = { service, read: () => readIfThere(file), remove, log, signal };
    void storeRecording(name, edges).finally(() => storing.delete(name));
  };
  return {
    store,
    /** Those of the process before, and of a time without connection. */
    storeLeft: async (live: readonly Call[]) => {
      // Without its uuid, it is not known which recording is that of a call that goes on.
      if (live.some(({ session }) => session === undefined)) return;
      const uuids = new Set(live.map(({ session }) => session?.uuid));
      const files = await readdir(settings.recordings_dir).catch(() => []);
      for (const file of files) {
        const name = basename(file, '.wav');
        const uuid = readRecordingUuid(name);
        if (uuid !== undefined && !uuids.has(uuid)) store(name);
      }
    },
  };
}

async function obey(command: Command, on: Edges): Promise<void> {
  const { id, command: kind, call_uuid } = command;
  on.log.info({ command: kind, id, call_uuid }, 'a command');
  const failure = await carryOut(command, on).catch((error: Error) => error.message);
  const path = buildResultPath(on.settings.service.name, id);
  on.reports.send({ of: `command ${id}`, path, body: toResult(failure) });
}
