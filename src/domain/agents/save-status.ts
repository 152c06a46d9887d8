import { readDefaults, type Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { withDefaults } from '../../api/request/defaults';

type Fields = Schemas['AgentStatusFields'];

export const DEFAULTS = readDefaults('AgentStatusFields') as {
  is_online: boolean;
  position: number;
};

type Columns = Pick<Fields, 'key' | 'name' | 'external_record_id'> & Partial<typeof DEFAULTS>;

/** A null restores the default of a column. */
function toColumns(fields: Fields): Columns {
  const { key, name, is_online, position, external_record_id } = withDefaults(fields, DEFAULTS);
  return { key, name, is_online, position, external_record_id } as Columns;
}

export async function createStatus(
  tx: Db,
  fields: Schemas['AgentStatusCreate'],
  now: Date,
): Promise<bigint> {
  const data = {
    ...(toColumns({ ...DEFAULTS, ...fields }) as Columns & typeof DEFAULTS),
    key: fields.key,
    name: fields.name,
    company_id: tx.company_id,
    ...createdAt(now),
  };
  return (await tx.prisma.agentStatus.create({ data, select: { id: true } })).id;
}

/** Changes a locked status. Throws 422 if a built-in status would change its meaning. */
export async function updateStatus(
  tx: Db,
  id: bigint,
  { fields, now }: { fields: Schemas['AgentStatusUpdate']; now: Date },
): Promise<void> {
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const columns = toColumns(fields);
  const before = await tx.prisma.agentStatus.findUniqueOrThrow({
    where,
    select: { built_in: true, key: true, is_online: true },
  });
  if (before.built_in) requireSameMeaning(before, columns);
  await tx.prisma.agentStatus.update({
    where,
    data: { ...columns, ...changedAt(now) },
  });
}

/** Deletes a locked status. Throws a 422 problem for a built-in one, and for one that is in use. */
export async function deleteStatus(tx: Db, id: bigint, now: Date): Promise<void> {
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const { built_in } = await tx.prisma.agentStatus.findUniqueOrThrow({
    where,
    select: { built_in: true },
  });
  if (built_in)
    throw HttpProblem.field(
      'id',
      'wrong_state',
      'names a built-in status, which cannot be deleted; it can be renamed',
    );
  await requireUnused(tx, id);
  await tx.prisma.agentStatus.update({
    where,
    data: deletedAt(now),
  });
}

function requireSameMeaning(
  before: { key: string; is_online: boolean },
  { key, is_online }: Columns,
): void {
  const mustStay = (field: 'key' | 'is_online') =>
    HttpProblem.field(
      field,
      'wrong_state',
      `must stay ${before[field]}: the status is built in and can only be renamed`,
    );
  if (key !== undefined && key !== before.key) throw mustStay('key');
  if (is_online !== undefined && is_online !== before.is_online) throw mustStay('is_online');
}

/**
 * The status is locked, and agents lock it before they enter it: none can enter in the meantime.
 */
async function requireUnused(db: Db, agentStatusId: bigint): Promise<void> {
  const agents = await db.prisma.agent.count({
    where: { agent_status_id: agentStatusId, deleted_at: null },
  });
  if (agents > 0)
    throw HttpProblem.field(
      'id',
      'in_use',
      `names a status that ${agents} of your agents are in; put them into another first`,
    );
}
