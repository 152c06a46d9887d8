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

/** Measures the CPU milliseconds that each unit of work costs the service and the database. */
export function cpuMeter(service: number | undefined) {
  const read = () => ({
    // With WEB_CONCURRENCY, most of it is its children's.
    service: service === undefined ? 0 : cpuSeconds(service, { children: true }),
    database: cpuSeconds(postmaster(), { children: true }),
  });
  const before = read();
  return (units: number): { cpu_service_ms: number; cpu_database_ms: number } => {
    const after = read();
    const each = (key: 'service' | 'database') =>
      Number((((after[key] - before[key]) * 1000) / Math.max(1, units)).toFixed(2));
    return { cpu_service_ms: each('service'), cpu_database_ms: each('database') };
  };
}
