import { findNamed } from '../../data/records';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { noun, selectIds } from '../../api/records/noun';
import { EventStream } from '../../api/reply/reply';
import { buildEventStatement, findMine, requireOwnAgent, type OwnAgent } from './events';
import { resolveTargets } from './message-targets';
import { notifyRecipients, requireTarget, saveTargets } from './save-message';
import { streamAgent } from './stream-agent';
import type { AgentStreams } from './streams';
import type { TakeStreamSlot } from '../../api/reply/stream-places';

const selectTargets = (target: string) =>
  selectIds(`agent_message_${target}s`, 'agent_message_id', `${target}_id`);

const agentMessage = noun({
  schema: 'AgentMessage',
  singular: 'agent_message',
  plural: 'agent_messages',
  handled: ['mine'],
  search: ['content', 'external_record_id'],
  computed: {
    agent_widget_count: 'coalesce(t.agent_widget_count, 0)',
    buyer_ids: selectTargets('buyer'),
    buyer_group_ids: selectTargets('buyer_group'),
    call_center_ids: selectTargets('call_center'),
  },
  filters: {
    recipient: `EXISTS (
      SELECT FROM agent_message_recipients r
      WHERE r.company_id = t.company_id AND r.agent_message_id = t.id
        AND r.agent_id = {recipient}::bigint
    )`,
  },
});
export const { projection } = agentMessage;

const EVENTS = {
  all: buildEventStatement(projection, false),
  limited: buildEventStatement(projection, true),
};

export const agentMessages = (deps: Deps) =>
  ({
    ...agentMessage.handlers(deps, {
      reads: ['content'],
      lock: async ({ tx, fields, isNew }) => {
        const targets = await resolveTargets(tx, fields);
        if (isNew) requireTarget(tx, targets);
        return targets;
      },
      // A change of the status is one of the targets.
      columns: ({ before, locked: { agent_status_id }, caller: { user_id } }) =>
        before ? { agent_status_id: undefined } : { agent_status_id, user_id },
      save: ({ tx, id, fields, before, locked }) =>
        saveTargets(tx, id, {
          targets: locked,
          isNew: !before,
          contentChanged: fields.content !== undefined && fields.content !== before?.content,
        }),
      unsaved: async ({ db, query }) => {
        const { content = null, agent_status_id: reference } =
          query as Call<'newAgentMessage'>['query'];
        const field = 'agent_status_id';
        const agentStatusId =
          reference === undefined
            ? null
            : Number(await findNamed(db, 'agent_statuses', { reference, field }));
        return { content, agent_status_id: agentStatusId };
      },
      deletion: {
        finish: ({ tx, id }) => notifyRecipients(tx, id),
      },
    }),

    listAgentMessages: async ({ query: { mine, ...query }, db, caller }) => {
      const agent = await findMine(db, caller, mine);
      const narrowed = { ...query, ...(agent && { recipient: agent.id }) };
      return agentMessage.list(narrowed, { db, now: deps.clock() });
    },
    streamAgentMessages: (call) => openStream(call, deps.live),
  }) satisfies Partial<Handlers>;

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
