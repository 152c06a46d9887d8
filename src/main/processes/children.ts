import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sumCounters, renderMetrics, type MetricSnapshot } from '../../api/metrics';
import { StartError } from '../../platform/start-error';
import { registry } from '../../platform/telemetry/metrics';
import type { Role, Start, ToChild, ToPrimary } from './messages';

/** A child that has not ended by itself after this time is killed; its own limit is shorter. */
const STOP_TIMEOUT_MS = 8_500;
/** How long the server waits for a replaced process to end: it still has connections. */
const RETIRE_TIMEOUT_MS = 15_000;
/** A process that keeps dying is started again after pauses from MIN_PAUSE_MS to MAX_PAUSE_MS. */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** A process that has run this long did not die at its start. */
const STEADY_MS = 30_000;
/** A process that is busy for longer counts with its last answer. */
const MEASURE_TIMEOUT_MS = 2_000;

interface ChildrenOptions {
  log: Logger;
  start: Omit<Start, 'role'>;
}

/** A process of the server, across its restarts. */
interface ChildSlot {
  role: Role;
  pause_ms: number;
  child: Worker;
}

/** The processes that a server has started, each started again when it dies. */
export class Children {
  private stopping = false;
  private readonly slots: ChildSlot[] = [];
  private restarting = Promise.resolve();
  private readonly measured = new Map<Worker, MetricSnapshot>();
  /** Counts of processes that have died: a sum must not decrease. */
  private endedCounts: Promise<MetricSnapshot> = Promise.resolve([]);
  private measurements = 0;

  constructor(private readonly options: ChildrenOptions) {
    cluster.setupPrimary({ exec: join(__dirname, `child${extname(__filename)}`) });
  }

  /** Starts a process, and resolves when it does its work. */
  async add(role: Role): Promise<void> {
    const child = await this.startReady(role);
    const slot: ChildSlot = { role, pause_ms: MIN_PAUSE_MS, child };
    this.watch(slot, child);
    this.slots.push(slot);
  }

  /**
   * Replaces the processes one after the other, with the build that is on the disk now: each
   * continues until the next does its work. If one cannot start, the old ones that are left stay.
   */
  restart(): Promise<void> {
    const { log } = this.options;
    this.restarting = this.restarting
      .then(() => this.restartOnce())
      .then(
        (isDone) => isDone && log.info('all processes were replaced'),
        (err: unknown) => log.error({ err }, 'a process cannot be replaced; those of before stay'),
      )
      .then(() => undefined);
    return this.restarting;
  }

  /** Returns false if the server ends meanwhile. */
  private async restartOnce(): Promise<boolean> {
    for (const slot of this.slots) {
      if (this.stopping) return false;
      const { role, child } = slot;
      this.watch(slot, await this.startReady(role));
      await retireChild(child);
    }
    return true;
  }

  private async startReady(role: Role): Promise<Worker> {
    const child = this.start(role);
    await new Promise<void>((done, fail) => {
      child.on('message', ({ kind }: ToPrimary) => kind === 'ready' && done());
      child.once('exit', () =>
        // The process has printed the reason.
        fail(new StartError('A process of the server could not start; see above.')),
      );
    });
    return child;
  }

  /** Lets all processes complete their work, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    const running = workers();
    const endedCounts = running.map((child) => new Promise((done) => child.once('exit', done)));
    for (const child of running) send(child, { kind: 'stop' });
    const timeout = setTimeout(
      () => running.forEach((child) => child.process.kill('SIGKILL')),
      STOP_TIMEOUT_MS,
    );
    await Promise.all(endedCounts);
    clearTimeout(timeout);
  }

  private start(role: Role): Worker {
    const child = cluster.fork();
    child.on('error', () => undefined);
    child.on('message', (message: ToPrimary) => this.answer(child, message));
    send(child, { kind: 'start', start: { ...this.options.start, role } });
    return child;
  }

  /** Starts the process again when it has died, unless another one has replaced it. */
  private watch(slot: ChildSlot, child: Worker): void {
    const { log } = this.options;
    slot.child = child;
    const started = performance.now();
    child.once('exit', (code, signal) => {
      this.keepCounts(child);
      if (this.stopping || slot.child !== child) return;
      if (performance.now() - started > STEADY_MS) slot.pause_ms = MIN_PAUSE_MS;
      const { role, pause_ms } = slot;
      log.error({ role, code, signal, pause_ms }, 'a process has ended and is started again');
      slot.pause_ms = Math.min(2 * pause_ms, MAX_PAUSE_MS);
      setTimeout(() => {
        if (!this.stopping && slot.child === child) this.watch(slot, this.start(role));
      }, pause_ms);
    });
  }

  private answer(child: Worker, message: ToPrimary): void {
    if (message.kind === 'measured') {
      this.measured.set(child, message.measured);
      child.emit(`measured ${message.id}`);
    }
    if (message.kind === 'sum_request')
      void this.sum().then((page) => send(child, { kind: 'sum', id: message.id, page }));
  }

  private async sum(): Promise<string> {
    const id = ++this.measurements;
    await Promise.all(workers().map((child) => measure(child, id)));
    const endedCounts = await this.endedCounts;
    return renderMetrics([
      await registry.getMetricsAsJSON(),
      endedCounts,
      ...this.measured.values(),
    ]);
  }

  private keepCounts(child: Worker): void {
    const last = this.measured.get(child);
    this.measured.delete(child);
    if (last)
      this.endedCounts = this.endedCounts.then((endedCounts) => sumCounters([endedCounts, last]));
  }
}

const workers = (): Worker[] =>
  Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);

/** A dying process cannot be reached. */
function send(child: Worker, message: ToChild): void {
  if (child.isConnected()) child.send(message, () => undefined);
}

/** Resolves at the first of these events of a process, or after a time limit. */
async function waitFor(child: Worker, events: string[], limitMs: number): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  // Not race: where the process cannot be reached, `once` fails, and the limit counts.
  await Promise.any([
    pause(limitMs, undefined, { signal }),
    ...events.map((event) => once(child, event, { signal })),
  ]);
  over.abort();
}

/** A process with a long request ends while the next are replaced. */
async function retireChild(child: Worker): Promise<void> {
  if (child.isDead()) return;
  send(child, { kind: 'retire' });
  await waitFor(child, ['exit'], RETIRE_TIMEOUT_MS);
}

/** Requests the metrics of a process, and waits for its answer or its end. */
async function measure(child: Worker, id: number): Promise<void> {
  if (!child.isConnected()) return;
  send(child, { kind: 'measure', id });
  await waitFor(child, [`measured ${id}`, 'exit'], MEASURE_TIMEOUT_MS);
}
