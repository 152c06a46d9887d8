import type { Logger } from 'pino';
import type { ActorEdges } from './actor';
import {
  APP,
  type Ari,
  type AriConnection,
  type AriEvent,
  type Channel,
  type Connect,
} from './ari/ari';
import { beginCall, listLive, readSid, restore, type Live } from './begin';
import { createCalls, type Calls } from './calls';
import { buildCall } from './call/call';
import { followCommands } from '../service/commands';
import { readEvent } from './events';
import type { Journal } from '../service/journal';
import { pause } from '../../platform/pause';
import { createOverflow, isOverflowing, type Overflow } from './overflow';
import { perform } from './perform';
import { buildPersonCall, dialPerson, readPersonUuid, resumePerson } from './person';
import { listRecordings } from './recordings';
import { storeRecording, type RecordingEdges } from '../service/recordings';
import { importCall } from '../service/overflow';
import { openReports, type Reports } from '../service/reports';
import { buildResultPath, toResult, type Service, type Command } from '../service/service';
import type { AsteriskSettings } from './settings';
import { createSync, type Syncing } from '../service/sync';

const RECONNECT_MS = 1_000;

export interface AdapterEdges {
  connect: Connect;
  service: Service;
  journal: Journal;
  settings: AsteriskSettings;
  read_recording: RecordingEdges['read'];
  log: Logger;
  signal: AbortSignal;
}

interface Adapter extends AdapterEdges {
  /** The connection of the moment. */
  ari: Ari;
  calls: Calls;
  reports: Reports;
  sync: Syncing;
  overflow: Overflow;
}

/** Carries calls between Asterisk and the service until the signal; then calls go on without it. */
export async function runAdapter(edges: AdapterEdges): Promise<void> {
  const { log, signal } = edges;
  const { adapter, use } = openAdapter(edges);
  const commands = followCommands(edges, (command) => carryOut(adapter, command));
  let lostAt = new Date();
  while (!signal.aborted) {
    try {
      const connection = await edges.connect(signal);
      signal.addEventListener('abort', connection.close, { once: true });
      use(connection);
      await serve(adapter, connection, lostAt);
      signal.removeEventListener('abort', connection.close);
      if (!signal.aborted) log.warn('the connection to Asterisk is lost');
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'no connection to Asterisk');
    }
    use(DISCONNECTED);
    lostAt = new Date();
    await pause(RECONNECT_MS, signal);
  }
  await Promise.all([commands, adapter.sync.ended()]);
  await adapter.reports.settle();
}

const DISCONNECTED: Ari = {
  ask: async () => {
    throw new Error('there is no connection to Asterisk');
  },
};

function openAdapter(edges: AdapterEdges): { adapter: Adapter; use(ari: Ari): void } {
  const { service, journal, settings, log, signal } = edges;
  let current = DISCONNECTED;
  const ari: Ari = { ask: (request) => current.ask(request) };
  const reports = openReports({ service, journal, log, signal });
  const switchName = settings.service.name;
  const overflow = createOverflow(ari, (call) =>
    importCall(call, { reports, switch_name: switchName, log }),
  );
  const actorEdges: ActorEdges = {
    ...{ service, reports, log, switch_name: switchName, now: Date.now },
    changed: (actor) => calls.changed(actor),
    forget: (actor) => calls.forget(actor),
    perform: (action, call) =>
      perform(action, call, {
        ...{ ari, settings, log, followOverflow: overflow.follow },
        endPlayback: (channel, playback) =>
          calls.pass(channel, () => ({ type: 'played', playback })),
        endLeg: (leg) =>
          calls.pass(call.channel, () => ({ type: 'leg_over', leg, cause: NOT_DIALED })),
      }),
  };
  const calls = createCalls(actorEdges);
  const sync = createSync({ service, listLive: () => listBySid(calls), log, signal });
  return {
    adapter: { ...edges, ari, calls, reports, sync, overflow },
    use: (next) => void (current = next),
  };
}

const listBySid = ({ actors }: Calls) =>
  new Map([...actors].map((actor) => [actor.call.sid, () => actor.take({ type: 'ended' })]));

/** Neither rang nor refused: no fault of the buyer's number. */
const NOT_DIALED = { q850: 27 };

/** Until the connection is lost. */
async function serve(adapter: Adapter, connection: AriConnection, lostAt: Date): Promise<void> {
  const live = await listLive(connection);
  adapter.calls.endMissing(live);
  adapter.overflow.endMissing(live, lostAt);
  await resume(adapter, live);
  adapter.sync.start();
  for (const name of await listRecordings(connection)) store(adapter, name);
  connection.onEvent((event) => handle(adapter, event));
  adapter.log.info({ calls: adapter.calls.actors.size }, 'connected to Asterisk');
  await connection.lost;
}

/** Calls that were there before this process, or came in while it had no connection. */
async function resume(adapter: Adapter, live: Live): Promise<void> {
  const { ari, calls } = adapter;
  for (const channel of live.channels) {
    if (calls.has(channel.id)) continue;
    if (isOverflowing(channel)) await adapter.overflow.follow(channel);
    const uuid = readPersonUuid(channel);
    if (uuid !== undefined)
      calls.start(buildPersonCall(uuid), () => resumePerson(uuid, { channel, live }, adapter));
    else if (isCaller(channel)) {
      const sid = await readSid(channel.id, ari);
      calls.start(buildCall(channel.id, { sid }), async function* () {
        const inputs = await beginCall(channel, sid, adapter);
        yield* await restore(inputs, { channel, live, ari });
      });
    }
  }
}

const isCaller = ({ id, dialplan: { app_name, app_data } }: Channel): boolean =>
  app_name === 'Stasis' && app_data === APP && !id.startsWith('tl-');

function handle(adapter: Adapter, event: AriEvent): void {
  const { calls } = adapter;
  const read = readEvent(event);
  switch (read?.type) {
    case 'caller':
      return startCaller(adapter, read.channel);
    case 'recording':
      if (read.has_file) store(adapter, read.name);
      else adapter.log.error({ recording: read.name }, 'Asterisk could not record');
      if (read.channel !== undefined) calls.pass(read.channel, () => ({ type: 'recorded' }));
      return;
    case 'fact':
      if (event.type === 'ChannelDestroyed')
        adapter.overflow.end(read.channel, new Date(event.timestamp ?? Date.now()));
      return calls.pass(read.channel, read.read);
  }
}

function startCaller(adapter: Adapter, channel: Channel): void {
  const { calls, ari } = adapter;
  if (calls.has(channel.id)) return;
  calls.start(buildCall(channel.id), async function* () {
    const sid = await readSid(channel.id, ari);
    yield { type: 'named', sid };
    await ari.ask({ method: 'POST', path: `/channels/${channel.id}/ring` });
    yield* await beginCall(channel, sid, adapter);
  });
}

function store({ service, ari, read_recording: read, log, signal }: Adapter, name: string): void {
  const remove = () => ari.ask({ method: 'DELETE', path: `/recordings/stored/${name}` });
  void storeRecording(name, { service, read, remove, log, signal });
}

function carryOut(adapter: Adapter, command: Command): void {
  const { calls, log } = adapter;
  const { command: kind, id, call_uuid } = command;
  log.info({ command: kind, id, call_uuid }, 'a command');
  if (kind === 'originate') return originate(adapter, command);
  const actor = calls.findCall(command);
  if (actor) actor.take({ type: 'command', command });
  else answer(adapter, command, 'no such call');
}

function answer({ reports, settings }: Adapter, { id }: Command, failure?: string): void {
  const path = buildResultPath(settings.service.name, id);
  reports.send({ of: `command ${id}`, path, body: toResult(failure) });
}

function originate(adapter: Adapter, command: Command): void {
  const { calls, journal, log } = adapter;
  const { id, call_uuid } = command;
  // It was carried out before, and its result was lost.
  if (!journal.carry(id)) return answer(adapter, command);
  const actor = calls.start(buildPersonCall(call_uuid), async function* () {
    try {
      await dialPerson(command, adapter);
      answer(adapter, command);
    } catch (error) {
      log.warn({ err: error, call_uuid }, 'a call was not placed');
      answer(adapter, command, (error as Error).message);
      calls.forget(actor);
    }
  });
}
