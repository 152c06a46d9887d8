import { createApp } from '../app';
import { exitWith, onStop, toTracingOptions } from '../background/process';
import { startTracing } from '../../platform/telemetry/tracing';
import { startJobs } from '../background/start';
import { loadConfig } from '../config';
import { giveWay } from '../../data/postgres/lower-priority';
import { openDeps } from '../../operate/cells/open-deps';
import { closeDeps } from '../../operate/installation/deps';
import { type Deps } from '../../domain/deps';
import type { MetricSnapshot } from '../../api/metrics';
import { listen } from '../../operate/installation/listen';
import { processes } from '../../platform/telemetry/metrics';
import { httpServer } from './http-server';
import { measurements } from './measure';
import type { Start, ToChild, ToPrimary } from './messages';

// A process that the server has started, with WEB_CONCURRENCY: it answers requests, or runs the
// background jobs. The server has opened and checked the installation. Without the server it ends
// at once (node:cluster).

interface Running {
  measure: () => Promise<MetricSnapshot>;
  /** Lets its clients leave for other processes; `stop` comes after it. */
  retire?(): Promise<void>;
  stop(): Promise<void>;
}

const sums = new Map<number, (page: string) => void>();
let lastSumId = 0;
/** Ends the process; until it begins its work, there is nothing to complete. */
let end: () => void = () => process.exit();
let retire: () => void = () => end();

const send = (message: ToPrimary) => void process.send!(message);

/** The metrics of all processes: only the server reaches them. */
function sum(): Promise<string> {
  lastSumId += 1;
  send({ kind: 'sum_request', id: lastSumId });
  return new Promise((done) => sums.set(lastSumId, done));
}

async function web(deps: Deps): Promise<Running> {
  const measured = measurements(deps, { sum });
  const app = createApp(deps, undefined, { measured });
  const { server, closeConnections, ...http } = httpServer(deps, app);
  await listen(server, deps.config);
  return {
    measure: measured.measured,
    retire: async () => {
      // Streams continue at another process.
      deps.live.close();
      await http.retire();
    },
    stop: async () => {
      closeConnections();
      deps.live.close();
      await http.stop();
    },
  };
}

async function jobs(deps: Deps): Promise<Running> {
  giveWay();
  const running = await startJobs(deps);
  return { measure: measurements(deps).measured, stop: running.stop };
}

async function run({ role, ...start }: Start): Promise<void> {
  const inBackground = role === 'jobs';
  processes.set({ role }, 1);
  const config = loadConfig();
  startTracing(toTracingOptions(config));
  const deps = await openDeps({ config, ...start, in_background: inBackground });
  const starting = (role === 'web' ? web : jobs)(deps);
  // Registered before requests arrive.
  const stop = async () => {
    await (await starting).stop();
    await closeDeps(deps);
  };
  end = onStop(deps, stop, ['SIGINT', 'SIGTERM']);
  const running = await starting;
  const { measure } = running;
  retire = () => void Promise.resolve(running.retire?.()).finally(end);
  process.on('message', (message: ToChild) => {
    if (message.kind === 'measure')
      void measure().then((measured) => send({ kind: 'measured', id: message.id, measured }));
    if (message.kind === 'sum') {
      sums.get(message.id)?.(message.page);
      sums.delete(message.id);
    }
  });
  send({ kind: 'ready' });
}

// SIGHUP is for the server, which then replaces its processes.
process.on('SIGHUP', () => undefined);
process.on('message', (message: ToChild) => {
  if (message.kind === 'start') run(message.start).catch(exitWith);
  if (message.kind === 'stop') end();
  if (message.kind === 'retire') retire();
});
