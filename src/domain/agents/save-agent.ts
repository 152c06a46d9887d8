import type { Schemas } from '../../platform/contract/contract';
import { replaceAttached } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { findOrCreateUsers } from '../people/find-or-create-users';
import { findOfflineStatus } from './built-in-statuses';
import { changeStatus, recordFirstStatus, resolveStatus } from './change-status';

type Fields = Schemas['AgentFields'];
type NewFields = Omit<Schemas['AgentCreate'], 'serializer'>;

/** Creates an agent, offline unless the request says otherwise, and returns its id. */
export async function createAgent(
  tx: Db,
  { user_id: reference, user_email, ...fields }: NewFields,
  now: Date,
): Promise<bigint> {
  const userId = await resolveUser(tx, { user_id: reference, user_email }, now);
  const agentStatusId =
    fields.agent_status_id === undefined
      ? await findOfflineStatus(tx)
      : await resolveStatus(tx, fields);
  const groups = await resolveGroups(tx, fields);
  const { id } = await tx.prisma.agent.create({
    data: {
      ...toColumns(fields),
      user_id: userId,
      agent_status_id: agentStatusId,
      company_id: tx.company_id,
      status_changed_at: now,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await recordFirstStatus(tx, id, now);
  await writeGroups(tx, id, groups);
  return id;
}

/** References in a change of an agent; undefined where they stay as they are. */
export interface AgentReferences extends Groups {
  agent_status_id: bigint | undefined;
}

/** Locks the references before the agent, in the order in which their deletion locks too. */
export async function resolveAgentReferences(db: Db, fields: Fields): Promise<AgentReferences> {
  const agentStatusId =
    fields.agent_status_id === undefined ? undefined : await resolveStatus(db, fields);
  return { agent_status_id: agentStatusId, ...(await resolveGroups(db, fields)) };
}

interface AgentChange {
  fields: Fields;
  references: AgentReferences;
  now: Date;
}

export async function updateAgent(
  tx: Db,
  id: bigint,
  { fields, references: { agent_status_id, ...groups }, now }: AgentChange,
): Promise<void> {
  await tx.prisma.agent.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...toColumns(fields), ...changedAt(now) },
  });
  if (agent_status_id !== undefined) await changeStatus(tx, id, { agent_status_id, now });
  await writeGroups(tx, id, groups);
}

async function resolveUser(
  db: Db,
  { user_id, user_email }: Pick<NewFields, 'user_id' | 'user_email'>,
  now: Date,
): Promise<bigint> {
  if (user_id !== undefined && user_email !== undefined)
    throw HttpProblem.field(
      'user_email',
      'conflicting_fields',
      'must be left out where user_id is given',
    );
  if (user_id !== undefined)
    return (await resolveReferences(db, 'users', [user_id], { field: 'user_id' }))[0]!;
  if (user_email === undefined)
    throw HttpProblem.field(
      'user_id',
      'missing_field',
      'must be given, or user_email instead of it',
    );
  if (db.accessScope)
    throw HttpProblem.field(
      'user_email',
      'beyond_your_rights',
      'is for superusers and key pairs of the company: give user_id, of a user of your teams',
    );
  return (await findOrCreateUsers(db, [user_email], now))[0]!;
}

function toColumns({ name, external_record_id }: Fields) {
  return {
    ...(name !== undefined && { name }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

/** Ids by the column of the join table. */
interface Groups {
  call_center_id: bigint[] | undefined;
  buyer_id: bigint[] | undefined;
}

async function resolveGroups(db: Db, fields: Fields): Promise<Groups> {
  const find = async (
    table: 'call_centers' | 'buyers',
    field: 'call_center_ids' | 'buyer_ids',
  ): Promise<bigint[] | undefined> =>
    fields[field] === undefined
      ? undefined
      : resolveReferences(db, table, fields[field] ?? [], { field });
  return {
    call_center_id: await find('call_centers', 'call_center_ids'),
    buyer_id: await find('buyers', 'buyer_ids'),
  };
}

async function writeGroups(
  db: Db,
  agentId: bigint,
  { call_center_id, buyer_id }: Groups,
): Promise<void> {
  if (call_center_id)
    await replaceAttached(db, 'agent_call_centers', { agent_id: agentId }, { call_center_id });
  if (buyer_id) await replaceAttached(db, 'agent_buyers', { agent_id: agentId }, { buyer_id });
}
