import { readCountry } from '../../data/phone/area-codes';
import { readNumberOrigin } from '../../data/phone/number-zones';
import type { RingRules } from '../../platform/carriers/carrier';
import { leadTokens, type Origin } from '../../platform/tokens/system';
import type { Statements } from '../../data/db';
import { lookUpForFilters } from '../value-lists/look-up';
import { buildCallBids } from './bids';
import type { Candidate } from './engine/candidate';
import type { Refusal } from './engine/eligibility';
import type { RouteFacts } from './engine/evaluate';
import {
  toSourceBuyers,
  buildSourceCaps,
  sourceFault,
  type CallSource,
  type SourceBuyers,
  type SourceCaps,
  type SourceFault,
} from './engine/source';
import type { Lines } from './engine/line';
import { newSeed, type CallFacts, type RoutingContext } from './context';
import type { PreDialState } from './pre-dial';

/** Finds the reason that keeps a call from all buyers: of its caller, its offer or its source. */
export function findRefusal(
  facts: Pick<CallFacts, 'blacklisted' | 'blocked_for_offer' | 'suppressed_by'> & {
    offer: Pick<CallFacts['offer'], 'paused'>;
  },
  source: SourceFault | undefined,
): Refusal | undefined {
  const { offer, blacklisted, blocked_for_offer, suppressed_by } = facts;
  if (blacklisted)
    return {
      reason: 'blacklisted',
      message: "the caller's number is on the blacklist of the company",
    };
  if (blocked_for_offer)
    return { reason: 'blacklisted', message: "the caller's number is blocked for the offer" };
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  if (lists)
    return {
      reason: 'offer_suppressed',
      message: `the caller's number is on a suppression list of the offer: ${lists}`,
    };
  if (offer.paused) return { reason: 'offer_paused', message: 'the offer is paused' };
  return source;
}

export interface CallOrigin {
  traffic_source_id: number | null;
  sub_id: string | null;
  /** E.164 without the plus. */
  number_called: number | null;
  /** Data of the carrier about the caller. */
  caller_city: string | null;
  caller_state: string | null;
  caller_zip: string | null;
  caller_country: string | null;
}

export const NO_ORIGIN: CallOrigin = {
  traffic_source_id: null,
  sub_id: null,
  number_called: null,
  caller_city: null,
  caller_state: null,
  caller_zip: null,
  caller_country: null,
};

export const toOrigin = (call: CallOrigin, callerNumber: number | null): Origin => ({
  traffic_source_id: call.traffic_source_id,
  sub_id: call.sub_id,
  number_called: call.number_called === null ? undefined : `+${call.number_called}`,
  city: call.caller_city,
  state: call.caller_state,
  zip: call.caller_zip,
  country: call.caller_country ?? readCountry(callerNumber),
  ...readNumberOrigin(callerNumber),
});

/** The rules are those of the carrier of the call (`findRingRules`). */
export interface CallToRoute extends RingRules {
  now: Date;
  /** By default a new one, or that of `preDial`. */
  seed?: string | undefined;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  tokens: Record<string, unknown>;
  origin: CallOrigin;
  /** Buyers dialed for the call before. */
  tried: ReadonlySet<number>;
  /** Absent when the carrier or switch of the call chooses the line. */
  lines?: Lines | undefined;
  preDial?: PreDialState | undefined;
  /**
   * Set for a call reserved by a seller or routed before: a pause or the caps of its source no
   * longer matter.
   */
  ignoresSourceLimits?: boolean;
  /** Set for a call that comes in now: it uses the caps of its source. */
  countsAgainstSource?: boolean;
  /** The id of a call that has used them before. */
  call_id?: number | undefined;
}

/**
 * The facts that decide where a call goes, with the data that filters of candidates and webhooks
 * need from the database.
 */
export async function loadRouteFacts(
  db: Statements,
  { facts, needs, sources, candidates, last_calls, known_bids }: RoutingContext,
  call: CallToRoute,
): Promise<RouteFacts> {
  const sourceId = call.origin.traffic_source_id;
  const source = sourceId === null ? undefined : sources.get(sourceId);
  const paid = {
    payouts: facts.offer.payouts,
    source_payouts: source?.payouts ?? [],
    traffic_source_id: sourceId,
  };
  const seed = call.seed ?? call.preDial?.seed ?? newSeed();
  const sourceFacts = buildSourceFacts(source, candidates, call);
  const decidingFacts = {
    ...buildRouteFacts(facts, { ...call, seed, ...sourceFacts }),
    last_calls,
    bids: buildCallBids({ candidates, known_bids }, call.preDial?.bids, paid),
  };
  await lookUpForFilters(db.sql, [
    {
      company_id: db.company_id,
      tokens: decidingFacts.tokens,
      needs,
      traffic_source_id: sourceId,
    },
  ]);
  return decidingFacts;
}

interface SourceFacts {
  source_fault?: SourceFault | undefined;
  source_buyers?: SourceBuyers | undefined;
  source_caps?: SourceCaps | undefined;
}

type SourceTurn = Pick<
  CallToRoute,
  'ignoresSourceLimits' | 'countsAgainstSource' | 'call_id' | 'now'
>;

/** A call that came in earlier can only use more dollars: those of a buyer that bids later. */
const extendSourceHold = (caps: SourceCaps, callId: number | undefined): SourceCaps | undefined =>
  callId !== undefined && caps.revenue > 0 ? { ...caps, call_id: callId } : undefined;

function buildSourceFacts(
  source: CallSource | undefined,
  candidates: readonly Candidate[],
  { ignoresSourceLimits, countsAgainstSource, call_id, now }: SourceTurn,
): SourceFacts {
  if (!source) return {};
  const caps = buildSourceCaps(source, candidates);
  return {
    source_fault: ignoresSourceLimits ? undefined : sourceFault(source, caps?.revenue ?? 0, now),
    source_buyers: toSourceBuyers(source),
    source_caps: countsAgainstSource ? caps : caps && extendSourceHold(caps, call_id),
  };
}

interface FactsToRoute
  extends
    Omit<CallToRoute, 'ignoresSourceLimits' | 'countsAgainstSource' | 'call_id'>,
    SourceFacts {
  seed: string;
}

/** Builds the facts from loaded data. Pure. */
export function buildRouteFacts(
  facts: CallFacts,
  {
    now,
    seed,
    caller_number,
    tokens,
    origin,
    max_legs,
    can_whisper,
    can_play_tones,
    lines,
    tried,
    preDial,
    source_fault,
    source_buyers,
    source_caps,
  }: FactsToRoute,
): RouteFacts {
  const { offer, paid } = facts;
  const previous = facts.previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: buildTokens(facts, { caller_number, tokens, origin }),
    max_legs,
    can_whisper,
    can_play_tones,
    lines,
    tried,
    vetoed: preDial?.verdicts,
    refused: findRefusal(facts, source_fault),
    source_buyers,
    source_caps,
    first_buyer_id: offer.callback_behavior === 'same_buyer_first' ? previous : undefined,
    only_buyer_id: offer.callback_behavior === 'same_buyer_only' ? previous : undefined,
    pays_again_at: new Map(
      offer.skip_duplicates
        ? paid.map(({ buyer_id, pays_again_at }) => [buyer_id, new Date(pays_again_at)])
        : [],
    ),
    spacing_seconds: offer.spacing_seconds,
  };
}

const buildTokens = (
  { offer, previous_fleets, calls_last }: CallFacts,
  { caller_number, tokens, origin }: Pick<CallToRoute, 'caller_number' | 'tokens' | 'origin'>,
) =>
  leadTokens(tokens, {
    caller_id: caller_number === null ? '' : `+${caller_number}`,
    service_number: undefined,
    offer_name: offer.name,
    buyer_name: undefined,
    call_uuid: undefined,
    total_duration: undefined,
    revenue: '0',
    payout: '0',
    previous_buyer_fleet_ids: previous_fleets,
    calls_last,
    origin: toOrigin(origin, caller_number),
  });
