import type { Db } from '../../data/tenant';
import { deletedAt } from '../../data/timestamps';
import type { Queue } from '../../data/jobs/queue';
import { leaveTeams } from '../people/leave-teams';
import { revokeLeadToken } from './lead-token';
import { revokeSourceTokens } from './source-tokens';

/**
 * Deletes a locked offer, detaches the records that refer to it, and queues the removal of its
 * leads. Returns its lead token, which is invalid from now on.
 */
export async function deleteOffer(
  tx: Db,
  id: bigint,
  { queue, now }: { queue: Queue; now: Date },
): Promise<string> {
  const offer = { offer_id: id };
  const { lead_token } = await tx.prisma.offer.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  await revokeLeadToken(tx, offer);
  await revokeSourceTokens(tx, offer, now);
  await tx.prisma.schedule.updateMany({ where: offer, data: { offer_id: null } });
  await tx.prisma.number.updateMany({
    where: { ...offer, deleted_at: null },
    data: { offer_id: null, updated_at: now },
  });
  await leaveTeams(tx, { kind: 'offer', id }, now);
  await tx.prisma.offerBuyer.deleteMany({ where: offer });
  await tx.prisma.offerBuyerGroup.deleteMany({ where: offer });
  await tx.prisma.buyerSuppressionOffer.deleteMany({ where: offer });
  await queue.add(tx, 'remove_leads', { company_id: String(tx.company_id), offer_id: String(id) });
  return lead_token;
}
