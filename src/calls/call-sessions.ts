import { visibleBuyers } from '../db/access-scope';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Json } from '../http/reply';
import { decisionOf, type DecidedBuyer, type Decision } from '../routing/engine/decision';
import { decisionParts } from '../routing/engine/explanation';
import { consideredOf } from '../routing/engine/route';
import { withPreDialChecks } from '../routing/pre-dial-webhooks';
import { beginCall } from './begin-call';
import { agentOf } from './describe-call';
import { explainRouting } from './explain-routing';
import { handleCallEvent } from './handle-event';
import { readCall, readDecisions, readKeyPresses } from './read-call';
import { readIncomingCall } from './read-incoming-call';
import { readSession, type CallSession } from './session';

/**
 * Calls in progress, for softswitches: begin a call, report its events, and ask what to do next;
 * also the decisions about a call, and what routing would decide now.
 *
 * Locks are taken in this order: the call (of a new one, its call_sid), caps of groups, caps of
 * buyers, leads.
 */
export const callSessions = ({ clock, request, pepper, carrier }: Deps) => {
  const edges = { request, pepper, clock, carrier };
  return {
    createCallSession: async ({ body, db }) => {
      const now = clock();
      const incoming = await readIncomingCall(db, body, now);
      const { session, created } = await withPreDialChecks(db, edges, (vetoes) =>
        beginCall(db, { ...incoming, vetoes }, now),
      );
      return reply(db, session, created ? 201 : 200);
    },

    showCallSession: async ({ params, db }) =>
      reply(db, await readSession(db, await readCall(db, params.id), { fresh: true })),

    createCallEvent: async ({ params, body, db }) => {
      const agent_id = await agentOf(db, body.agent_id ?? null);
      const session = await withPreDialChecks(db, edges, (vetoes) =>
        handleCallEvent(db, params.id, { ...body, agent_id, vetoes, must_be_used: true }, clock()),
      );
      return reply(db, session);
    },

    showCallDecision: async ({ params, db }) => {
      const { id } = await readCall(db, params.id);
      const decisions = await visibleParts(db, await readDecisions(db, id));
      return { status: 200, success: true, errors: {}, decisions, metadata: { root: 'decisions' } };
    },

    explainRouting: async ({ body, db, caller: asker }) => {
      const at = body.at ? new Date(body.at) : clock();
      const asking = { at, asker, carrier };
      const { verdict, ordered } = await explainRouting(db, body, asking);
      if (!db.accessScope) return new Json<never>(explanation(decisionParts(verdict, ordered)));
      const explained = decisionOf(verdict, consideredOf(ordered));
      const [decision] = await visibleParts(db, [explained]);
      return {
        status: 200,
        success: true,
        errors: {},
        decision: decision!,
        metadata: { root: 'decision' },
      };
    },
  } satisfies Partial<Handlers>;
};

const explanation = (decision: readonly string[]): string[] => [
  '{"status":200,"success":true,"errors":{},"decision":',
  ...decision,
  ',"metadata":{"root":"decision"}}',
];

async function visibleParts(db: Db, decisions: readonly Decision[]): Promise<Decision[]> {
  if (!db.accessScope) return [...decisions];
  const ids = decisions.flatMap(({ candidates }) => candidates.map(({ buyer_id }) => buyer_id));
  const visible = await visibleBuyers(db, [...new Set(ids)]);
  return decisions.map((decision) => ({
    ...decision,
    message: isOfSource(decision) ? SOURCE_CAP : decision.message,
    buyer_ids: decision.buyer_ids.filter((id) => visible.has(id)),
    // `net_bid` reveals what traffic sources are paid.
    bids: decision.bids
      .filter(({ buyer_id }) => visible.has(buyer_id))
      .map((bid) => ({ ...bid, net_bid: null })),
    candidates: decision.candidates
      .filter(({ buyer_id }) => visible.has(buyer_id))
      .map(withoutEarnings),
    caps: decision.caps.filter(
      ({ buyer_id, cap }) => buyer_id !== null && visible.has(buyer_id) && !isOfEarnings(cap),
    ),
  }));
}

/** The earnings from a buyer reveal what traffic sources are paid. */
const isOfEarnings = (cap: unknown): boolean => String(cap).startsWith('earned_revenue');

const SOURCE_CAP = 'a cap of the traffic source is used up';

/** Users of buyers must not read how full a cap of a traffic source is. */
const isOfSource = ({ reason }: { reason: string | null }): boolean =>
  reason === 'traffic_source_cap_reached' || reason === 'traffic_source_concurrency_full';

function withoutEarnings(candidate: DecidedBuyer): DecidedBuyer {
  if (isOfSource(candidate)) return { ...candidate, message: SOURCE_CAP, details: null };
  if (!isOfEarnings(candidate.details?.cap)) return candidate;
  return { ...candidate, message: 'a cap of the buyer or its group is used up', details: null };
}

async function reply(db: Db, session: CallSession, status = 200): Promise<Json<never>> {
  const { key_presses: known, ...shown } = session;
  const { instruction } = session;
  const key_presses =
    instruction.action === 'connect' ? (known ?? (await readKeyPresses(db, session.id))) : [];
  const call_session = { ...shown, instruction: { ...instruction, key_presses } };
  return new Json(
    JSON.stringify({
      status,
      success: true,
      errors: {},
      call_session,
      metadata: { root: 'call_session' },
    }),
    {},
    status,
  );
}
