import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { findNamed } from '../../data/records';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { EventStream } from '../../api/reply/reply';
import { buildEventStatement, requireOwnAgent, type OwnAgent } from './events';
import { resolveTargets } from './message-targets';
import { createMessage, deleteMessage, updateMessage } from './save-message';
import { streamAgent } from './stream-agent';
import type { AgentStreams } from './streams';
import type { TakeStreamSlot } from '../../api/reply/stream-places';

const targets = (table: string, column: string) => `ARRAY(
  SELECT m.${column}
  FROM ${table} m
  WHERE m.company_id = t.company_id AND m.agent_message_id = t.id
  ORDER BY m.${column}
)`;

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
    buyer_ids: targets('agent_message_buyers', 'buyer_id'),
    buyer_group_ids: targets('agent_message_buyer_groups', 'buyer_group_id'),
    call_center_ids: targets('agent_message_call_centers', 'call_center_id'),
  },
} as const satisfies Projection<'AgentMessage', 'agent_message', 'agent_messages'>;

const orders: Record<string, SortKey> = {
  ...BY_TIMES,
};

const IS_RECIPIENT = `EXISTS (
  SELECT FROM agent_message_recipients r
  WHERE r.company_id = t.company_id AND r.agent_message_id = t.id
    AND r.agent_id = {recipient}::bigint
)`;
const EVENTS = {
  all: buildEventStatement(projection, false),
  limited: buildEventStatement(projection, true),
};

export const agentMessages = ({ clock, live }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAgentMessages: async ({ query: { mine, ...query }, db, caller }) => {
      const message = 'must be left out: these credentials belong to no agent';
      const agent = mine
        ? await requireOwnAgent(db, caller, { field: 'mine', message })
        : undefined;
      return page(
        { ...query, ...(agent && { recipient: agent.id }) },
        { db, now: clock(), projection, orders, filters: { recipient: IS_RECIPIENT } },
      );
    },

    newAgentMessage: async (call) => {
      const { content = null, agent_status_id: reference } = call.query;
      const field = 'agent_status_id';
      const agentStatusId =
        reference === undefined
          ? null
          : Number(await findNamed(call.db, 'agent_statuses', { reference, field }));
      return records.showUnsaved(call, { content, agent_status_id: agentStatusId });
    },

    showAgentMessage: records.show,

    createAgentMessage: (call) =>
      records.create(call, (tx, fields, now) =>
        createMessage(tx, fields, { user_id: call.caller.user_id, now }),
      ),

    updateAgentMessage: (call) =>
      records.updateLockingFirst(call, resolveTargets, (tx, id, { fields, now, ahead }) =>
        updateMessage(tx, id, { fields, targets: ahead, now }),
      ),

    deleteAgentMessage: (call) => records.delete(call, deleteMessage),
    streamAgentMessages: (call) => openStream(call, live),
  } satisfies Partial<Handlers>;
};

async function openStream(
  { query, db, caller, last_event_id }: Call<'streamAgentMessages'>,
  live: AgentStreams & { takeSlot: TakeStreamSlot },
): Promise<EventStream> {
  const agent = await requireOwnAgent(db, caller, {
    field: 'auth_token',
    message: 'must be the token of a user who is an agent',
  });
  const followed = {
    company_id: db.company_id,
    agent_id: agent.id,
    access_token_id: caller.access_token_id,
    after: readStartPosition(agent, { header: last_event_id, parameter: query.last_event_id }),
  };
  const waitMs = (query.wait_seconds ?? 0) * 1000;
  const events = db.accessScope ? EVENTS.limited : EVENTS.all;
  return new EventStream((readerGone) => {
    const leave = live.takeSlot({ ...followed, reader: { kind: 'agent', id: agent.id } });
    readerGone.addEventListener('abort', leave, { once: true });
    return streamAgent({ db, live, followed, events, wait_ms: waitMs, reader_gone: readerGone });
  });
}

/**
 * The event after which a stream starts: the one that the reader names, by default the newest.
 * Throws a 422 problem for one that the agent has not had.
 */
function readStartPosition(
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
    'invalid_value',
    `must be the id of an event of this agent, from 0 to ${last_event_id}`,
  );
}
