import type { Client } from 'pg';
import { sqlOn } from '../db/sql';
import { StartError } from '../start-error';
import { TAKE_LOCK, WAIT_FOR_LOCK } from './queries/lock';

/**
 * Makes a session the only one that makes, fills, moves or migrates cells, until it ends. Throws
 * where another one does so now, unless it is to wait for that.
 */
export async function takeLock(coordinator: Client, { waits = false } = {}): Promise<void> {
  const sql = sqlOn(coordinator);
  if (waits) {
    await sql(WAIT_FOR_LOCK, {});
    return;
  }
  const [lock] = await sql(TAKE_LOCK, {});
  if (!lock!.taken) throw new CellsAreChanging();
}

export class CellsAreChanging extends StartError {
  constructor() {
    super('Another command is changing the cells now: wait until it has ended.');
  }
}
