import type { Schemas } from '../../platform/contract/contract';
import type { CarrierName } from '../../platform/carriers/carrier';
import { findRecord } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { Json } from '../../api/reply/reply';
import { countPassedOver, type Decision } from '../routing/engine/explain';
import { isCheckRequired, runWithPreDialChecks } from '../routing/pre-dial';
import { startCall } from './start';
import { findAgentId } from './describe-call';
import { explainRouting } from './explain-routing';
import { handleCallEvent } from './handle-event';
import { handlePersonEvent } from './person-event';
import { readCurrentSession } from './person-session';
import { readBilling } from './read-billing';
import { readCall, readDecisions, readKeyPresses } from './read-call';
import { readIncomingCall } from './receive';
import type { CallSession } from './session';
import { readVisibleParts } from './visible-decisions';

/** A test call belongs to the sandbox, whatever carrier this installation has. */
const SANDBOX = 'sandbox' satisfies CarrierName;
const DEFAULT_TALK_SECONDS = 60;
const NOTICE =
  'A test call counts like any other: in caps, in what its buyer owes, and in what its traffic ' +
  'source is paid. Update the call to take its dollars back.';

/**
 * Calls in progress, for softswitches: begin a call, report its events, and ask what to do next;
 * also the decisions about a call, and what routing would decide now.
 *
 * Locks are taken in this order: the call (of a new one, its call_sid), caps of groups, caps of
 * buyers, leads.
 */
export const callSessions = (deps: Deps) => {
  const { clock, request, pepper, carrier } = deps;
  const edges = { request, pepper, clock, carrier };
  return {
    ...testing(deps),

    createCallSession: async ({ body, db }) => {
      const now = clock();
      const incoming = await readIncomingCall(db, body, now);
      const { session, created } = await runWithPreDialChecks(db, edges, (preDial) =>
        startCall(db, { ...incoming, preDial }, now),
      );
      return reply(db, session, created ? 201 : 200);
    },

    showCallSession: async ({ params, db }) =>
      reply(db, await readCurrentSession(db, await readCall(db, params.id), { fresh: true })),

    createCallEvent: async ({ params, body, db }) => {
      const agentId = await findAgentId(db, body.agent_id ?? null);
      const received = { ...body, agent_id: agentId, received_at: clock() };
      const session = await runWithPreDialChecks(db, edges, (preDial) => {
        const reported = { ...received, preDial, must_be_used: true };
        return handleCallEvent(
          db,
          params.id,
          {
            ...reported,
            of_person: (call) => handlePersonEvent(db, call, reported, clock()),
          },
          clock(),
        );
      });
      return reply(db, session);
    },

    showCallDecision: async ({ params, db, caller: asker }) => {
      // Also of a call that was never routed: it has no decisions.
      const id = Number(await findRecord(db, 'calls', params.id));
      const decisions = await readVisibleParts(db, asker, await readDecisions(db, id));
      const billing = await readBilling(db, id, decisions);
      return {
        ...{ status: 200, success: true, errors: {} },
        ...{ decisions, billing },
        metadata: { root: 'decisions' },
      };
    },

    explainRouting: async ({ body, db, caller: asker }) => {
      const at = body.at ? new Date(body.at) : clock();
      const asking = { at, asker, carrier };
      const explained = await explainRouting(db, body, asking);
      const [decision] = await readVisibleParts(db, asker, [explained]);
      return {
        status: 200,
        success: true,
        errors: {},
        ...pageCandidates(decision!, body),
        metadata: { root: 'decision' },
      };
    },
  } satisfies Partial<Handlers>;
};

const testing = ({ clock, request, pepper, carrier, queue }: Deps) => {
  const edges = { request, pepper, clock, carrier };
  return {
    createTestCall: async ({ body, db }) => {
      const now = clock();
      const incoming = await readIncomingCall(db, body, now);
      const talkSeconds = body.talk_seconds ?? DEFAULT_TALK_SECONDS;
      const { session } = await runWithPreDialChecks(db, edges, (preDial) =>
        db.transaction(async (tx) => {
          const test = { ...incoming, carrier: SANDBOX, preDial };
          const started = await startCall(tx, test, now);
          if (!isCheckRequired(started))
            await queue.add(tx, 'play_test_call', {
              company_id: String(tx.company_id),
              uuid: started.session.uuid,
              talk_seconds: talkSeconds,
            });
          return started;
        }),
      );
      return reply(db, session, 201, { notice: NOTICE });
    },
  } satisfies Partial<Handlers>;
};

/** A page of the candidates, with the totals of all. */
function pageCandidates(
  { candidates, ...decision }: Decision,
  { page = 1, per_page = candidates.length }: Schemas['RoutingQuestion'],
) {
  const begin = (page - 1) * per_page;
  return {
    decision: { ...decision, candidates: candidates.slice(begin, begin + per_page) },
    passed_over: countPassedOver(candidates),
    total_count: candidates.length,
  };
}

async function reply(
  db: Db,
  session: CallSession,
  status = 200,
  more: { notice?: string } = {},
): Promise<Json<never>> {
  const { key_presses: loadedKeyPresses, ...shown } = session;
  const { instruction } = session;
  const keyPresses =
    instruction.action === 'connect'
      ? (loadedKeyPresses ?? (await readKeyPresses(db, session.id)))
      : [];
  const callSession = { ...shown, instruction: { ...instruction, key_presses: keyPresses } };
  return new Json(
    JSON.stringify({
      status,
      success: true,
      errors: {},
      call_session: callSession,
      ...more,
      metadata: { root: 'call_session' },
    }),
    {},
    status,
  );
}
