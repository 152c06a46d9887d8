import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';

export async function leaveTeams(
  db: Db,
  { kind, id }: { kind: 'buyer' | 'buyer_group' | 'offer' | 'traffic_source'; id: bigint },
  now: Date,
): Promise<void> {
  if (kind === 'offer') {
    await db.prisma.accessControlListOffer.deleteMany({ where: { offer_id: id } });
    return;
  }
  const deleted = await db.prisma.accessControlList.updateManyAndReturn({
    where: { [`generated_for_${kind}_id`]: id, deleted_at: null },
    data: { deleted_at: now, updated_at: now },
  });
  if (kind === 'buyer')
    await db.prisma.accessControlListBuyer.deleteMany({ where: { buyer_id: id } });
  else if (kind === 'traffic_source')
    await db.prisma.accessControlListTrafficSource.deleteMany({ where: { traffic_source_id: id } });
  else await db.prisma.accessControlListBuyerGroup.deleteMany({ where: { buyer_group_id: id } });
  for (const team of deleted) await emptyTeam(db, team.id);
  if (deleted.length > 0) await moveCount(db, 'access_control_lists', -deleted.length);
}

export async function emptyTeam(db: Db, teamId: bigint): Promise<void> {
  const where = { access_control_list_id: teamId };
  await db.prisma.accessControlListUser.deleteMany({ where });
  await db.prisma.accessControlListBuyer.deleteMany({ where });
  await db.prisma.accessControlListBuyerGroup.deleteMany({ where });
  await db.prisma.accessControlListOffer.deleteMany({ where });
  await db.prisma.accessControlListTrafficSource.deleteMany({ where });
}
