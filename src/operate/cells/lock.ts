import type { Client } from 'pg';
import { sqlOn } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { TAKE_LOCK, WAIT_FOR_LOCK } from './queries/lock';

/**
 * Makes a session the only one that may make, fill, move or migrate cells, until it ends. If
 * another session does so now, it waits with `waits`, otherwise it throws.
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
