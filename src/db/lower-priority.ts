import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Pool, PoolClient } from 'pg';

// Background work yields the processor to requests. PostgreSQL has no priorities of its own, but
// each of its sessions is a process, which has one.

/**
 * A nice value. Beside a busy process of normal priority, one of 5 gets about a quarter of a
 * processor, and one of 10 a tenth.
 */
export type Niceness = 5 | 10;

/** What pg knows of an open connection, and its types do not. */
interface Connected {
  processID?: number;
  connection?: { stream?: { localPort?: number } };
}

/**
 * Lowers the priority of the sessions of a pool, where that is possible: on Linux, for a database
 * on the same machine that belongs to the same user or that the superuser may change.
 */
export function lowerPriority(pool: Pool, niceness: Niceness): void {
  pool.on('connect', (client: PoolClient) => {
    const { processID: pid, connection } = client as unknown as Connected;
    const port = connection?.stream?.localPort;
    if (pid === undefined || port === undefined) return;
    try {
      if (isSession(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), port)) giveWay(niceness, pid);
    } catch {
      // Another machine or another system: the session keeps its priority.
    }
  });
}

/** Lowers the priority of a process, by default this one, if that is permitted; never raises it. */
export function giveWay(niceness: Niceness, pid = 0): void {
  try {
    if (getPriority(pid) < niceness) setPriority(pid, niceness);
  } catch {
    // Not permitted.
  }
}

/**
 * Whether a process is the session of the connection from a local port. The process of that number
 * may be any other where the database runs on another machine or in a container.
 */
export const isSession = (title: string, port: number): boolean =>
  title.startsWith('postgres: ') && title.includes(`(${port}) `);
