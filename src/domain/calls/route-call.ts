import { findRingRules } from '../../platform/carriers/carrier';
import type { Statements } from '../../data/db';
import { buildBidQuestion, applyBids } from '../routing/bids';
import type { AttemptStatus } from '../routing/engine/progress';
import type { Evaluation, RouteFacts } from '../routing/engine/evaluate';
import type { Member } from '../routing/engine/order';
import { findLines } from '../routing/lines';
import { loadRouting, toSource, type RoutingContext } from '../routing/context';
import {
  buildPreDialCheck,
  type PreDialCheckRequired,
  type PreDialState,
} from '../routing/pre-dial';
import {
  chooseBuyers,
  toSlots,
  type BuyerChoice,
  type TakeOutcome,
} from '../routing/reserve-buyers';
import { loadRouteFacts, type CallToRoute } from '../routing/route-facts';
import { buildRound, measureDecision, type RoutableCall } from './outcome';
import { startWithPayments } from './pay-at-dial';
import type { CallRow } from './read-call';
import { startRound, type NewCall, type NewEvent, type TrunkFault } from './record-call';
import { readMoney } from './settle';

export interface Routing extends Pick<
  RoutingContext,
  'facts' | 'sources' | 'candidates' | 'plain' | 'known_bids' | 'basis' | 'webhooks'
> {
  routingFacts: RouteFacts;
  /** Answers of pre-dial webhooks so far; absent for a call about which they cannot be asked. */
  preDial?: PreDialState | undefined;
  /** Events of the call that come before those of this round. */
  events?: readonly NewEvent[];
}

type Turn = Pick<
  CallToRoute,
  'now' | 'tried' | 'preDial' | 'ignoresSourceLimits' | 'countsAgainstSource'
> & {
  /** Ids of trunks that have failed for the call. */
  failed_trunks?: ReadonlySet<number>;
};

export const loadFactsForCall = (
  db: Statements,
  call: NewCall | CallRow,
  context: RoutingContext,
  { failed_trunks, ...turn }: Turn,
): Promise<RouteFacts> =>
  loadRouteFacts(db, context, {
    ...turn,
    lines: findLines(context.trunks, call, failed_trunks),
    caller_number: call.caller_number,
    // Includes tokens of a lead of another source, which are not the call's (receive.ts).
    tokens: { ...context.facts.lead?.data, ...call.token_values },
    origin: call,
    ...findRingRules(call.carrier, turn.preDial?.carrier),
    call_id: 'id' in call ? call.id : undefined,
  });

/** The end of the last round of a call that is routed again. */
interface EndOfRound {
  /** Version of the call as it was read; null for a call that is locked already. */
  version: string | null;
  ended_attempts: ReadonlyMap<string, AttemptStatus>;
  events: readonly NewEvent[];
  recording_url?: string | null | undefined;
  trunk_fault?: TrunkFault | undefined;
}

const NOTHING_ENDED: EndOfRound = { version: null, ended_attempts: new Map(), events: [] };

/**
 * Loads what decides about a call that is written already, and routes it: one exchange writes the
 * end of its last round, gives back the caps of that, reserves those of the next buyers, and
 * records what is dialed. Undefined when its offer is gone; `stale` when nothing was written, as
 * the call is no longer as it was read.
 */
export async function routeKnownCall(
  db: Statements,
  call: CallRow,
  turn: Turn,
  ends: EndOfRound = NOTHING_ENDED,
): Promise<'routed' | 'stale' | PreDialCheckRequired | undefined> {
  const { now, preDial } = turn;
  const { caller_number, traffic_source_id } = call;
  const asking = { source: toSource(call), number: caller_number, traffic_source_id, now };
  const read = await loadRouting(db, asking);
  if (!read) return undefined;
  const context = applyBids(read, preDial?.bids);
  const routingFacts = await loadFactsForCall(db, call, context, turn);
  const routing = { ...context, routingFacts, preDial, events: ends.events };
  const take = async (choice: BuyerChoice): Promise<TakeOutcome<'routed' | 'stale'>> => {
    const { evaluation, members, trunks, usages, source_hold, refused } = choice;
    const chosen = { evaluation, members, trunks, slots: toSlots(usages), caps: [], refused };
    const outcome = buildRound(call, routing, chosen);
    const { version, ended_attempts, recording_url, trunk_fault } = ends;
    const next = { call_id: call.id, version, ended_attempts, recording_url, trunk_fault };
    const started = await startWithPayments(db, members, {
      loadCall: async () => ({ call, money: await readMoney(db, call.id), now }),
      start: (payments) => startRound(db, { ...next, outcome, usages, source_hold, payments }),
    });
    if (started.kind === 'stale') return { kind: 'done', result: 'stale' };
    if (started.kind !== 'done') return started;
    measureDecision(outcome.decision);
    return { kind: 'done', result: 'routed' };
  };
  return chooseBuyers(context, { ...routingFacts, ...buildChecks(call, routing) }, take);
}

/** Checks before buyers are chosen or dialed; none without answers of pre-dial webhooks. */
export function buildChecks(
  call: RoutableCall,
  { routingFacts, webhooks, known_bids, preDial }: Routing,
) {
  const { tokens } = routingFacts;
  return {
    findRequiredCheck: (members: readonly Member[]) =>
      preDial && buildPreDialCheck(members, webhooks, { call, tokens, preDial }),
    chargeSourceWhenUnrouted: true,
    findRequiredBids:
      preDial &&
      known_bids &&
      ((evaluation: Evaluation) => buildBidQuestion(known_bids, evaluation, { call })),
  };
}
