import type { Candidate, CandidateBid, CandidateGroup } from '../engine/candidate';
import type { PayoutTerms } from '../engine/payout';
import type { Reason } from '../engine/reasons';
import type { RouteFacts } from '../engine/route';
import type { SourceFault } from '../engine/source';
import type { CapsOwner } from './caps';
import type { Expectations, PaidFor, RealAttempt } from './outcome';

// What a simulation replays, and what comes of it.

/** What changes of a call's facts from round to round. */
export interface RoundFacts {
  now: Date;
  seed: string;
  /** Buyers that the call was tried with before. */
  tried: ReadonlySet<number>;
  /** The buyer that the caller was connected to before; null without one. */
  previous_buyer_id: number | null;
  /** Buyers that have paid for the caller, and when they would again. */
  pays_again_at: ReadonlyMap<number, Date>;
  /** Why its traffic source gets no call through now. */
  source_fault?: SourceFault | undefined;
}

/** A call that is replayed. */
export interface ReplayedCall {
  id: number;
  at: Date;
  /** E.164 without the plus; null when it is withheld: then no other call has the same caller. */
  caller_number: number | null;
  traffic_source_id: number | null;
  /** What its source is paid where the offer has no terms for it. */
  source_payouts: readonly PayoutTerms[];
  /** The facts that decide where it goes. */
  facts: (round: RoundFacts) => RouteFacts;
  /** Suppression lists of buyers that hold the caller's number. */
  suppressed: ReadonlyMap<number, Candidate['suppressed_by']>;
  previous_buyer_id: number | null;
  /** When buyers have last paid for the caller. */
  paid_at: ReadonlyMap<number, Date>;
  /** The seeds of its real rounds. */
  seeds: readonly string[];
  attempts: readonly RealAttempt[];
  /** What bidders really bid for it, by buyer; nobody is asked again. Absent where nobody did. */
  bids?: ReadonlyMap<number, CandidateBid> | undefined;
  /** Seconds that it was connected; null when it never was. */
  talked: number | null;
  /** Seconds until the caller hung up while no buyer answered; null when the caller waited. */
  gave_up_after: number | null;
}

export interface SimulatedBuyer {
  candidate: Candidate;
  caps: CapsOwner;
  conversions: readonly PaidFor[];
}

export interface SimulatedGroup {
  group: CandidateGroup;
  caps: CapsOwner;
}

/** A configuration under which calls are replayed. */
export interface Configuration {
  buyers: readonly SimulatedBuyer[];
  groups: readonly SimulatedGroup[];
  /** The caps of traffic sources that have any, by id. */
  sources: ReadonlyMap<number, CapsOwner>;
  payouts: readonly PayoutTerms[];
}

export interface Replay {
  /** In the order in which they come. */
  calls: readonly ReplayedCall[];
  seed: string;
  start: Date;
  expected: Expectations;
}

/** What calls came to for a buyer. */
export interface Figures {
  /** Calls that were connected to it, or else last tried with it. */
  calls: number;
  attempts: number;
  connects: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
  /** Dollars. */
  payout: number;
  /** How often it was passed over, by reason: once a decision. */
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
