import { leadTokens } from '../tokens/system';
import type { CallFacts } from './caller-facts';
import type { Refused } from './engine/eligibility';
import type { RouteFacts } from './engine/route';
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

/** The call that is routed. */
export interface CallToRoute {
  now: Date;
  seed: string;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  tokens: Record<string, unknown>;
  /** Buyers that were dialed for the call before. */
  tried: ReadonlySet<number>;
  /** The verdicts of pre-dial webhooks. */
  vetoes?: PreDialVetoes | undefined;
  /** Whether the traffic source that the call comes from is paused. */
  source_paused?: boolean;
}

/** The facts that decide where a call goes. Pure. */
export function routeFacts(
  facts: CallFacts,
  { now, seed, caller_number, tokens, tried, vetoes, source_paused = false }: CallToRoute,
): RouteFacts {
  const { offer, paid } = facts;
  const previous = facts.previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: tokensOf(facts, caller_number, tokens),
    tried,
    vetoed: vetoes?.verdicts,
    refused: refusedBy(facts, source_paused),
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
  caller_number: number | null,
  tokens: Record<string, unknown>,
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
  });
