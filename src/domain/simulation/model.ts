import type { Candidate, CandidateBid, CandidateGroup } from '../routing/engine/candidate';
import type { PayoutTerms } from '../money/engine/payout';
import type { Reason } from '../routing/engine/reasons';
import type { RouteFacts } from '../routing/engine/evaluate';
import type { SourceFault } from '../routing/engine/source';
import type { CapsOwner } from './caps';
import type { Expectations, PayingTerms, RealAttempt } from './outcome';

// The input of a simulation, and its results.

/** Facts of a call that change from round to round. */
export interface RoundFacts {
  now: Date;
  seed: string;
  tried: ReadonlySet<number>;
  /** The buyer that the caller was connected to before; null without one. */
  previous_buyer_id: number | null;
  pays_again_at: ReadonlyMap<number, Date>;
  /** The reason against calls of the traffic source now. */
  source_fault?: SourceFault | undefined;
}

export interface ReplayedCall {
  id: number;
  at: Date;
  /** E.164 without the plus; null when it is withheld: then no other call has this caller. */
  caller_number: number | null;
  traffic_source_id: number | null;
  /** Payouts of its source, used when the offer has no terms for it. */
  source_payouts: readonly PayoutTerms[];
  facts: (round: RoundFacts) => RouteFacts;
  /** Suppression lists of buyers that hold the caller's number. */
  suppressed: ReadonlyMap<number, Candidate['suppressed_by']>;
  previous_buyer_id: number | null;
  /** The last payments of buyers for the caller. */
  paid_at: ReadonlyMap<number, Date>;
  seeds: readonly string[];
  attempts: readonly RealAttempt[];
  /** The real bids for it, by buyer; bidders are not asked in a replay. Absent without bids. */
  bids?: ReadonlyMap<number, CandidateBid> | undefined;
  /** Seconds of connection; null when it was never connected. */
  talked: number | null;
  /** Seconds until the caller hung up while no buyer answered; null when the caller waited. */
  gave_up_after: number | null;
}

export interface SimulatedBuyer {
  candidate: Candidate;
  caps: CapsOwner;
  conversions: readonly PayingTerms[];
}

export interface SimulatedGroup {
  group: CandidateGroup;
  caps: CapsOwner;
}

export interface Configuration {
  buyers: readonly SimulatedBuyer[];
  groups: readonly SimulatedGroup[];
  /** Caps of traffic sources that have any, by id. */
  sources: ReadonlyMap<number, CapsOwner>;
  payouts: readonly PayoutTerms[];
}

export interface Replay {
  /** In the order in which they come in. */
  calls: readonly ReplayedCall[];
  seed: string;
  start: Date;
  expected: Expectations;
}

/** The results of calls for a buyer. */
export interface Figures {
  /** Calls connected to the buyer, or else last tried with it. */
  calls: number;
  attempts: number;
  connects: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
  /** Dollars. */
  payout: number;
  /** How often the buyer was passed over, by reason: once a decision. */
  skip_reasons: Partial<Record<Reason, number>>;
}

export const noFigures = (): Figures => ({
  calls: 0,
  attempts: 0,
  connects: 0,
  conversions: 0,
  revenue: 0,
  payout: 0,
  skip_reasons: {},
});
