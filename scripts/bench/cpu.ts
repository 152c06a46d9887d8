import { readdirSync, readFileSync } from 'node:fs';

// CPU time varies least on a busy machine: a request costs the same when it has to wait.

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

interface Times {
  parent: number;
  ownSeconds: number;
  /** Seconds of its children that have ended. */
  ended: number;
}

function readTimes(pid: number): Times | undefined {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const seconds = (at: number) =>
      (Number(fields[at]) + Number(fields[at + 1])) / TICKS_PER_SECOND;
    return { parent: Number(fields[1]), ownSeconds: seconds(11), ended: seconds(13) };
  } catch {
    return undefined;
  }
}

/** CPU seconds of a process so far; `children` adds those of its children, including ended ones. */
export function cpuSeconds(pid: number, { children = false } = {}): number {
  const { ownSeconds = 0, ended = 0 } = readTimes(pid) ?? {};
  if (!children) return ownSeconds;
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === pid)
    .reduce((sum, times) => sum + times!.ownSeconds, 0);
  return ownSeconds + ended + running;
}

/** Returns the process id of the postmaster of the bench's database. */
export const postmaster = (): number =>
  Number(readFileSync('.bench/postgres/postmaster.pid', 'utf8').split('\n')[0]);

/** CPU seconds that all processors of the machine have worked since its start. */
function machineSeconds(): number {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [, user, nice, system, , , irq, softirq] = line!.split(/\s+/).map(Number);
  return (user! + nice! + system! + irq! + softirq!) / TICKS_PER_SECOND;
}

export interface ServicePids {
  api?: readonly number[];
  workers?: readonly number[];
}

/** CPU seconds that a part of a run has used. */
export interface CpuUsage {
  /** Elapsed seconds, not CPU. */
  seconds: number;
  api: number;
  workers: number;
  database: number;
  /** This process, which generates the load. */
  load: number;
  machine: number;
}

/** Starts measuring; the returned function returns the usage since then. */
export function startUsageMeter({ api = [], workers = [] }: ServicePids): () => CpuUsage {
  // With WEB_CONCURRENCY, child processes do most of the work of a service.
  const sum = (pids: readonly number[]) =>
    pids.reduce((seconds, pid) => seconds + cpuSeconds(pid, { children: true }), 0);
  const read = (): CpuUsage => ({
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
    const parts = Object.keys(after) as (keyof CpuUsage)[];
    return Object.fromEntries(parts.map((part) => [part, after[part] - before[part]])) as never;
  };
}

/** Measures CPU milliseconds per unit of work, of the service and of the database. */
export function startCpuMeter(service: number | undefined) {
  const spent = startUsageMeter({ api: service === undefined ? [] : [service] });
  return (units: number): { cpu_service_ms: number; cpu_database_ms: number } => {
    const { api, database } = spent();
    const perUnit = (seconds: number) => Number(((seconds * 1000) / Math.max(1, units)).toFixed(2));
    return { cpu_service_ms: perUnit(api), cpu_database_ms: perUnit(database) };
  };
}
