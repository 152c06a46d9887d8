import type { Schemas } from '../contract';
import { agentEvents, ownAgent, type OwnAgent } from './events';
import { commonColumns, type Projection } from '../db/projection';
import { findNamed } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { EventStream } from '../http/reply';
import { HttpProblem } from '../errors';
import { streamAgent } from './stream-agent';
import { reach, targetsOf, tellRecipients, writeTargets } from './send-message';

const named = (table: string, column: string) =>
  `ARRAY(SELECT m.${column} FROM ${table} m WHERE m.company_id = t.company_id AND m.agent_message_id = t.id ORDER BY m.${column})`;

export const projection = {
  schema: 'AgentMessage',
  singular: 'agent_message',
  plural: 'agent_messages',
  fulltext: `lower(coalesce(t.content, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('agent_messages'),
    type: `'AgentMessage'`,
    content: true,
    agent_status_id: true,
    user_id: true,
    agent_widget_count: 'coalesce(t.agent_widget_count, 0)',
    buyer_ids: named('agent_message_buyers', 'buyer_id'),
    buyer_group_ids: named('agent_message_buyer_groups', 'buyer_group_id'),
    call_center_ids: named('agent_message_call_centers', 'call_center_id'),
  },
} as const satisfies Projection<'AgentMessage', 'agent_message', 'agent_messages'>;

const REACHED =
  'EXISTS (SELECT FROM agent_message_recipients r WHERE r.company_id = t.company_id AND r.agent_message_id = t.id AND r.agent_id = {reached}::bigint)';
const EVENTS = { all: agentEvents(projection, false), limited: agentEvents(projection, true) };

/** Messages to agents. */
export const agentMessages = ({ clock, live }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listAgentMessages: async ({ query: { mine, ...query }, db, caller }) => {
      const own = mine
        ? await ownAgent(db, caller, {
            field: 'mine',
            message: 'must be left out: these credentials belong to no agent',
          })
        : undefined;
      return page(
        { ...query, ...(own && { reached: own.id }) },
        { db, now: clock(), projection, orders: {}, filters: { reached: REACHED } },
      );
    },

    newAgentMessage: async (call) => {
      const { content = null, agent_status_id: reference } = call.query;
      const status =
        reference === undefined
          ? null
          : await findNamed(call.db, 'agent_statuses', { reference, field: 'agent_status_id' });
      return records.unsaved(call, { content, agent_status_id: status && Number(status) });
    },

    showAgentMessage: records.show,

    createAgentMessage: (call) =>
      records.create(call, async (tx, { content, external_record_id, ...fields }, now) => {
        const { agent_status_id, ...lists } = await targetsOf(tx, fields);
        requireTarget(tx, lists);
        const own = { content, external_record_id, agent_status_id, user_id: call.caller.user_id };
        const data = {
          ...own,
          company_id: tx.company_id,
          user_updated_at: now,
          created_at: now,
          updated_at: now,
        };
        const { id } = await tx.prisma.agentMessage.create({ data, select: { id: true } });
        await writeTargets(tx, id, lists);
        await reach(tx, id, { again: true });
        return id;
      }),

    updateAgentMessage: (call) =>
      records.updateAfter(
        call,
        (tx, fields: Schemas['AgentMessageUpdate']) => targetsOf(tx, fields),
        async (tx, id, { fields, now, ahead: targets }) => {
          const { content, external_record_id } = fields;
          const where = key(tx.company_id, id);
          const before = await tx.prisma.agentMessage.findUniqueOrThrow({
            where,
            select: { content: true },
          });
          await tx.prisma.agentMessage.update({
            where,
            data: { content, external_record_id, user_updated_at: now, updated_at: now },
          });
          const other_content = content !== undefined && content !== before.content;
          if (await writeTargets(tx, id, targets)) await reach(tx, id, { again: other_content });
          else if (other_content) await tellRecipients(tx, id);
        },
      ),

    deleteAgentMessage: (call) =>
      records.delete(call, async (tx, id, now) => {
        await tx.prisma.agentMessage.update({
          where: key(tx.company_id, id),
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
        });
        await tellRecipients(tx, id);
      }),

    streamAgentMessages: async ({ query, db, caller, last_event_id }) => {
      const agent = await ownAgent(db, caller, {
        field: 'auth_token',
        message: 'must be the token of a user who is an agent',
      });
      const after = positionOf(agent, { header: last_event_id, parameter: query.last_event_id });
      const followed = {
        company_id: db.company_id,
        agent_id: agent.id,
        access_token_id: caller.access_token_id,
        after,
      };
      const wait_ms = (query.wait_seconds ?? 0) * 1000;
      return new EventStream((reader_gone) =>
        streamAgent({
          db,
          live,
          followed,
          events: db.accessScope ? EVENTS.limited : EVENTS.all,
          wait_ms,
          reader_gone,
        }),
      );
    },
  } satisfies Partial<Handlers>;
};

/** One who sees a part of the company does not speak to all of it. */
function requireTarget(
  { accessScope: limited }: Db,
  lists: Record<string, readonly bigint[] | undefined>,
): void {
  if (!limited || Object.values(lists).some((ids) => ids && ids.length > 0)) return;
  throw HttpProblem.field(
    'buyer_ids',
    'must name buyers, or buyer_group_ids or call_center_ids: your teams are granted single records',
  );
}

/** Where a stream goes on: after the event that the reader names, else after the newest. Refuses with 422 one that the agent has not had. */
function positionOf(
  { last_event_id }: OwnAgent,
  { header, parameter }: { header: string | undefined; parameter: number | undefined },
): string {
  const [field, position] = header
    ? ['Last-Event-ID', header.trim()]
    : ['last_event_id', parameter?.toString()];
  if (position === undefined) return last_event_id;
  if (/^\d{1,15}$/.test(position) && BigInt(position) <= BigInt(last_event_id)) return position;
  throw HttpProblem.field(
    field!,
    `must be the id of an event of this agent, from 0 to ${last_event_id}`,
  );
}
