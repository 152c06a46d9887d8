import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';

// Background work yields the processor to requests. PostgreSQL has no priorities, but each of its
// sessions is a process, which has one.

/** A nice value: next to a busy process of normal priority, it gets a tenth of a processor. */
const NICENESS = 10;

const RETRY_MS = 150;
const MAX_RETRIES = 20;

/** Properties of an open connection that the types of pg leave out. */
interface Connected {
  processID?: number;
  connection?: { stream?: { localPort?: number } };
}

/**
 * Lowers the priority of the sessions of a pool, where that is possible: on Linux, for a database
 * on the same machine that belongs to the same user or that the superuser may change.
 */
export function lowerPriority(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    const { processID: pid, connection } = client as unknown as Connected;
    const port = connection?.stream?.localPort;
    if (pid === undefined || port === undefined) return;
    const lower = () => {
      if (!isSession(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), port)) return;
      lowerProcess(pid);
      lowerGroup(pid);
    };
    try {
      lower();
    } catch (error) {
      // Linux changes one group per tenth of a second. Any other error means another machine or
      // another system, and the session keeps its priority.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') void retry(lower);
    }
  });
}

async function retry(lower: () => void): Promise<void> {
  for (let time = 0; time < MAX_RETRIES; time++) {
    await pause(RETRY_MS + Math.random() * RETRY_MS, undefined, { ref: false });
    try {
      return lower();
    } catch {
      // Another session was first, or this one has ended.
    }
  }
}

/** Lowers the priority of this process if that is permitted; never raises it. */
export function giveWay(): void {
  try {
    lowerProcess(process.pid);
    if (isSessionLeader()) lowerGroup(process.pid);
  } catch {
    // Not permitted, or another system.
  }
}

function lowerProcess(pid: number): void {
  if (getPriority(pid) < NICENESS) setPriority(pid, NICENESS);
}

/**
 * Lowers the priority of the process group that Linux made for a session: with autogroups, nice
 * values count only within a group, and each session of PostgreSQL has its own.
 */
function lowerGroup(pid: number): void {
  const group = `/proc/${pid}/autogroup`;
  if (existsSync(group)) writeFileSync(group, String(NICENESS));
}

/** True if the group contains only this process and its children. */
function isSessionLeader(): boolean {
  // pid (name) state parent group session …
  const [, , , session] = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)!.split(' ');
  return Number(session) === process.pid;
}

/**
 * Checks that a process is the session of the connection from a local port: the pid may belong to
 * any process where the database runs on another machine or in a container.
 */
export const isSession = (title: string, port: number): boolean =>
  title.startsWith('postgres: ') && title.includes(`(${port}) `);
