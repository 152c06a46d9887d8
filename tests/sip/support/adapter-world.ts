import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProduct } from '../../support/build';
import { buildEnvironment } from '../../support/job-process';
import type { Fields } from '../../support/records';
import { openWorld, type UsedWorld } from '../../support/use-world';
import { startProgram, type Program } from './programs';
import { countSlots, createCallReader, openOffer, runInTurn, startService } from './sip-world';
import type { EndedCall, Offer, OfferedBuyer, Service } from './sip-world';
import { placeCalls, startUas, type CallOptions, type PlacedCalls } from './sides';
import type { Uas, UasKind } from './sides';
import type { Media } from './sipp';
import { waitUntil } from './waiting';

// A company, the service, a switch with the files of its example, and the adapter between them.

/** The adapter as a process. */
export interface Adapter {
  log(): string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A switch as a process, to which callers send their calls. */
export interface StartedSwitch {
  sip_port: number;
  log(): string;
  stop(): Promise<void>;
  /** As after a crash. */
  restart(): Promise<void>;
}

export interface AdapterWorld<Switch extends StartedSwitch> {
  world: UsedWorld;
  service: Service;
  /** The switch. */
  started: Switch;
  adapter: Adapter;
  /** Who gets calls while the service is away. */
  overflow: Uas;
  /** The carrier: numbers are dialed at it. */
  trunk: Uas;
  startUas(kind: UasKind, media?: Media): Promise<Uas>;
  openOffer(buyers: readonly OfferedBuyer[], fields?: Fields): Promise<Offer>;
  placeCalls(options: Omit<CallOptions, 'proxy'>): Promise<PlacedCalls>;
  readCall(callId: string): Promise<Fields>;
  /** Waits until the call has ended, and for this event, which may come later. */
  waitForCall(callId: string, event?: string): Promise<EndedCall>;
  /** Waits until the service shows this of the call. */
  waitForField(callId: string, field: string): Promise<unknown>;
  countSlots(buyerIds: readonly number[]): Promise<number>;
}

/** How an adapter is started for a switch. */
export interface AdapterProcess {
  /** After the name of the program; `folder` is for its files. */
  args(folder: string): string[];
  environment: Record<string, string>;
  /** It has written this once it is connected. */
  connected: string;
}

export interface AdapterWorldOptions<Switch extends StartedSwitch> {
  /** Its name at the service. */
  name: string;
  start(sides: { trunk: Uas; overflow: Uas }): Promise<Switch>;
  adapter(started: Switch): AdapterProcess;
  environment?: Record<string, string> | undefined;
  /** The carrier speaks so when it answers. */
  trunk_media?: Media | undefined;
}

const PERMISSIONS = ['calls:create', 'calls:read', 'calls:update', 'switches:operate'];

/** Two seconds of a tone as a WAV file, in place of speech. */
const SPEAK = `#!/usr/bin/env node
const bytes = Buffer.alloc(32000);
for (let i = 0; i < 16000; i++) bytes.writeInt16LE(8000 * Math.sin(i / 3), 2 * i);
const head = Buffer.alloc(44);
head.write('RIFF', 0); head.writeUInt32LE(36 + bytes.length, 4); head.write('WAVEfmt ', 8);
head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22);
head.writeUInt32LE(8000, 24); head.writeUInt32LE(16000, 28); head.writeUInt16LE(2, 32);
head.writeUInt16LE(16, 34); head.write('data', 36); head.writeUInt32LE(bytes.length, 40);
require('node:fs').writeFileSync(process.argv[2], Buffer.concat([head, bytes]));
`;

export async function openAdapterWorld<Switch extends StartedSwitch>(
  options: AdapterWorldOptions<Switch>,
): Promise<AdapterWorld<Switch>> {
  const { environment } = options;
  const world = await openWorld({ ...(environment && { environment }) });
  try {
    return await open(world, options);
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function open<Switch extends StartedSwitch>(
  world: UsedWorld,
  options: AdapterWorldOptions<Switch>,
): Promise<AdapterWorld<Switch>> {
  world.sql = runInTurn(world.sql);
  const stopLater = <T extends { stop(): Promise<void> }>(program: T): T => {
    world.closeLater(() => program.stop());
    return program;
  };
  const environment = {
    ...{ ...buildEnvironment(world), DATABASE_TIMEOUT_SECONDS: '300' },
    ...options.environment,
  };
  const service = stopLater(await startService(environment));
  const uas = async (kind: UasKind, media?: Media) => stopLater(await startUas(kind, media));
  const [overflow, trunk] = [await uas('answers'), await uas('answers', options.trunk_media)];
  const started = stopLater(await options.start({ trunk, overflow }));
  await world.create('switches', { name: options.name });
  const key = await world.credentials(world.company, PERMISSIONS);
  const adapter = await startAdapter(options.adapter(started), {
    args: ['--url', service.url, '--switch', options.name],
    key,
  });
  world.closeLater(() => adapter.kill());
  const describe = () => `${adapter.log()}\n---\n${started.log()}`;
  const readCall = createCallReader(world, describe);
  const waitForField = (callId: string, field: string) =>
    waitUntil(
      `${field} of call ${callId}`,
      async () => (await readCall(callId))[field] ?? undefined,
      describe,
    );
  return {
    ...{ world, service, started, adapter, overflow, trunk, readCall, waitForField },
    startUas: uas,
    openOffer: (buyers, fields) => openOffer(world, buyers, fields),
    placeCalls: async (call) => stopLater(await placeCalls({ proxy: started.sip_port, ...call })),
    waitForCall: async (callId, event) => {
      await waitForField(callId, 'ended_at');
      return waitUntil(
        `${event ?? 'the end'} of call ${callId}`,
        async () => {
          const call = await readCall(callId);
          const { call_events } = await world.ok('get', `calls/${call.id as number}/events`);
          const events = (call_events as Fields[]).map((row) => String(row.event));
          return event === undefined || events.includes(event) ? { call, events } : undefined;
        },
        describe,
      );
    },
    countSlots: (buyerIds) => countSlots(world, buyerIds),
  };
}

/** Starts an adapter, and waits until it has its switch. */
export async function startAdapter(
  { args, environment, connected }: AdapterProcess,
  common: { args: string[]; key: string },
): Promise<Adapter> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-adapter-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const speak = join(folder, 'speak');
  writeFileSync(speak, SPEAK);
  chmodSync(speak, 0o755);
  const [kind, ...own] = args(folder);
  const speech = ['--tts-command', speak, '--sounds-dir', join(folder, 'sounds')];
  const all = [kind!, ...common.args, ...speech, ...own];
  const variables = { TRUNKLINE_KEY: common.key, DATA_DIR: folder, LOG_LEVEL: 'debug' };
  let program: Program;
  const start = async () => {
    const file = join(builtProduct(), 'dist/main/cli/index.js');
    program = startProgram('node', [file, ...all], folder, { ...variables, ...environment });
    await waitUntil('the adapter is connected', () => {
      if (!program.isRunning()) throw new Error(`the adapter has ended: ${program.output()}`);
      return program.output().includes(connected) || undefined;
    });
  };
  await start();
  return { log: () => program.output(), kill: () => program.end('SIGKILL'), start };
}
