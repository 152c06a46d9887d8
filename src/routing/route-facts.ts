import { areaOf, countryOf } from '../phone/area-codes';
import { leadTokens, type Origin } from '../tokens/system';
import type { Statements } from '../db/tenant';
import { lookUpForFilters } from '../value-lists/look-up';
import type { CallFacts } from './caller-facts';
import type { Refused } from './engine/eligibility';
import type { RouteFacts } from './engine/route';
import type { RoutingContext } from './load-routing';
import type { PreDialVetoes } from './pre-dial-webhooks';

function refusedBy(facts: CallFacts, source_paused: boolean): Refused | undefined {
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
  return source_paused
    ? { reason: 'traffic_source_paused', message: 'the traffic source is paused' }
    : undefined;
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
  /** Buyers that were dialed for the call before. */
  tried: ReadonlySet<number>;
  /** The verdicts of pre-dial webhooks. */
  vetoes?: PreDialVetoes | undefined;
  /** Whether the traffic source that the call comes from is paused. */
  source_paused?: boolean;
  /** Reserved by a seller, or routed before: a pause of its source no longer matters. */
  is_accepted?: boolean;
}

/**
 * The facts that decide where a call goes, with what the filters of its candidates and of webhooks
 * need from the database.
 */
export async function routeFacts(
  db: Statements,
  { facts, needs, paused_sources }: RoutingContext,
  call: CallToRoute,
): Promise<RouteFacts> {
  const source_id = call.origin.traffic_source_id;
  const source_paused =
    !call.is_accepted && source_id !== null && (paused_sources.get(source_id) ?? false);
  const asked = plainRouteFacts(facts, { ...call, source_paused });
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

/** The facts that decide where a call goes. Pure. */
export function plainRouteFacts(
  facts: CallFacts,
  { now, seed, caller_number, tokens, origin, max_legs, tried, vetoes, source_paused }: CallToRoute,
): RouteFacts {
  const { offer, paid } = facts;
  const previous = facts.previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: tokensOf(facts, { caller_number, tokens, origin }),
    max_legs,
    tried,
    vetoed: vetoes?.verdicts,
    refused: refusedBy(facts, source_paused ?? false),
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
