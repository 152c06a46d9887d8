import { readdirSync, readFileSync } from 'node:fs';

// CPU time is what a busy machine distorts least: a request costs the same when it has to wait.

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

interface Times {
  parent: number;
  /** Seconds of the process. */
  own: number;
  /** Seconds of its children that have ended. */
  ended: number;
}

function timesOf(pid: number): Times | undefined {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const seconds = (at: number) =>
      (Number(fields[at]) + Number(fields[at + 1])) / TICKS_PER_SECOND;
    return { parent: Number(fields[1]), own: seconds(11), ended: seconds(13) };
  } catch {
    return undefined;
  }
}

/** CPU seconds of a process so far; with its children, those included that have ended. */
export function cpuSeconds(pid: number, { children = false } = {}): number {
  const { own = 0, ended = 0 } = timesOf(pid) ?? {};
  if (!children) return own;
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === pid)
    .reduce((sum, times) => sum + times!.own, 0);
  return own + ended + running;
}

/** The process that has started the others of the bench's database. */
export const postmaster = (): number =>
  Number(readFileSync('.bench/postgres/postmaster.pid', 'utf8').split('\n')[0]);

/** CPU seconds that all processors of the machine have worked so far, whatever for. */
function machineSeconds(): number {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [, user, nice, system, , , irq, softirq] = line!.split(/\s+/).map(Number);
  return (user! + nice! + system! + irq! + softirq!) / TICKS_PER_SECOND;
}

/** The processes of the service, each with its children. */
export interface ServicePids {
  api?: readonly number[];
  workers?: readonly number[];
}

/** What a part of a run has taken, in CPU seconds. */
export interface Spent {
  /** How long it took. */
  seconds: number;
  api: number;
  workers: number;
  database: number;
  /** This process, which makes the load. */
  load: number;
  /** The whole machine. */
  machine: number;
}

/** Measures from now on; the result measures until it is called. */
export function spentMeter({ api = [], workers = [] }: ServicePids): () => Spent {
  // With WEB_CONCURRENCY, most of a service is its children's.
  const sum = (pids: readonly number[]) =>
    pids.reduce((seconds, pid) => seconds + cpuSeconds(pid, { children: true }), 0);
  const read = (): Spent => ({
    seconds: performance.now() / 1000,
    api: sum(api),
    workers: sum(workers),
    database: cpuSeconds(postmaster(), { children: true }),
    load: cpuSeconds(process.pid),
    machine: machineSeconds(),
  });
  const before = read();
  return () => {
    const after = read();
    const parts = Object.keys(after) as (keyof Spent)[];
    return Object.fromEntries(parts.map((part) => [part, after[part] - before[part]])) as never;
  };
}

/** Measures the CPU milliseconds that each unit of work costs the service and the database. */
export function cpuMeter(service: number | undefined) {
  const spent = spentMeter({ api: service === undefined ? [] : [service] });
  return (units: number): { cpu_service_ms: number; cpu_database_ms: number } => {
    const { api, database } = spent();
    const each = (seconds: number) => Number(((seconds * 1000) / Math.max(1, units)).toFixed(2));
    return { cpu_service_ms: each(api), cpu_database_ms: each(database) };
  };
}
