import { moveCount } from '../../data/counts/counters';
import { findRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/tenant';
import { deletedAt } from '../../data/timestamps';
import type { Queue } from '../../data/jobs/queue';
import { LOCK_FILES_OF_LIST } from './queries/files';

/** Locks the files of a list that will be deleted: a file is always locked before its list. */
export async function lockFilesOfList(tx: Db, reference: Reference): Promise<void> {
  const list = await findRecord(tx, 'buyer_suppressions', reference);
  await tx.sql(LOCK_FILES_OF_LIST, { list });
}

/**
 * Deletes a locked list and its locked files. They no longer suppress calls as soon as the
 * transaction commits; a job erases their content.
 */
export async function deleteSuppressionList(
  tx: Db,
  id: bigint,
  { queue, now }: { queue: Queue; now: Date },
): Promise<void> {
  const ofList = { buyer_suppression_id: id };
  const undeleted = { ...ofList, deleted_at: null };
  await tx.prisma.buyerSuppressionFile.updateMany({
    where: { ...undeleted, status: { in: ['pending', 'running'] } },
    data: { status: 'stopped', stopped_at: now },
  });
  const files = await tx.prisma.buyerSuppressionFile.updateMany({
    where: undeleted,
    data: { deleted_at: now, updated_at: now },
  });
  await tx.prisma.buyerSuppressionBuyer.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppressionOffer.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppressionSchedule.deleteMany({ where: ofList });
  await tx.prisma.buyerSuppression.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  if (files.count > 0) await moveCount(tx, 'buyer_suppression_files', -files.count);
  const { company_id } = tx;
  await queue.add(tx, 'erase_suppression_list', { company_id: String(company_id), id: String(id) });
}
