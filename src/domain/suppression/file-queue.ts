import type { Db } from '../../data/db';
import type { Queue } from '../../data/jobs/queue';
import { LOCK_LIST, QUEUE_FILE } from './queries/files';

// The files of a list are imported one after another, in the order of their positions. A file is
// always locked before its list.

/**
 * Puts a new or locked file at the end of its list's queue, to be imported from its first row, even
 * if it has been imported before. A file without content or list is not queued.
 */
export async function queueFile(db: Db, queue: Queue, id: bigint, now: Date): Promise<void> {
  await db.prisma.rejectedRow.deleteMany({ where: { buyer_suppression_file_id: id } });
  const [file] = await db.sql(QUEUE_FILE, { id, now });
  if (file!.is_queued) await enqueueNextFile(db, queue, BigInt(file!.list!));
}

/**
 * Adds a job for the first file of a list, if it waits. Must be called in every transaction that
 * adds a file to the queue of a list or removes one: the lock on the list serializes these, so that
 * no file is overlooked.
 */
export async function enqueueNextFile(db: Db, queue: Queue, list: bigint): Promise<void> {
  const first = await findFirstFile(db, list);
  if (first?.status !== 'pending') return;
  const { company_id } = db;
  await queue.add(db, 'import_suppression_file', {
    company_id: String(company_id),
    id: String(first.id),
  });
}

/** The file of a list that is imported now, or the next one. Locks the list. */
export async function findFirstFile(
  db: Db,
  list: bigint,
): Promise<{ id: bigint; status: string } | null> {
  await db.sql(LOCK_LIST, { id: list });
  return db.prisma.buyerSuppressionFile.findFirst({
    where: {
      buyer_suppression_id: list,
      status: { in: ['pending', 'running'] },
      queue_position: { not: null },
      deleted_at: null,
    },
    orderBy: { queue_position: 'asc' },
    select: { id: true, status: true },
  });
}
