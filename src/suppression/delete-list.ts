import { findRecord, lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { moveCount } from '../db/counters';

interface Context extends Pick<Deps, 'queue' | 'clock'> {
  /** Looks at the locked record before anything is changed; throws to refuse. */
  check: () => Promise<void>;
}

/** Deletes a list and its files: they are gone for callers and buyers at once, and a job erases what they held. Refuses with 404. */
export async function deleteSuppressionList(
  db: Db,
  reference: Reference,
  { queue, clock, check }: Context,
): Promise<bigint> {
  const now = clock();
  const list = await findRecord(db, 'buyer_suppressions', reference);
  const key = [db.company_id, list];
  // A file is locked before its list, always.
  await db.query({
    text: 'SELECT FROM buyer_suppression_files WHERE company_id = $1 AND buyer_suppression_id = $2 AND deleted_at IS NULL ORDER BY id FOR UPDATE',
    values: key,
  });
  const { id } = await lockRecord(db, 'buyer_suppressions', reference);
  await check();
  await db.prisma.buyerSuppressionFile.updateMany({
    where: { buyer_suppression_id: id, deleted_at: null, status: { in: ['pending', 'running'] } },
    data: { status: 'stopped', stopped_at: now },
  });
  const files = await db.prisma.buyerSuppressionFile.updateMany({
    where: { buyer_suppression_id: id, deleted_at: null },
    data: { deleted_at: now, updated_at: now },
  });
  await db.prisma.buyerSuppressionBuyer.deleteMany({ where: { buyer_suppression_id: id } });
  await db.prisma.buyerSuppressionOffer.deleteMany({ where: { buyer_suppression_id: id } });
  await db.prisma.buyerSuppressionSchedule.deleteMany({ where: { buyer_suppression_id: id } });
  await db.prisma.buyerSuppression.update({
    where: { company_id_id: { company_id: db.company_id, id } },
    data: { deleted_at: now, updated_at: now, user_updated_at: now },
  });
  await moveCount(db, 'buyer_suppressions', -1);
  if (files.count > 0) await moveCount(db, 'buyer_suppression_files', -files.count);
  await queue.add(db, 'erase_suppression_list', {
    company_id: String(db.company_id),
    id: String(id),
  });
  return id;
}
