import { createServer, request, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '../../src/domain/deps';
import { secondsForDatabase } from './patience';
import { startServer, startWorker, type Running } from './process';
import { PEPPER_OF_TESTS, TWILIO_TOKEN, type Company } from './world';

// Servers and workers of one database and storage, each a process of its own.

interface FleetOptions {
  url: string;
  storage_dir: string;
  data_dir: string;
  environment?: Record<string, string>;
}

const SERVERS = 3;

const buildEnvironment = ({ url, storage_dir, data_dir, environment }: FleetOptions) => ({
  KEY_PEPPER: PEPPER_OF_TESTS,
  LOG_LEVEL: 'silent',
  RUN_JOBS: 'false',
  DEMO: 'false',
  DATABASE_TIMEOUT_SECONDS: secondsForDatabase(),
  ...environment,
  DATABASE_URL: url,
  DATA_DIR: data_dir,
  STORAGE_DIR: storage_dir,
});

/** Starts three servers that run no jobs. */
export const startServers = (options: FleetOptions): Promise<Running[]> =>
  Promise.all(Array.from({ length: SERVERS }, () => startServer(buildEnvironment(options))));

export const startWorkers = (options: FleetOptions, count: number): Promise<Running[]> =>
  Promise.all(Array.from({ length: count }, () => startWorker(buildEnvironment(options))));

export const endAll = (processes: Running[]): Promise<unknown> =>
  Promise.all(processes.map(({ end }) => end('SIGTERM')));

/** Passes each request on to the next of the servers, as a balancer in front of them does. */
export function balancer(urls: string[]): Server {
  let turn = 0;
  return createServer((req, res) => {
    const url = new URL(req.url!, urls[turn++ % urls.length]);
    const { method, rawHeaders } = req;
    const passed = request(url, { method, headers: rawHeaders, agent: false }, (answer) => {
      res.writeHead(answer.statusCode!, answer.rawHeaders);
      res.flushHeaders();
      answer.pipe(res);
    });
    passed.on('error', () => res.destroy());
    res.on('close', () => passed.destroy());
    req.pipe(passed);
  });
}

interface Opened {
  url: string;
  deps: Pick<Deps, 'config'>;
  environment: Record<string, string> | undefined;
}

/** Three servers behind a balancer, and two workers once jobs are to be run. */
export async function openFleet({ url, deps, environment }: Opened) {
  const { storage_dir, data_dir } = deps.config;
  const usual = { TWILIO_AUTH_TOKEN: TWILIO_TOKEN, ...environment };
  const options = { url, storage_dir, data_dir, environment: usual };
  const servers = await startServers(options);
  const urls = servers.map((server) => server.url);
  const loads: Load[] = [];
  const workers: Running[] = [];
  return {
    balancer: balancer(urls),
    load: async (company: Company) => void loads.push(await startLoad(company, () => urls)),
    work: async () => {
      const started = await startWorkers(options, 2);
      workers.push(...started);
      return { stop: async () => void (await endAll(started)) };
    },
    close: async () => {
      const [outcome] = await Promise.all(loads.map((load) => load.stop()));
      await endAll([...servers, ...workers]);
      if (outcome!.failed.length > 0) throw new Error(`the load: ${outcome!.failed.join('\n')}`);
    },
  };
}

/** Requests of another company, at the same time as those of a test. */
export interface Load {
  /** Ends it. Returns how many requests were answered, and all answers that were no success. */
  stop(): Promise<{ answered: number; failed: string[] }>;
}

const CONNECTIONS = 2;
const PAUSE_MS = 80;

/** Calls, leads and reads of a company, at every server in turn. */
export async function startLoad(company: Company, urls: () => string[]): Promise<Load> {
  const created = async (path: string, body: object, root: string) =>
    (await company.api('post', path, { body })).body[root] as { id: number };
  const buyer = await created('buyers', { name: 'Load', number: '+12125550199' }, 'buyer');
  const offer = await created('offers', { name: 'Load', buyer_ids: [buyer.id] }, 'offer');
  const schedule = await created('schedules', { name: 'Load', offer_id: offer.id }, 'schedule');
  const { lead_token } = schedule as unknown as { lead_token: string };
  const headers = {
    Authorization: `Basic ${Buffer.from(company.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const toCallerNumber = (n: number) => `+1213555${String(n % 10_000).padStart(4, '0')}`;
  const requests = [
    (n: number) => [
      'POST',
      'call_sessions',
      { offer_id: offer.id, caller_number: toCallerNumber(n) },
    ],
    () => ['GET', 'buyers?per_page=20', undefined],
    (n: number) => ['POST', 'leads', { lead_token, caller_id: toCallerNumber(n) }],
    () => ['GET', 'calls?per_page=20', undefined],
  ] as ((n: number) => [string, string, object | undefined])[];
  const stopping = new AbortController();
  const outcome = { answered: 0, failed: [] as string[] };
  const run = async (first: number) => {
    for (let n = first; !stopping.signal.aborted; n += CONNECTIONS) {
      const [method, path, body] = requests[n % requests.length]!(n);
      const all = urls();
      const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const res = await fetch(`${all[n % all.length]}/api/v1/${path}`, options).catch(
        () => undefined,
      );
      // A server that a test has killed does not answer.
      if (res) outcome.answered += 1;
      if (res && res.status >= 300)
        outcome.failed.push(`${path}: ${res.status} ${await res.text()}`);
      else await res?.arrayBuffer();
      await pause(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => run(n)));
  return {
    stop: async () => {
      stopping.abort();
      await running;
      return outcome;
    },
  };
}
