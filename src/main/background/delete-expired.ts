import { deleteUnusedCounts } from '../../data/counts/saved-counts';
import { requireRightClock } from '../../data/postgres/clock-skew';
import type { Deps } from '../../domain/deps';
import { endLoopFault, recordLoopFault } from '../../data/jobs/loop-faults';
import { foldNextActions } from '../../domain/leads/fold-next-actions';
import { deleteExpiredRows, deleteOldRecords } from '../../operate/privacy/delete-old';
import { deleteEndedSignIns } from '../../domain/people/sign-in/delete-ended';
import { deleteOldWebhookLogs } from '../../domain/webhooks/delete-old-logs';
import { collectFromParts } from '../../operate/installation/all-parts';
import { listStoredFiles } from '../../operate/installation/stored-files';
import { STORAGE_MARK } from '../../platform/storage/storage';

const HOUR_MS = 3_600_000;

/** Deletes expired and unneeded data, now and every hour. Returns the function that stops it. */
export function deleteExpiredHourly(deps: Deps): () => void {
  void deleteExpired(deps);
  const deleting = setInterval(() => void deleteExpired(deps), HOUR_MS);
  return () => clearInterval(deleting);
}

const FAILURE = 'expired data was not deleted';
/** Lasts until after the next attempt. */
const FAULT_SECONDS = (1.5 * HOUR_MS) / 1000;

/** A failed deletion is recorded, and does not stop the others. */
export async function deleteExpired(deps: Deps): Promise<void> {
  const [first, ...otherParts] = deps.parts();
  const shared = [deleteOrphanedUploads(deps), deps.directory.clean()];
  await Promise.all([
    first && noteFaults(first, [...shared, ...deletionsIn(first)]),
    ...otherParts.map((part) => noteFaults(part, deletionsIn(part))),
  ]);
}

function deletionsIn(part: Deps): Promise<void>[] {
  const { config, database } = part;
  const { sql } = database;
  const clockIsRight = requireRightClock(sql);
  return [
    ...deleteExpiredRows(sql),
    deleteUnusedCounts(sql),
    deleteEndedSignIns(sql),
    foldNextActions(sql),
    clockIsRight.then(() => deleteOldWebhookLogs(part, config.webhook_log_days)),
    clockIsRight.then(() => deleteOldRecords(part, config)),
  ];
}

async function noteFaults({ log, database }: Deps, deletions: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(deletions);
  const failed = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failed) log.warn({ err: reason as unknown }, FAILURE);
  if (failed.length > 0) await recordLoopFault(database.sql, FAILURE, FAULT_SECONDS);
  else await endLoopFault(database.sql, FAILURE);
}

/**
 * Deletes files that no record refers to: left by requests that were killed, or replaced. Files
 * younger than `age_ms` may still become part of a record.
 */
export async function deleteOrphanedUploads(
  { storage, parts }: Pick<Deps, 'storage' | 'parts'>,
  ageMs = 6 * HOUR_MS,
): Promise<void> {
  await storage.clearIncoming(ageMs);
  for await (const keyPage of storage.keysOlderThan(ageMs)) {
    const keys = keyPage.filter((key) => key !== STORAGE_MARK);
    const used = new Set(
      await collectFromParts({ parts }, ({ sql }) => listStoredFiles(sql, { among: keys })),
    );
    for (const key of keys) if (!used.has(key)) await storage.remove(key);
  }
}
