import { lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { HttpProblem } from '../errors';
import { wakeList } from './file-queue';

/** Stops an import where it is: its run finds that the file is not its own any more, and the next file of the list has its turn. Refuses with 404 and 422. */
export async function stopSuppressionFile(
  db: Db,
  reference: Reference,
  { queue, clock }: Pick<Deps, 'queue' | 'clock'>,
): Promise<bigint> {
  const now = clock();
  const { id, status } = await lockRecord(db, 'buyer_suppression_files', reference, ['status']);
  if (status === 'stopped') return id;
  if (status !== 'pending' && status !== 'running')
    throw HttpProblem.field('status', `is ${status} already: there is nothing to stop`);
  const { buyer_suppression_id } = await db.prisma.buyerSuppressionFile.update({
    where: { company_id_id: { company_id: db.company_id, id } },
    data: { status: 'stopped', stopped_at: now, updated_at: now, user_updated_at: now },
  });
  if (buyer_suppression_id !== null) await wakeList(db, queue, buyer_suppression_id);
  return id;
}
