import { InvalidArgumentError, type Command, type Option } from 'commander';
import { runAdapter } from '../../adapters/freeswitch/adapter';
import { createSocketClient } from '../../adapters/freeswitch/socket/event-socket';
import {
  buildAdapterOptions,
  fromEnvironment,
  openBase,
  parseAddress,
  runUntilEnded,
  type AdapterOptions,
  type Address,
} from './adapter-options';

// The door for FreeSWITCH: a process of its own, which knows the service by its API alone.

interface Options extends AdapterOptions {
  listen: Address;
  httapiKey: string;
  eventSocket: Address;
  socketPassword: string;
  recordingsDir: string;
}

export function addFreeswitchCommand(program: Command): void {
  const command = program
    .command('freeswitch')
    .description('carry calls between FreeSWITCH (mod_httapi) and the service, until it is ended');
  for (const option of buildOptions()) command.addOption(option);
  runUntilEnded(command, run);
}

const buildOptions = (): Option[] => [
  ...buildAdapterOptions({
    ...{ name: 'FreeSWITCH', prefix: 'FREESWITCH', dial: 'sofia/gateway/trunk/{number}' },
    ...{ dial_trunk: 'sofia/gateway/{trunk}/{number}', dial_sip: 'sofia/trunkline/{uri}' },
    sounds_dir: '/var/lib/freeswitch/sounds/trunkline',
    prompt_sound: 'tone_stream://%(300,200,600);loops=3',
  }),
  fromEnvironment('--listen <host:port>', 'where FreeSWITCH asks', 'FREESWITCH_LISTEN')
    .argParser(parseAddress)
    .default({ host: '127.0.0.1', port: 8090 }, '127.0.0.1:8090'),
  fromEnvironment(
    '--httapi-key <user:password>',
    'the credentials of httapi.conf.xml',
    'FREESWITCH_HTTAPI_KEY',
  ).makeOptionMandatory(),
  fromEnvironment('--event-socket <host:port>', 'where its event socket is', 'FREESWITCH_SOCKET')
    .argParser(parseAddress)
    .default({ host: '127.0.0.1', port: 8021 }, '127.0.0.1:8021'),
  fromEnvironment(
    '--socket-password <password>',
    'the password of event_socket.conf.xml',
    'FREESWITCH_SOCKET_PASSWORD',
  ).makeOptionMandatory(),
  fromEnvironment(
    '--recordings-dir <folder>',
    'where FreeSWITCH records, which is read here',
    'FREESWITCH_RECORDINGS_DIR',
  )
    .argParser(parseFolder)
    .default('/var/lib/freeswitch/recordings/trunkline'),
];

/** FreeSWITCH takes it for one word. */
function parseFolder(text: string): string {
  if (!/^\/[\w./-]*\w$/.test(text))
    throw new InvalidArgumentError('must be an absolute path, of letters, digits, . - _ and /');
  return text;
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const { recordingsDir, listen, eventSocket } = options;
  const base = openBase(options, 'freeswitch');
  await runAdapter({
    ...base,
    door: { ...listen, key: options.httapiKey },
    connect: createSocketClient({ ...eventSocket, password: options.socketPassword }),
    settings: { ...base.settings, recordings_dir: recordingsDir },
    signal,
  });
}
