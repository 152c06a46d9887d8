import { areaOf, countryOf } from '../phone/area-codes';
import { leadTokens, type Origin } from '../tokens/system';
import type { Statements } from '../db/tenant';
import { lookUpForFilters } from '../value-lists/look-up';
import { bidsOfCall } from './bidding';
import type { CallFacts } from './caller-facts';
import type { Candidate } from './engine/candidate';
import type { Refused } from './engine/eligibility';
import type { RouteFacts } from './engine/route';
import {
  sourceBuyersOf,
  sourceCapsOf,
  sourceFault,
  type CallSource,
  type SourceBuyers,
  type SourceCaps,
  type SourceFault,
} from './engine/source';
import type { RoutingContext } from './load-routing';
import type { PreDialVetoes } from './pre-dial-webhooks';

/** What keeps a call from all buyers, as far as its caller, its offer and its source decide. */
export function refusedBy(
  facts: Pick<CallFacts, 'blacklisted' | 'blocked_for_offer' | 'suppressed_by'> & {
    offer: Pick<CallFacts['offer'], 'paused'>;
  },
  source: SourceFault | undefined,
): Refused | undefined {
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

/** Where a call comes from, as it is recorded. */
export interface CallOrigin {
  traffic_source_id: number | null;
  sub_id: string | null;
  /** E.164 without the plus. */
  number_called: number | null;
  /** What the carrier says of the caller. */
  caller_city: string | null;
  caller_state: string | null;
  caller_zip: string | null;
  caller_country: string | null;
}

/** The origin of a call of which nothing is known. */
export const NO_ORIGIN: CallOrigin = {
  traffic_source_id: null,
  sub_id: null,
  number_called: null,
  caller_city: null,
  caller_state: null,
  caller_zip: null,
  caller_country: null,
};

/** Where a call comes from, for its tokens. */
export const originOf = (call: CallOrigin, caller_number: number | null): Origin => ({
  traffic_source_id: call.traffic_source_id,
  sub_id: call.sub_id,
  number_called: call.number_called === null ? undefined : `+${call.number_called}`,
  city: call.caller_city,
  state: call.caller_state,
  zip: call.caller_zip,
  country: call.caller_country ?? countryOf(caller_number),
  area: areaOf(caller_number),
});

/** The call that is routed. */
export interface CallToRoute {
  now: Date;
  seed: string;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  tokens: Record<string, unknown>;
  origin: CallOrigin;
  /** How many buyers ring at once for the call, by `maxLegsOf` the carrier it comes by. */
  max_legs: number;
  /** Whether that carrier can ask buyers to press 1, by `canWhisper`; absent: it can. */
  can_whisper?: boolean | undefined;
  /** Buyers that were dialed for the call before. */
  tried: ReadonlySet<number>;
  /** The verdicts of pre-dial webhooks. */
  vetoes?: PreDialVetoes | undefined;
  /** Reserved by a seller, or routed before: a pause of its source or its caps no longer matter. */
  is_accepted?: boolean;
  /** Whether the call comes in now: then it takes from the caps of its source. */
  comes_in?: boolean;
  /** The id of a call that has taken from them before. */
  call_id?: number | undefined;
}

/**
 * The facts that decide where a call goes, with what the filters of its candidates and of webhooks
 * need from the database.
 */
export async function routeFacts(
  db: Statements,
  { facts, needs, sources, candidates, known_bids }: RoutingContext,
  call: CallToRoute,
): Promise<RouteFacts> {
  const source_id = call.origin.traffic_source_id;
  const source = source_id === null ? undefined : sources.get(source_id);
  const paid = {
    payouts: facts.offer.payouts,
    source_payouts: source?.payouts ?? [],
    traffic_source_id: source_id,
  };
  const asked = {
    ...plainRouteFacts(facts, { ...call, ...sourceFacts(source, candidates, call) }),
    bids: bidsOfCall({ candidates, known_bids }, call.vetoes?.bids, paid),
  };
  await lookUpForFilters(db.sql, [
    {
      company_id: db.company_id,
      tokens: asked.tokens,
      needs,
      traffic_source_id: source_id,
    },
  ]);
  return asked;
}

/** What its traffic source says of a call. */
interface SourceFacts {
  source_fault?: SourceFault | undefined;
  source_buyers?: SourceBuyers | undefined;
  source_caps?: SourceCaps | undefined;
}

type SourceTurn = Pick<CallToRoute, 'is_accepted' | 'comes_in' | 'call_id' | 'now'>;

/** A call that came in earlier takes more dollars at most: of what a buyer pays that bid later. */
const moreOfSource = (caps: SourceCaps, call_id: number | undefined): SourceCaps | undefined =>
  call_id !== undefined && caps.revenue > 0 ? { ...caps, call_id } : undefined;

function sourceFacts(
  source: CallSource | undefined,
  candidates: readonly Candidate[],
  { is_accepted, comes_in, call_id, now }: SourceTurn,
): SourceFacts {
  if (!source) return {};
  const caps = sourceCapsOf(source, candidates);
  return {
    source_fault: is_accepted ? undefined : sourceFault(source, caps?.revenue ?? 0, now),
    source_buyers: sourceBuyersOf(source),
    source_caps: comes_in ? caps : caps && moreOfSource(caps, call_id),
  };
}

/** The facts that decide where a call goes. Pure. */
export function plainRouteFacts(
  facts: CallFacts,
  {
    now,
    seed,
    caller_number,
    tokens,
    origin,
    max_legs,
    can_whisper,
    tried,
    vetoes,
    source_fault,
    source_buyers,
    source_caps,
  }: Omit<CallToRoute, 'is_accepted' | 'comes_in' | 'call_id'> & SourceFacts,
): RouteFacts {
  const { offer, paid } = facts;
  const previous = facts.previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: tokensOf(facts, { caller_number, tokens, origin }),
    max_legs,
    can_whisper,
    tried,
    vetoed: vetoes?.verdicts,
    refused: refusedBy(facts, source_fault),
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

const tokensOf = (
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
    origin: originOf(origin, caller_number),
  });
