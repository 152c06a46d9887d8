import type { SipHeaders } from './line';
import type { UsedUpCap } from '../../caps/caps';

export interface Suppression {
  id: number;
  name: string;
}

export interface Owner {
  id: number;
  name: string | null;
  paused: boolean;
  tier: number;
  weight: number;
  /** IANA name. */
  zone: string;
  used_up: UsedUpCap | null;
}

/** A group through which an offer reaches a buyer. */
export interface CandidateGroup extends Owner {
  dial_buyers_type: 'sequentially' | 'simultaneously';
}

/** The price of a buyer of type `rtb` for one call. */
export interface CandidateBid {
  /** Dollars. */
  amount: number;
  /** + and digits, or sip: and an address; null: the buyer's own. */
  number: string | null;
  /** Seconds after which the bid is paid. */
  duration: number;
  expires_at: Date;
}

/** A buyer of an offer, with all data that decides about a call. */
export interface Candidate extends Owner {
  /** + and digits, or sip: and an address. */
  number: string | null;
  /** The stored zone; `zone` is its IANA name. */
  time_zone: string;
  buyer_type: 'buyer' | 'quality_assurance' | 'voice_bot' | 'rtb';
  buyer_fleet_id: number | null;
  timeout_seconds: number;
  dtmf_tones: string | null;
  /** Values may have tokens. */
  sip_headers: SipHeaders | null;
  press_one_to_accept: boolean;
  record_calls: boolean;
  display_caller_id_type:
    'display_caller_id' | 'display_fake_caller_id' | 'display_service_number_id';
  /** + and digits. */
  display_service_number: string | null;
  user_buyer_id: string | null;
  /** Tokens for calls to the buyer, as key:value. */
  record_token_additional_data: readonly string[];
  route_by_type: 'tier' | 'revenue' | 'epc';
  /** Dollars, of the current conversion; null without one. */
  current_conversion_revenue: number | null;
  /** Dollars: the highest revenue of a call by the conversions open now. */
  most_revenue: number;
  /** True when being dialed is paid now, even without an answer. */
  pays_at_dial: boolean;
  /** Null for a buyer that has not bid, and for buyers that are not asked for bids. */
  bid: CandidateBid | null;
  /**
   * Earnings per call: dollars, over the hours that count; the assumed amount before there were
   * enough calls.
   */
  epc: number | null;
  /** Open minutes of each entry; without entries the buyer is always open. */
  business_hours: readonly (readonly number[])[];
  record_token_filter_list: readonly string[];
  /** The buyer's suppression lists that hold the caller's number. */
  suppressed_by: readonly Suppression[];
  /** True when the buyer is on the offer itself. */
  direct: boolean;
  groups: readonly CandidateGroup[];
}

type CandidateChanges = Partial<
  Pick<Candidate, 'used_up' | 'bid' | 'epc' | 'suppressed_by' | 'groups'>
>;

/**
 * Copies a candidate with changes. Every field is written out so that all candidates share one
 * hidden class in V8: parsed or spread objects have many, and reading a thousand of them takes a
 * hundred times longer.
 */
export const copyCandidate = (candidate: Candidate, changes: CandidateChanges = {}): Candidate => {
  const {
    used_up = candidate.used_up,
    bid = candidate.bid,
    epc = candidate.epc,
    suppressed_by = candidate.suppressed_by,
    groups = candidate.groups,
  } = changes;
  return {
    id: candidate.id,
    name: candidate.name,
    paused: candidate.paused,
    tier: candidate.tier,
    weight: candidate.weight,
    zone: candidate.zone,
    used_up,
    number: bid?.number ?? candidate.number,
    time_zone: candidate.time_zone,
    buyer_type: candidate.buyer_type,
    buyer_fleet_id: candidate.buyer_fleet_id,
    timeout_seconds: candidate.timeout_seconds,
    dtmf_tones: candidate.dtmf_tones,
    sip_headers: candidate.sip_headers,
    press_one_to_accept: candidate.press_one_to_accept,
    record_calls: candidate.record_calls,
    display_caller_id_type: candidate.display_caller_id_type,
    display_service_number: candidate.display_service_number,
    user_buyer_id: candidate.user_buyer_id,
    record_token_additional_data: candidate.record_token_additional_data,
    route_by_type: candidate.route_by_type,
    current_conversion_revenue: bid ? bid.amount : candidate.current_conversion_revenue,
    most_revenue: bid ? bid.amount : candidate.most_revenue,
    pays_at_dial: bid ? false : candidate.pays_at_dial,
    bid,
    epc,
    business_hours: candidate.business_hours,
    record_token_filter_list: candidate.record_token_filter_list,
    suppressed_by,
    direct: candidate.direct,
    groups,
  };
};

/** Copies a group with its used-up cap; written out for the same reason. */
export const copyGroup = (
  { id, name, paused, tier, weight, zone, dial_buyers_type }: Omit<CandidateGroup, 'used_up'>,
  usedUp: UsedUpCap | null,
): CandidateGroup => ({
  id,
  name,
  paused,
  tier,
  weight,
  zone,
  used_up: usedUp,
  dial_buyers_type,
});

export const isOpenGroup = ({ paused, used_up }: CandidateGroup): boolean =>
  !paused && used_up === null;

/** True for a group whose members are one choice, with the tier and weight of the group. */
export const ringsAtOnce = (group: CandidateGroup | null): group is CandidateGroup =>
  group?.dial_buyers_type === 'simultaneously';

/**
 * The group through which a buyer gets a call; null for the offer itself. The path with the lowest
 * tier is best, then the one with the highest weight, then the offer itself.
 */
export function bestGroup(buyer: Candidate): CandidateGroup | null {
  let best: CandidateGroup | null = null;
  let tier = buyer.direct ? findTier(buyer) : Infinity;
  let weight = buyer.direct ? buyer.weight : -Infinity;
  for (const group of buyer.groups) {
    if (!isOpenGroup(group)) continue;
    const groupTier = ringsAtOnce(group) ? group.tier : findTier(buyer);
    const groupWeight = ringsAtOnce(group) ? group.weight : buyer.weight;
    if (groupTier > tier || (groupTier === tier && groupWeight <= weight)) continue;
    best = group;
    tier = groupTier;
    weight = groupWeight;
  }
  return best;
}

export function findTier({
  route_by_type,
  tier,
  current_conversion_revenue,
  epc,
}: Candidate): number {
  switch (route_by_type) {
    case 'tier':
      return tier;
    case 'revenue':
      return 0 - (current_conversion_revenue ?? 0);
    case 'epc':
      return 0 - (epc ?? 0);
  }
}
