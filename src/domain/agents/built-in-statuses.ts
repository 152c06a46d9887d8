import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';

/** The statuses that every company has, in the order of menus. */
const BUILT_IN = {
  available: 'Available',
  on_call: 'On call',
  wrap_up: 'Wrap-up',
  away: 'Away',
  offline: 'Offline',
};
const OFFLINE = 'offline' satisfies keyof typeof BUILT_IN;

export async function createBuiltInStatuses(db: Db, now: Date): Promise<void> {
  const rows = Object.entries(BUILT_IN).map(([key, name], n) => ({
    company_id: db.company_id,
    key,
    name,
    is_online: key !== OFFLINE,
    position: n + 1,
    built_in: true,
    created_at: now,
    updated_at: now,
  }));
  await db.prisma.agentStatus.createMany({ data: rows });
  await moveCount(db, 'agent_statuses', rows.length);
}

/** Returns the id of the status that new agents start in. */
export async function findOfflineStatus(db: Db): Promise<bigint> {
  const { id } = await db.prisma.agentStatus.findFirstOrThrow({
    where: { key: OFFLINE, deleted_at: null },
    select: { id: true },
  });
  return id;
}
