import type { Candidate, CandidateGroup } from '../../src/domain/routing/engine/candidate';
import type { UsedUpCap } from '../../src/domain/caps/caps';
import { evaluateEligibility } from '../../src/domain/routing/engine/eligibility';
import { evaluate, type RouteFacts } from '../../src/domain/routing/engine/evaluate';
import { buildDecision, type Verdict } from '../../src/domain/routing/engine/explain';
import { orderChoices } from '../../src/domain/routing/engine/order';
import { ownTokens } from '../../src/platform/tokens/substitute';

export const NEW_YORK = 'America/New_York';

const OWNER = { paused: false, tier: 1, weight: 1, zone: NEW_YORK, used_up: null };
/** A group through which a buyer comes to an offer, with nothing against it. */
export const group = (changes: Partial<CandidateGroup> = {}): CandidateGroup => ({
  id: 3,
  name: 'Night',
  ...OWNER,
  dial_buyers_type: 'sequentially',
  ...changes,
});
/** A buyer that is on an offer itself, with nothing against it. */
export const buyer = (changes: Partial<Candidate> = {}): Candidate => ({
  id: 7,
  name: 'Ada',
  number: '+12125550100',
  ...OWNER,
  time_zone: 'Eastern Time (US & Canada)',
  buyer_type: 'buyer',
  buyer_fleet_id: null,
  timeout_seconds: 120,
  dtmf_tones: null,
  sip_headers: null,
  press_one_to_accept: false,
  record_calls: false,
  display_caller_id_type: 'display_caller_id',
  route_by_type: 'tier',
  current_conversion_revenue: null,
  most_revenue: 0,
  pays_at_dial: false,
  bid: null,
  epc: null,
  display_service_number: null,
  user_buyer_id: null,
  record_token_additional_data: [],
  business_hours: [],
  record_token_filter_list: [],
  suppressed_by: [],
  direct: true,
  groups: [],
  ...changes,
});

/** Monday 08:30 in New York. */
export const MONDAY = '2026-06-01T12:30:00Z';
export const tokens = ownTokens({ state: 'TX', age: '40' });

/** The eligibility of a buyer for a call with these tokens. */
export const evaluateCandidate = (candidate: Candidate, now = MONDAY) =>
  evaluateEligibility(candidate, { now: new Date(now), tokens });

/** The verdict of a call that these buyers get. */
export const buildVerdict = (buyerIds: number[]): Verdict => ({
  ...{ round: 1, at: MONDAY, seed: 'seed', offer_id: 1, action: 'dial', reason: null },
  ...{ message: null, buyer_ids: buyerIds, bids: [], caps: [] },
});

/** The choices of a call in their order, and all candidates as an explanation shows them. */
export function route(candidates: readonly Candidate[], facts: RouteFacts) {
  const evaluation = evaluate(candidates, facts);
  const { candidates: considered } = buildDecision(buildVerdict([]), evaluation);
  return { choices: orderChoices(evaluation), considered };
}

/** A cap that is used up. */
export const cap = (
  name: UsedUpCap['cap'],
  used: number,
  limit: number,
  resetsAt?: string,
): { used_up: UsedUpCap } => ({
  used_up: { cap: name, used, limit, resets_at: resetsAt ? new Date(resetsAt) : null },
});
