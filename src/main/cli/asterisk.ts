import { InvalidArgumentError, Option, type Command } from 'commander';
import { join } from 'node:path';
import { runAdapter } from '../../adapters/asterisk/adapter';
import type { Connect } from '../../adapters/asterisk/ari/ari';
import { createClient, type ClientSettings } from '../../adapters/asterisk/ari/client';
import { createAriServer, type ServerSettings } from '../../adapters/asterisk/ari/server';
import { openJournal } from '../../adapters/service/journal';
import { createReader } from '../../adapters/asterisk/recordings';
import { openService } from '../../adapters/service/service';
import type { AsteriskSettings } from '../../adapters/asterisk/settings';
import { BASE_PATH } from '../../platform/contract/contract';
import { createLog } from '../../platform/log';
import { trimUrl } from '../../platform/trim-url';
import { loadConfig } from '../config';

// The door for Asterisk: a process of its own, which knows the service by its API alone.

interface Options {
  url?: string;
  key: string;
  switch: string;
  ariUrl?: string;
  ariKey: string;
  listen?: { host: string; port: number };
  dial: string;
  dialSip: string;
  dialTrunk: string;
  ttsCommand?: string;
  soundsDir: string;
  promptSound: string;
  header: string[];
  recordingsDir?: string;
}

const DEFAULT_ARI = 'http://127.0.0.1:8088/ari';

export function addAsteriskCommand(program: Command): void {
  const command = program
    .command('asterisk')
    .description('carry calls between Asterisk (ARI) and the service, until it is ended');
  for (const option of buildOptions()) command.addOption(option);
  command.action(async (options: Options) => {
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
    await run(options, ended.signal);
  });
}

const fromEnvironment = (flags: string, text: string, variable: string): Option =>
  new Option(flags, text).env(variable);

const buildOptions = (): Option[] => [
  new Option('--url <url>', 'where the service listens, if not on this machine'),
  fromEnvironment(
    '--key <public:private>',
    'a key pair of the service',
    'TRUNKLINE_KEY',
  ).makeOptionMandatory(),
  fromEnvironment(
    '--switch <name>',
    'the name of the switch there',
    'ASTERISK_SWITCH',
  ).makeOptionMandatory(),
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
  ).argParser(parseListen),
  fromEnvironment(
    '--dial <endpoint>',
    'how a number is dialed: {number}, or {digits} without +',
    'ASTERISK_DIAL',
  ).default('PJSIP/{number}@trunk'),
  fromEnvironment(
    '--dial-trunk <endpoint>',
    'how a number is dialed through a trunk: {trunk}, {host}, {number}',
    'ASTERISK_DIAL_TRUNK',
  ).default('PJSIP/{number}@{trunk}'),
  fromEnvironment(
    '--dial-sip <endpoint>',
    'how a SIP address is dialed: {uri}',
    'ASTERISK_DIAL_SIP',
  ).default('PJSIP/sip/{uri}'),
  fromEnvironment(
    '--tts-command <program>',
    'speaks the text of its standard input into the WAV file of its argument',
    'ASTERISK_TTS_COMMAND',
  ),
  fromEnvironment(
    '--sounds-dir <folder>',
    'where that speech is kept for Asterisk',
    'ASTERISK_SOUNDS_DIR',
  ).default('/var/lib/asterisk/sounds/trunkline'),
  fromEnvironment(
    '--prompt-sound <media>',
    'asks to press 1, where no text can be spoken',
    'ASTERISK_PROMPT_SOUND',
  ).default('sound:vm-press,sound:digits/1'),
  fromEnvironment(
    '--header <name>',
    'a header of callers to pass on; several times',
    'ASTERISK_HEADERS',
  )
    .argParser((text: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...text.split(','),
    ])
    .default([]),
  fromEnvironment(
    '--recordings-dir <folder>',
    'where Asterisk records, to read it there',
    'ASTERISK_RECORDINGS_DIR',
  ),
];

function parseListen(text: string): Options['listen'] {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('must be an address and a port, such as 127.0.0.1:8089');
  return { host, port: Number(port) };
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const { port, data_dir, log_level } = loadConfig();
  const url = `${trimUrl(options.url ?? `http://127.0.0.1:${port}`)}${BASE_PATH}`;
  const settings: AsteriskSettings = {
    service: { url, key: options.key, name: options.switch },
    dial: options.dial,
    dial_sip: options.dialSip,
    dial_trunk: options.dialTrunk,
    ...(options.ttsCommand !== undefined && { tts_command: options.ttsCommand }),
    sounds_dir: options.soundsDir,
    prompt_sound: options.promptSound,
    headers: options.header,
  };
  const client = options.listen && options.ariUrl === undefined ? undefined : buildClient(options);
  const { connect, close } = await openDoor(options, client);
  await runAdapter({
    connect,
    service: openService(settings.service),
    journal: openJournal(join(data_dir, `asterisk-${encodeURIComponent(options.switch)}.jsonl`)),
    settings,
    read_recording: createReader(options.recordingsDir, client),
    log: createLog(log_level),
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
