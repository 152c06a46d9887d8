import { InvalidArgumentError, Option, type Command } from 'commander';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openJournal, type Journal } from '../../adapters/service/journal';
import type { DialSettings } from '../../adapters/service/dialing';
import { openService, type Service, type ServiceSettings } from '../../adapters/service/service';
import type { SpeechSettings } from '../../adapters/service/speech';
import { BASE_PATH } from '../../platform/contract/contract';
import { createLog } from '../../platform/log';
import { trimUrl } from '../../platform/trim-url';
import { loadConfig } from '../config';

// The settings that the doors for all kinds of switches have.

export interface AdapterOptions {
  url?: string;
  key: string;
  switch: string;
  dial: string;
  dialSip: string;
  dialTrunk: string;
  ttsCommand?: string;
  soundsDir: string;
  promptSound: string;
  header: string[];
}

export interface Address {
  host: string;
  port: number;
}

/** A kind of switch: its name in the product and in variables, and its own defaults. */
export interface SwitchKind {
  name: string;
  prefix: string;
  dial: string;
  dial_trunk: string;
  dial_sip: string;
  sounds_dir: string;
  prompt_sound: string;
}

/** An option that is also a variable. */
export const fromEnvironment = (flags: string, text: string, variable: string): Option =>
  new Option(flags, text).env(variable);

export const buildAdapterOptions = ({ name, prefix, ...kind }: SwitchKind): Option[] => [
  new Option('--url <url>', 'where the service listens, if not on this machine'),
  fromEnvironment(
    '--key <public:private>',
    'a key pair of the service',
    'TRUNKLINE_KEY',
  ).makeOptionMandatory(),
  fromEnvironment(
    '--switch <name>',
    'the name of the switch there',
    `${prefix}_SWITCH`,
  ).makeOptionMandatory(),
  fromEnvironment(
    '--dial <endpoint>',
    'how a number is dialed: {number}, or {digits} without +',
    `${prefix}_DIAL`,
  ).default(kind.dial),
  fromEnvironment(
    '--dial-trunk <endpoint>',
    'how a number is dialed through a trunk: {trunk}, {host}, {number}',
    `${prefix}_DIAL_TRUNK`,
  ).default(kind.dial_trunk),
  fromEnvironment(
    '--dial-sip <endpoint>',
    'how a SIP address is dialed: {uri}',
    `${prefix}_DIAL_SIP`,
  ).default(kind.dial_sip),
  fromEnvironment(
    '--tts-command <program>',
    'speaks the text of its standard input into the WAV file of its argument',
    `${prefix}_TTS_COMMAND`,
  ),
  fromEnvironment(
    '--sounds-dir <folder>',
    `where that speech is kept for ${name}`,
    `${prefix}_SOUNDS_DIR`,
  ).default(kind.sounds_dir),
  fromEnvironment(
    '--prompt-sound <sound>',
    'asks to press 1, where no text can be spoken',
    `${prefix}_PROMPT_SOUND`,
  ).default(kind.prompt_sound),
  fromEnvironment(
    '--header <name>',
    'a header of callers to pass on; several times',
    `${prefix}_HEADERS`,
  )
    .argParser((text: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...text.split(','),
    ])
    .default([]),
];

export function parseAddress(text: string): Address {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('must be an address and a port, such as 127.0.0.1:8089');
  return { host, port: Number(port) };
}

/** Runs the work of a command until this process is asked to end. */
export function runUntilEnded<Options extends AdapterOptions>(
  command: Command,
  work: (options: Options, signal: AbortSignal) => Promise<void>,
): void {
  command.action(async (options: Options) => {
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
    await work(options, ended.signal);
  });
}

interface Base {
  settings: DialSettings & SpeechSettings & { service: ServiceSettings; headers: string[] };
  service: Service;
  journal: Journal;
  log: Logger;
}

/** Opens the service and the journal of an adapter, whose file is named for the kind of switch. */
export function openBase(options: AdapterOptions, kind: string): Base {
  const { port, data_dir, log_level } = loadConfig();
  const url = `${trimUrl(options.url ?? `http://127.0.0.1:${port}`)}${BASE_PATH}`;
  const service = { url, key: options.key, name: options.switch };
  return {
    settings: {
      service,
      dial: options.dial,
      dial_sip: options.dialSip,
      dial_trunk: options.dialTrunk,
      ...(options.ttsCommand !== undefined && { tts_command: options.ttsCommand }),
      sounds_dir: options.soundsDir,
      prompt_sound: options.promptSound,
      headers: options.header,
    },
    service: openService(service),
    journal: openJournal(join(data_dir, `${kind}-${encodeURIComponent(options.switch)}.jsonl`)),
    log: createLog(log_level),
  };
}
