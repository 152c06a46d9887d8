import { lockRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/tenant';
import { changedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { enqueueNextFile } from './file-queue';

/**
 * Stops an import at its present row, and starts the next file of the list. A run in progress
 * notices that it has ended at its next write. Throws 404, and 422 for a file that has been
 * imported.
 */
export async function stopSuppressionFile(
  tx: Db,
  reference: Reference,
  { queue, clock }: Pick<Deps, 'queue' | 'clock'>,
): Promise<bigint> {
  const now = clock();
  const { id, status } = await lockRecord(tx, 'buyer_suppression_files', reference, ['status']);
  if (status === 'stopped') return id;
  if (status !== 'pending' && status !== 'running')
    throw HttpProblem.field(
      'status',
      'wrong_state',
      `is ${status} already: there is nothing to stop`,
    );
  const { buyer_suppression_id } = await tx.prisma.buyerSuppressionFile.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { status: 'stopped', stopped_at: now, ...changedAt(now) },
  });
  if (buyer_suppression_id !== null) await enqueueNextFile(tx, queue, buyer_suppression_id);
  return id;
}
