import { leadTokens } from '../tokens/system';
import type { CallFacts } from './queries/caller-facts';
import type { Refused } from './engine/eligibility';
import type { RouteFacts } from './engine/route';
import type { PreDialVetoes } from './pre-dial-webhooks';

function refusedBy({ offer, blacklisted, suppressed_by }: CallFacts): Refused | undefined {
  if (blacklisted)
    return {
      reason: 'blacklisted',
      message: "the caller's number is on the blacklist of the company",
    };
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  if (lists)
    return {
      reason: 'offer_suppressed',
      message: `the caller's number is on a suppression list of the offer: ${lists}`,
    };
  return offer.paused ? { reason: 'offer_paused', message: 'the offer is paused' } : undefined;
}

/** What the buyers of a call are asked by. */
export interface Question {
  now: Date;
  seed: string;
  caller_number: number | null;
  tokens: Record<string, unknown>;
  tried: ReadonlySet<number>;
  /** What those said who are asked before a buyer is dialed. */
  vetoes?: PreDialVetoes | undefined;
}

/** The facts that decide about a call. Pure. */
export function routeFacts(
  facts: CallFacts,
  { now, seed, caller_number, tokens, tried, vetoes }: Question,
): RouteFacts {
  const { offer, previous_buyer_id, paid } = facts;
  const known = leadTokens(tokens, {
    caller_id: caller_number === null ? '' : `+${caller_number}`,
    service_number: undefined,
    offer_name: offer.name,
    buyer_name: undefined,
    call_uuid: undefined,
    total_duration: undefined,
    revenue: '0',
    payout: '0',
    previous_buyer_fleet_ids: facts.previous_fleets,
    calls_last: facts.calls_last,
  });
  const again = previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: known,
    tried,
    vetoed: vetoes?.verdicts,
    refused: refusedBy(facts),
    first_buyer_id: offer.callback_behavior === 'same_buyer_first' ? again : undefined,
    only_buyer_id: offer.callback_behavior === 'same_buyer_only' ? again : undefined,
    pays_again_at: new Map(
      offer.skip_duplicates
        ? paid.map(({ buyer_id, pays_again_at }) => [buyer_id, new Date(pays_again_at)])
        : [],
    ),
    spacing_seconds: offer.spacing_seconds,
  };
}
