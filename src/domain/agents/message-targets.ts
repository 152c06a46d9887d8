import { replaceAttached } from '../../data/attachments';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';

export interface TargetFields {
  agent_status_id?: string | null;
  buyer_ids?: string[] | null;
  buyer_group_ids?: string[] | null;
  call_center_ids?: string[] | null;
}

/** `TargetFields` as ids; undefined where the request does not change them. */
export interface Targets extends TargetLists {
  agent_status_id?: bigint | null;
}

interface TargetLists {
  buyer_ids?: bigint[];
  buyer_group_ids?: bigint[];
  call_center_ids?: bigint[];
}

const LISTS = {
  call_center_ids: {
    table: 'call_centers',
    pairs: 'agent_message_call_centers',
    column: 'call_center_id',
  },
  buyer_group_ids: {
    table: 'buyer_groups',
    pairs: 'agent_message_buyer_groups',
    column: 'buyer_group_id',
  },
  buyer_ids: { table: 'buyers', pairs: 'agent_message_buyers', column: 'buyer_id' },
} as const;
/** Locks are taken in this order. */
const LIST_NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];

/**
 * Finds the records that the fields name, and locks them against deletion. Throws a 422 problem
 * for unknown ones.
 */
export async function resolveTargets(db: Db, fields: TargetFields): Promise<Targets> {
  const targets: Targets = {};
  const { agent_status_id } = fields;
  if (agent_status_id !== undefined)
    targets.agent_status_id =
      agent_status_id === null ? null : await resolveStatus(db, agent_status_id);
  for (const field of LIST_NAMES) {
    const references = fields[field];
    if (references === undefined) continue;
    targets[field] = await resolveReferences(db, LISTS[field].table, references ?? [], { field });
  }
  return targets;
}

async function resolveStatus(db: Db, reference: Reference): Promise<bigint> {
  const field = 'agent_status_id';
  return (await resolveReferences(db, 'agent_statuses', [reference], { field }))[0]!;
}

/** The targets of a message, each list in the order of ids. */
async function loadTargets({ prisma }: Db, id: bigint): Promise<Required<TargetLists>> {
  const where = { agent_message_id: id };
  // One after the other: as relations, Prisma would read them at the same time on one connection.
  const centers = await prisma.agentMessageCallCenter.findMany({
    where,
    orderBy: { call_center_id: 'asc' },
  });
  const groups = await prisma.agentMessageBuyerGroup.findMany({
    where,
    orderBy: { buyer_group_id: 'asc' },
  });
  const buyers = await prisma.agentMessageBuyer.findMany({ where, orderBy: { buyer_id: 'asc' } });
  return {
    call_center_ids: centers.map(({ call_center_id }) => call_center_id),
    buyer_group_ids: groups.map(({ buyer_group_id }) => buyer_group_id),
    buyer_ids: buyers.map(({ buyer_id }) => buyer_id),
  };
}

const NO_TARGETS: Required<TargetLists> = {
  call_center_ids: [],
  buyer_group_ids: [],
  buyer_ids: [],
};

/**
 * Writes the targets of a locked message, and returns whether they have changed. A new one has its
 * status already.
 */
export async function writeTargets(
  db: Db,
  id: bigint,
  { targets, isNew }: { targets: Targets; isNew: boolean },
): Promise<boolean> {
  const { agent_status_id } = targets;
  let changed = false;
  if (!isNew && agent_status_id !== undefined) {
    const unchanged = await db.prisma.agentMessage.count({ where: { id, agent_status_id } });
    changed = unchanged === 0;
    if (changed)
      await db.prisma.agentMessage.updateMany({ where: { id }, data: { agent_status_id } });
  }
  if (!LIST_NAMES.some((name) => targets[name])) return changed;
  const before = isNew ? NO_TARGETS : await loadTargets(db, id);
  for (const name of LIST_NAMES) {
    const ids = targets[name];
    if (!ids || before[name].join() === ids.join()) continue;
    const { pairs, column } = LISTS[name];
    await replaceAttached(db, pairs, { agent_message_id: id }, { [column]: ids });
    changed = true;
  }
  return changed;
}
