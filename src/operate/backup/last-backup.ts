import type { Sql } from '../../data/sql';
import { LAST_BACKUP, RECORD_BACKUP } from './queries/last-backup';

// When everything was last backed up: by `backup`, or by another tool, which `record-backup` tells.

export interface LastBackup {
  at: Date;
  /** Its age by the clock of the database. */
  hours: number;
}

/** Undefined before the first backup. */
export async function findLastBackup(sql: Sql): Promise<LastBackup | undefined> {
  const [row] = await sql(LAST_BACKUP, {});
  return row && { at: row.backed_up_at!, hours: row.hours! };
}

export async function recordBackup(sql: Sql, takenAt: Date): Promise<void> {
  await sql(RECORD_BACKUP, { taken_at: takenAt });
}
