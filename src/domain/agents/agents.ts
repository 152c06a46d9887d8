import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { findOrCreateUsers } from '../people/find-or-create-users';
import { findOfflineStatus } from './built-in-statuses';
import { changeStatus, recordFirstStatus, resolveStatus } from './change-status';
import { deleteAgent } from './delete-agent';
import { findMine } from './events';

// Agents: the users who take calls, their statuses and call centers, and messages to them. Locks
// are taken in this order: status, call center, buyer group, buyer, user, message, agent; several
// agents in the order of their ids.

const agent = noun({
  schema: 'Agent',
  singular: 'agent',
  plural: 'agents',
  handled: ['mine'],
  joins: {
    u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id',
    s: 'LEFT JOIN agent_statuses s ON s.company_id = t.company_id AND s.id = t.agent_status_id',
  },
  // No index: companies have few agents.
  search: `lower(coalesce(t.name, u.name, '') || E'\\n' || coalesce(u.email, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
  computed: {
    name: 'coalesce(t.name, u.name)',
    user_email: 'u.email',
    status_key: 's.key',
    online: 'coalesce(s.is_online, false)',
  },
  parts: {
    call_center_ids: { pairs: 'agent_call_centers', column: 'call_center_id', locked: 'before' },
    buyer_ids: { pairs: 'agent_buyers', column: 'buyer_id', locked: 'before' },
  },
  filters: {
    call_center_id: `EXISTS (
      SELECT FROM agent_call_centers m
      JOIN call_centers c ON c.company_id = m.company_id AND c.id = m.call_center_id
      WHERE m.company_id = t.company_id AND m.agent_id = t.id
        AND lower({call_center_id}::text) IN (c.id::text, c.uuid::text)
    )`,
    own: 't.id = {own}::bigint',
  },
});

export const agents = (deps: Deps) => {
  const handlers = agent.handlers(deps, {
    unsaved: async ({ db }) => ({ agent_status_id: Number(await findOfflineStatus(db)) }),
    lock: async ({ tx, isNew, now, fields }) => {
      const { agent_status_id } = fields;
      // The user of an agent never changes.
      const userId = isNew ? await resolveUser(tx, fields, now) : undefined;
      if (agent_status_id !== undefined)
        return { userId, statusId: await resolveStatus(tx, { agent_status_id }) };
      return { userId, statusId: isNew ? await findOfflineStatus(tx) : undefined };
    },
    columns: ({ locked: { userId, statusId }, before, now }) =>
      before
        ? { agent_status_id: undefined }
        : { user_id: userId, agent_status_id: statusId, status_changed_at: now },
    save: async ({ tx, id, locked: { statusId }, before, now }) => {
      if (!before) await recordFirstStatus(tx, id, now);
      else if (statusId !== undefined)
        await changeStatus(tx, id, { agent_status_id: statusId, now });
    },
    deletion: {
      remove: ({ tx, id, now }) => deleteAgent(tx, id, now),
    },
  });
  const { change } = agent.writer(deps);
  return {
    ...handlers,
    listAgents: async ({ query: { mine, ...query }, db, caller }) => {
      const own = await findMine(db, caller, mine);
      return agent.list({ ...query, ...(own && { own: own.id }) }, { db, now: deps.clock() });
    },

    updateAgentStatus: (call: Call<'updateAgentStatus'>) =>
      change(call, {
        lock: (tx) => resolveStatus(tx, call.body),
        work: ({ tx, id, now, locked }) => changeStatus(tx, id, { agent_status_id: locked, now }),
      }),
  } satisfies Partial<Handlers>;
};

interface UserFields {
  user_id?: string | undefined;
  user_email?: string | undefined;
}

async function resolveUser(
  db: Db,
  { user_id, user_email }: UserFields,
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
