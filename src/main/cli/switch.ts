import { InvalidArgumentError, type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../operate/installation/listen';
import { openInstallation, type Installation } from '../../operate/installation/open';
import { BASE_PATH } from '../../platform/contract/contract';
import { startJobs } from '../background/start';
import { loadConfig } from '../config';
import { askForCall, createCaller, startAdapter } from '../conformance/programs';
import { playScenarios, type Verdict } from '../conformance/run';
import { CHECKLIST, SCENARIOS } from '../conformance/scenarios';
import { openStage, type Surroundings } from '../conformance/stage';
import { httpServer } from '../processes/http-server';
import { createApp } from '../app';
import { json, print } from './command';

// Holds an adapter of a softswitch against the checklist of docs/switches.md: the service runs here
// on a database of its own that goes with the command.

interface Options {
  url: URL;
  key: string;
  switch: string;
  number: string;
  caller: string;
  answers: string;
  busy?: string;
  rings?: string;
  trunks?: [string, string];
  placesCalls: boolean;
  call?: string;
  adapter?: string;
  only?: string;
  patience: number;
  json: boolean;
}

export function addSwitchCommands(program: Command): void {
  const softswitch = program.command('switch').description('softswitches');
  softswitch
    .command('test')
    .description('play the service to an adapter, and say what of the checklist it does')
    .requiredOption(
      '--url <url>',
      'where the adapter asks: this command listens there',
      parseAddress,
    )
    .option('--key <public:private>', 'the key pair of the adapter', 'conformance:secret')
    .option('--switch <name>', 'the name of the switch', 'edge')
    .option('--number <number>', 'the number that is called', '+12125550100')
    .option('--caller <number>', 'the number of the caller', '+13105550190')
    .requiredOption('--answers <destination>', 'a telephone number or SIP address that answers')
    .option('--busy <destination>', 'one that is busy')
    .option('--rings <destination>', 'one that rings, and does not answer')
    .option('--trunks <hosts>', 'two trunks: one that refuses, one that works', parseTrunks)
    .option('--places-calls', 'the switch places calls too', false)
    .option('--call <program>', 'places a call; see docs/switches.md. Without it you are asked to')
    .option('--adapter <program>', 'starts the adapter, which is then restarted too')
    .option('--only <text>', 'only what has this text in its name')
    .option('--patience <seconds>', 'how long the adapter may take for what is due', Number, 20)
    .addOption(json())
    .action(run);
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:')
    throw new InvalidArgumentError('must be an address to listen at: http://127.0.0.1:3900');
  return url;
}

function parseTrunks(text: string): string[] {
  const hosts = text.split(',');
  if (hosts.length !== 2) throw new InvalidArgumentError('must be two hosts, separated by a comma');
  return hosts;
}

async function run(options: Options): Promise<void> {
  const verdicts = await inTemporaryInstallation((installation, url) =>
    test(options, installation, url),
  );
  if (options.json) print(verdicts, true);
  else summarize(verdicts);
  process.exitCode = verdicts.some(({ result }) => result === 'failed') ? 1 : 0;
}

/** Runs the work with a service that listens on loopback, in a folder that is then deleted. */
async function inTemporaryInstallation<T>(
  work: (installation: Installation, url: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-switch-'));
  const config = loadConfig({
    ...{ DATA_DIR: folder, KEY_PEPPER: randomBytes(32).toString('hex'), LOG_LEVEL: 'silent' },
    // Commands may be pushed to an adapter on any host.
    ...{ CARRIER: 'switch', WEBHOOK_ALLOW_NETWORKS: '0.0.0.0/0,::/0' },
  });
  try {
    const installation = await openInstallation(config);
    const { deps } = installation;
    const { server, stop } = httpServer(deps, createApp(deps));
    await listen(server, { host: '127.0.0.1', port: 0 });
    const jobs = await startJobs(deps);
    try {
      return await work(installation, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      deps.live.close();
      await Promise.all([stop(), jobs.stop()]);
      await installation.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const toScenarios = (only: string | undefined) =>
  SCENARIOS.filter(({ name }) => only === undefined || name.includes(only));

/** An end that is reported late, and without its time, would differ by more. */
const TIMES = { talk_seconds: 3, max_difference_seconds: 3, settle_seconds: 1 };
/** A sync is due each minute. */
const SYNC_SECONDS = 60;

async function test(options: Options, { deps }: Installation, url: string): Promise<Verdict[]> {
  const { url: address, key, adapter: command, call, patience } = options;
  const say = (text: string) => void process.stderr.write(text);
  const base = `${address.origin}${BASE_PATH}`;
  const named = { ...options, switch_name: options.switch, places_calls: options.placesCalls };
  const surroundings: Omit<Surroundings, 'restart'> = {
    ...named,
    placeCall: call === undefined ? askForCall : createCaller(call),
    ...TIMES,
    patience: { prompt: patience, sync: SYNC_SECONDS + patience },
  };
  const door = { host: address.hostname, port: Number(address.port || 80) };
  const stage = await openStage({ ...named, ...surroundings, deps, url, door });
  say(`The adapter asks at ${base}, as the switch ${options.switch} with the key ${key}.\n`);
  const environment = { TRUNKLINE_URL: base, TRUNKLINE_KEY: key, TRUNKLINE_SWITCH: options.switch };
  const program = command === undefined ? undefined : startAdapter(command, environment, say);
  if (program) stage.restart = program.restart;
  const verdicts: Verdict[] = [];
  try {
    await playScenarios(
      stage,
      (verdict) => {
        verdicts.push(verdict);
        if (!options.json) process.stdout.write(formatVerdict(verdict));
      },
      toScenarios(options.only),
    );
  } finally {
    await program?.stop();
    await stage.close();
  }
  return verdicts;
}

const MARKS = { ok: 'ok      ', failed: 'FAILED  ', not_seen: 'not seen' };

const formatVerdict = ({ name, result, reason }: Verdict): string =>
  `${MARKS[result]} ${name}${reason === undefined ? '' : `\n         ${reason}`}\n`;

/** The checklist, with what was seen of each item. */
function summarize(verdicts: readonly Verdict[]): void {
  process.stdout.write('\nThe adapter\n');
  for (const [item, text] of Object.entries(CHECKLIST)) {
    const results = verdicts.filter((verdict) => verdict.item === item);
    const worst = (['failed', 'not_seen', 'ok'] as const).find((result) =>
      results.some((verdict) => verdict.result === result),
    );
    process.stdout.write(`${MARKS[worst ?? 'not_seen']} ${text}\n`);
  }
}
