import type { Command, Option } from 'commander';
import { runAdapter } from '../../adapters/asterisk/adapter';
import type { Connect } from '../../adapters/asterisk/ari/ari';
import { createClient, type ClientSettings } from '../../adapters/asterisk/ari/client';
import { createAriServer, type ServerSettings } from '../../adapters/asterisk/ari/server';
import { createReader } from '../../adapters/asterisk/recordings';
import { trimUrl } from '../../platform/trim-url';
import {
  buildAdapterOptions,
  fromEnvironment,
  openBase,
  parseAddress,
  runUntilEnded,
  type AdapterOptions,
  type Address,
} from './adapter-options';

// The door for Asterisk: a process of its own, which knows the service by its API alone.

interface Options extends AdapterOptions {
  ariUrl?: string;
  ariKey: string;
  listen?: Address;
  recordingsDir?: string;
}

const DEFAULT_ARI = 'http://127.0.0.1:8088/ari';

export function addAsteriskCommand(program: Command): void {
  const command = program
    .command('asterisk')
    .description('carry calls between Asterisk (ARI) and the service, until it is ended');
  for (const option of buildOptions()) command.addOption(option);
  runUntilEnded(command, run);
}

const buildOptions = (): Option[] => [
  ...buildAdapterOptions({
    ...{ name: 'Asterisk', prefix: 'ASTERISK', dial: 'PJSIP/{number}@trunk' },
    ...{ dial_trunk: 'PJSIP/{number}@{trunk}', dial_sip: 'PJSIP/sip/{uri}' },
    sounds_dir: '/var/lib/asterisk/sounds/trunkline',
    prompt_sound: 'sound:vm-press,sound:digits/1',
  }),
  fromEnvironment('--ari-url <url>', `where ARI is; by default ${DEFAULT_ARI}`, 'ASTERISK_ARI_URL'),
  fromEnvironment(
    '--ari-key <user:password>',
    'a user of ari.conf',
    'ASTERISK_ARI_KEY',
  ).makeOptionMandatory(),
  fromEnvironment(
    '--listen <host:port>',
    'let Asterisk connect here, as websocket_client.conf says, with the key --ari-key',
    'ASTERISK_LISTEN',
  ).argParser(parseAddress),
  fromEnvironment(
    '--recordings-dir <folder>',
    'where Asterisk records, to read it there',
    'ASTERISK_RECORDINGS_DIR',
  ),
];

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const base = openBase(options, 'asterisk');
  const client = options.listen && options.ariUrl === undefined ? undefined : buildClient(options);
  const { connect, close } = await openDoor(options, client);
  await runAdapter({
    ...base,
    connect,
    read_recording: createReader(options.recordingsDir, client),
    signal,
  });
  await close();
}

const buildClient = ({ ariUrl, ariKey }: Options): ClientSettings => ({
  url: trimUrl(ariUrl ?? DEFAULT_ARI),
  key: ariKey,
});

async function openDoor(
  { listen, ariKey }: Options,
  client: ClientSettings | undefined,
): Promise<{ connect: Connect; close(): Promise<void> }> {
  if (listen) return createAriServer({ ...listen, key: ariKey } satisfies ServerSettings);
  return { connect: createClient(client!), close: async () => undefined };
}
