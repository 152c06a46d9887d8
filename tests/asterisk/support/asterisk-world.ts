import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProduct } from '../../support/build';
import { buildEnvironment } from '../../support/job-process';
import { freePort } from '../../support/process';
import type { Fields } from '../../support/records';
import { openWorld, type UsedWorld } from '../../support/use-world';
import { missingPrograms, startProgram, type Program } from '../../sip/support/programs';
import { testTogether } from '../../sip/support/scenarios';
import {
  countSlots,
  createCallReader,
  openOffer,
  runInTurn,
  startService,
} from '../../sip/support/sip-world';
import type { EndedCall, Offer, OfferedBuyer, Service } from '../../sip/support/sip-world';
import { placeCalls, startUas, type CallOptions, type PlacedCalls } from '../../sip/support/sides';
import type { Uas, UasKind } from '../../sip/support/sides';
import type { Media } from '../../sip/support/sipp';
import { waitUntil } from '../../sip/support/waiting';
import { missingAsterisk, startAsterisk, type Asterisk } from './asterisk';

/** The adapter as a process. */
export interface Adapter {
  log(): string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A company, the service, Asterisk with the files of the example, and the adapter between them. */
export interface AsteriskWorld {
  world: UsedWorld;
  service: Service;
  asterisk: Asterisk;
  adapter: Adapter;
  /** Who gets calls while the service is away. */
  overflow: Uas;
  /** The carrier: numbers are dialed at it. */
  trunk: Uas;
  startUas(kind: UasKind, media?: Media): Promise<Uas>;
  openOffer(buyers: readonly OfferedBuyer[], fields?: Fields): Promise<Offer>;
  placeCalls(options: Omit<CallOptions, 'proxy'>): Promise<PlacedCalls>;
  readCall(callId: string): Promise<Fields>;
  waitForCall(callId: string): Promise<EndedCall>;
  /** Waits until the service shows this of the call. */
  waitForField(callId: string, field: string): Promise<unknown>;
  countSlots(buyerIds: readonly number[]): Promise<number>;
}

const SWITCH = 'asterisk-1';
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

export interface AsteriskWorldOptions {
  /** Asterisk connects to the adapter. */
  outbound_socket?: boolean;
  environment?: Record<string, string>;
  /** The carrier speaks so when it answers. */
  trunk_media?: Media;
}

export async function openAsteriskWorld(
  options: AsteriskWorldOptions = {},
): Promise<AsteriskWorld> {
  const { environment } = options;
  const world = await openWorld({ ...(environment && { environment }) });
  try {
    return await open(world, options);
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function open(world: UsedWorld, options: AsteriskWorldOptions): Promise<AsteriskWorld> {
  world.sql = runInTurn(world.sql);
  const stopLater = <T extends { stop(): Promise<void> }>(started: T): T => {
    world.closeLater(() => started.stop());
    return started;
  };
  const environment = {
    ...{ ...buildEnvironment(world), DATABASE_TIMEOUT_SECONDS: '300' },
    ...options.environment,
  };
  const service = stopLater(await startService(environment));
  const uas = async (kind: UasKind, media?: Media) => stopLater(await startUas(kind, media));
  const [overflow, trunk] = [await uas('answers'), await uas('answers', options.trunk_media)];
  const port = options.outbound_socket ? await freePort() : undefined;
  const asterisk = stopLater(
    await startAsterisk({
      ...{ trunk: trunk.port, overflow: `PJSIP/sip/${overflow.address}` },
      ...(port !== undefined && { adapter: port }),
    }),
  );
  await world.create('switches', { name: SWITCH });
  const key = await world.credentials(world.company, PERMISSIONS);
  const adapter = await startAdapter({ service, asterisk, key, port });
  world.closeLater(() => adapter.kill());
  const describe = () => `${adapter.log()}\n---\n${asterisk.log()}`;
  const readCall = createCallReader(world, describe);
  const waitForField = (callId: string, field: string) =>
    waitUntil(
      `${field} of call ${callId}`,
      async () => (await readCall(callId))[field] ?? undefined,
      describe,
    );
  return {
    ...{ world, service, asterisk, adapter, overflow, trunk, readCall, waitForField },
    startUas: uas,
    openOffer: (buyers, fields) => openOffer(world, buyers, fields),
    placeCalls: async (call) => stopLater(await placeCalls({ proxy: asterisk.sip_port, ...call })),
    waitForCall: async (callId) => {
      await waitForField(callId, 'ended_at');
      const call = await readCall(callId);
      const { call_events } = await world.ok('get', `calls/${call.id as number}/events`);
      return { call, events: (call_events as Fields[]).map(({ event }) => String(event)) };
    },
    countSlots: (buyerIds) => countSlots(world, buyerIds),
  };
}

interface AdapterOptions {
  service: Service;
  asterisk: Asterisk;
  key: string;
  port: number | undefined;
}

async function startAdapter({ service, asterisk, key, port }: AdapterOptions): Promise<Adapter> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-adapter-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const speak = join(folder, 'speak');
  writeFileSync(speak, SPEAK);
  chmodSync(speak, 0o755);
  const args = [
    ...['asterisk', '--url', service.url, '--switch', SWITCH, '--dial-sip', 'PJSIP/sip/{uri}'],
    ...['--tts-command', speak, '--sounds-dir', join(folder, 'sounds')],
    ...(port === undefined
      ? ['--ari-url', asterisk.ari_url]
      : ['--listen', `127.0.0.1:${port}`, '--recordings-dir', asterisk.recordings_dir]),
  ];
  const environment = {
    ...{ TRUNKLINE_KEY: key, ASTERISK_ARI_KEY: asterisk.ari_key },
    ...{ DATA_DIR: folder, LOG_LEVEL: 'debug' },
  };
  let program: Program;
  const start = async () => {
    const file = join(builtProduct(), 'dist/main/cli/index.js');
    program = startProgram('node', [file, ...args], folder, environment);
    await waitUntil('the adapter is connected', () => {
      if (!program.isRunning()) throw new Error(`the adapter has ended: ${program.output()}`);
      return program.output().includes('connected to Asterisk') || undefined;
    });
  };
  await start();
  return { log: () => program.output(), kill: () => program.end('SIGKILL'), start };
}

/** Registers tests of calls by Asterisk. */
export const testScenarios = (
  scenarios: Record<string, (on: AsteriskWorld) => Promise<void>>,
  { side_by_side, ...options }: { side_by_side: boolean } & AsteriskWorldOptions,
): void =>
  testTogether(scenarios, {
    title: 'calls by Asterisk',
    missing: missingPrograms() ?? missingAsterisk(),
    side_by_side,
    open: () => openAsteriskWorld(options),
    close: ({ world }) => world.close(),
    listLogs: ({ adapter, asterisk }) => [adapter.log(), asterisk.log()],
  });
