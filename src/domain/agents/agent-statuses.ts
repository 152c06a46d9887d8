import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Db } from '../../data/db';
import { noun } from '../../api/records/noun';

const agentStatus = noun({
  schema: 'AgentStatus',
  singular: 'agent_status',
  plural: 'agent_statuses',
  names: { update: 'updateAgentStatusSettings' },
  search: ['key', 'name', 'external_record_id'],
  computed: { built_in: 'coalesce(t.built_in, false)' },
});
export const { projection } = agentStatus;

export const agentStatuses = (deps: Deps) =>
  agentStatus.handlers(deps, {
    reads: ['built_in', 'key', 'is_online'],
    columns: ({ before, fields }) => {
      if (before?.built_in) requireSameMeaning(before, fields);
      return {};
    },
    deletion: {
      detach: async ({ tx, id, before }) => {
        if (before.built_in)
          throw HttpProblem.field(
            'id',
            'wrong_state',
            'names a built-in status, which cannot be deleted; it can be renamed',
          );
        await requireUnused(tx, id);
      },
    },
  });

interface Meaning {
  key: string;
  is_online: boolean;
}

/** Throws 422 if a built-in status would change its meaning. */
function requireSameMeaning(before: Meaning, fields: { key?: string; is_online?: unknown }): void {
  for (const field of ['key', 'is_online'] as const)
    if (fields[field] !== undefined && fields[field] !== before[field])
      throw HttpProblem.field(
        field,
        'wrong_state',
        `must stay ${before[field]}: the status is built in and can only be renamed`,
      );
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
