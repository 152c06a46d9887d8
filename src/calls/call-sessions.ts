import { calledNumber, type CalledNumber } from '../numbers/queries/called-number';
import { findReservedOffer } from '../routing/reservations';
import { callerNumber } from '../phone/caller-number';
import { readKeyPresses } from './queries/updates';
import { readCall, readDecisions } from './queries/calls';
import { visibleBuyers } from '../db/access-scope';
import { findNamed, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Json } from '../http/reply';
import { HttpProblem, rejectInvalidData } from '../errors';
import type { Decision } from '../routing/engine/decision';
import { tokensOf } from '../tokens/lead-data';
import { withPreDialChecks } from '../routing/pre-dial-webhooks';
import { beginCall } from './begin-call';
import { handleCallEvent } from './handle-event';
import { readSession, type CallSession } from './session';
import { loadRouting } from '../routing/load-routing';
import { explain } from './route-call';
import { newSeed } from '../routing/seed';
import { SOFTSWITCH } from './update-call';
import { findTrafficSource } from '../offers/find-traffic-source';
import { routeFacts } from '../routing/route-facts';

/** Calls as they happen, and why they go where they go. */
export const callSessions = ({ clock, request, pepper }: Deps) =>
  ({
    createCallSession: async ({ body, db }) => {
      const now = clock();
      const caller_number = await callerOf(db, body.caller_number);
      const called = await calledOf(db, body, { caller_number, now });
      const traffic_source_id = body.traffic_source_id
        ? String(await findTrafficSource(db, body.traffic_source_id))
        : called.traffic_source_id;
      const incoming = {
        ...called,
        carrier: SOFTSWITCH,
        call_sid: body.call_sid || null,
        caller_number,
        traffic_source_id,
        sub_id: body.sub_id ?? null,
        tokens: tokensIn(body.tokens),
      };
      const { session, created } = await withPreDialChecks(
        db,
        { request, pepper, clock },
        (vetoes) => beginCall(db, { ...incoming, vetoes }, now),
      );
      return reply(db, session, created ? 201 : 200);
    },

    showCallSession: async ({ params, db }) =>
      reply(db, await readSession(db, await readCall(db, params.id), { fresh: true })),

    createCallEvent: async ({ params, body, db }) =>
      reply(
        db,
        await withPreDialChecks(db, { request, pepper, clock }, (vetoes) =>
          handleCallEvent(db, params.id, { ...body, vetoes }, clock()),
        ),
      ),

    showCallDecision: async ({ params, db }) => {
      const { id } = await readCall(db, params.id);
      const decisions = await within(db, await readDecisions(db, id));
      return { status: 200, success: true, errors: {}, decisions, metadata: { root: 'decisions' } };
    },

    explainRouting: async ({ body, db }) => {
      const now = body.at ? new Date(body.at) : clock();
      const caller_number = await callerOf(db, body.caller_number);
      const offer_id = String(
        await findNamed(db, 'offers', { reference: body.offer_id, field: 'offer_id' }),
      );
      const { facts, candidates } = (await loadRouting(db, {
        source: { offer_id },
        number: caller_number,
        now,
      }))!;
      const tokens = { ...facts.lead?.data, ...tokensIn(body.tokens) };
      const asked = routeFacts(facts, {
        now,
        seed: body.seed || newSeed(),
        caller_number,
        tokens,
        tried: new Set(),
      });
      const [decision] = await within(db, [explain(facts, candidates, asked)]);
      return {
        status: 200,
        success: true,
        errors: {},
        decision: decision!,
        metadata: { root: 'decision' },
      };
    },
  }) satisfies Partial<Handlers>;

/** Decisions with no more buyers than the caller sees. */
async function within(db: Db, decisions: readonly Decision[]): Promise<Decision[]> {
  if (!db.accessScope) return [...decisions];
  const ids = decisions.flatMap(({ candidates }) => candidates.map(({ buyer_id }) => buyer_id));
  const seen = await visibleBuyers(db, [...new Set(ids)]);
  return decisions.map((decision) => ({
    ...decision,
    buyer_ids: decision.buyer_ids.filter((id) => seen.has(id)),
    candidates: decision.candidates.filter(({ buyer_id }) => seen.has(buyer_id)),
    caps: decision.caps.filter(({ buyer_id }) => buyer_id !== null && seen.has(buyer_id)),
  }));
}

async function reply(db: Db, session: CallSession, status = 200): Promise<Json<never>> {
  const { instruction } = session;
  // Nobody hears a key who is not connected.
  const key_presses = instruction.action === 'connect' ? await readKeyPresses(db, session.id) : [];
  const call_session = { ...session, instruction: { ...instruction, key_presses } };
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

const WITHHELD = /^(anonymous|restricted|unknown|unavailable|private|withheld|blocked)?$/i;

/** Null when it is withheld, whatever word says so. */
async function callerOf(db: Db, sent: string | null | undefined): Promise<number | null> {
  if (sent === undefined || sent === null || WITHHELD.test(sent.trim())) return null;
  return (await callerNumber(db, sent, 'caller_number')) ?? null;
}

function tokensIn(sent: Record<string, unknown> | undefined): Record<string, unknown> {
  const { tokens, faults } = tokensOf({}, sent ?? {});
  rejectInvalidData(
    faults.map(({ field, message }) => ({
      field: field === 'data' ? 'tokens' : `tokens.${field}`,
      message,
    })),
  );
  return tokens;
}

type Called = Omit<CalledNumber, 'number_id'> & {
  number_called: number | null;
  number_id: string | null;
};

/** What a call is for: the offer that is named, else the offer or the buyer of the number. Refuses with 422. */
async function calledOf(
  db: Db,
  { number_called: sent, offer_id: offer }: { number_called?: string; offer_id?: Reference },
  { caller_number, now }: { caller_number: number | null; now: Date },
): Promise<Called> {
  if (sent === undefined && offer === undefined)
    throw HttpProblem.field('offer_id', 'must be given, or number_called');
  const number_called =
    sent === undefined ? null : ((await callerNumber(db, sent, 'number_called')) ?? null);
  const owned = number_called === null ? undefined : await calledNumber(db, number_called);
  const of_number = {
    number_called,
    number_id: owned?.number_id ?? null,
    traffic_source_id: owned?.traffic_source_id ?? null,
  };
  if (offer !== undefined)
    return {
      ...of_number,
      offer_id: String(await findNamed(db, 'offers', { reference: offer, field: 'offer_id' })),
      buyer_id: null,
    };
  if (!owned) throw HttpProblem.field('number_called', 'is no number of the company');
  if (owned.offer_id !== null || owned.buyer_id !== null)
    return { ...of_number, offer_id: owned.offer_id, buyer_id: owned.buyer_id };
  // Sellers of calls are given such a number where an offer has none of its own.
  const offer_id = caller_number === null ? undefined : await findReservedOffer(db, caller_number, now);
  if (offer_id === undefined)
    throw HttpProblem.field(
      'number_called',
      'belongs to no offer and forwards to no buyer; give offer_id',
    );
  return { ...of_number, offer_id, buyer_id: null };
}
