import type { Candidate, CandidateGroup } from '../routing/engine/candidate';
import { cents, computePayout, type PayoutTerms } from '../money/engine/payout';
import type { Caps, Pending } from './caps';
import type { Figures, ReplayedCall } from './model';
import { listOpenConversions, pickPayingTerms, listPayingTerms, type PayingTerms } from './outcome';

export interface Owner {
  caps: Caps;
  subject: Candidate | CandidateGroup;
  conversions: readonly PayingTerms[];
  figures: Figures;
}

export interface Slot {
  owner: Pick<Owner, 'caps'>;
  pending: Pending;
}

/** An attempt to dial a buyer, and the caps reserved for it. */
export interface ChargedAttempt {
  call: ReplayedCall;
  owner: Owner;
  slots: readonly Slot[];
  /** The slot of the call's traffic source, if it has caps. */
  source_slot: Slot | undefined;
  dialed_at: Date;
}

export interface ChargeState {
  /** Seconds of connection. */
  talked: number;
  /** True when a conversion comes by postback. */
  has_postback: boolean;
  now: Date;
}

/** Payments in a replay: by buyers for calls, and to the traffic sources of calls. */
export interface Ledger {
  payouts: readonly PayoutTerms[];
  seed: string;
  /** The last payment of a buyer for a caller, by `paymentKey`. */
  buyer_payments: Map<string, Date>;
  /** The last payment to a source for a caller. */
  source_payments: Map<number, Date>;
  charges: WeakMap<ReplayedCall, { revenue: Map<number, number>; is_source_paid: boolean }>;
}

export const openLedger = (payouts: readonly PayoutTerms[], seed: string): Ledger => ({
  payouts,
  seed,
  buyer_payments: new Map(),
  source_payments: new Map(),
  charges: new WeakMap(),
});

const milliseconds = (seconds: number) => seconds * 1000;
const paymentKey = (callerNumber: number, buyerId: number) => `${callerNumber}/${buyerId}`;

function findLastPayment(
  { buyer_payments }: Ledger,
  { caller_number, paid_at }: ReplayedCall,
  buyerId: number,
): Date | undefined {
  if (caller_number === null) return undefined;
  return buyer_payments.get(paymentKey(caller_number, buyerId)) ?? paid_at.get(buyerId);
}

/** Buyers that have paid for the caller and would not pay now, and when they pay again. */
export function listNextPayments(
  ledger: Ledger,
  call: ReplayedCall,
  owners: Iterable<Owner>,
  now: Date,
): Map<number, Date> {
  const nextPayments = new Map<number, Date>();
  if (call.caller_number === null) return nextPayments;
  for (const { subject, conversions } of owners) {
    const at = findLastPayment(ledger, call, subject.id);
    const [current] = at ? listOpenConversions(conversions, subject.zone, now) : [];
    if (!at || !current) continue;
    const ends = new Date(at.getTime() + milliseconds(current.duplicate_timeframe));
    if (ends > now) nextPayments.set(subject.id, ends);
  }
  return nextPayments;
}

/** Charges the buyer and pays the source of a call, if due: each at most once a call. */
export function charge(ledger: Ledger, attempt: ChargedAttempt, state: ChargeState): void {
  const charged = ledger.charges.get(attempt.call) ?? {
    revenue: new Map<number, number>(),
    is_source_paid: false,
  };
  ledger.charges.set(attempt.call, charged);
  const buyerId = attempt.owner.subject.id;
  const chargedRevenue = charged.revenue.get(buyerId);
  const revenue = chargedRevenue ?? computeRevenue(ledger, attempt, state);
  if (revenue !== undefined && chargedRevenue === undefined) {
    charged.revenue.set(buyerId, revenue);
    chargeBuyer(ledger, attempt, revenue, state.now);
  }
  charged.is_source_paid ||= paySource(ledger, attempt, revenue, state);
}

/** Dollars that the buyer owes for a call; undefined when it owes nothing. */
function computeRevenue(
  ledger: Ledger,
  { call, owner: { subject, conversions }, dialed_at }: ChargedAttempt,
  { talked, has_postback, now }: ChargeState,
): number | undefined {
  const real = call.attempts.find(
    ({ buyer_id, status }) => buyer_id === subject.id && status === 'connected',
  );
  const bid = call.bids?.get(subject.id);
  const open = listPayingTerms(bid, { conversions, zone: subject.zone, now: dialed_at });
  const { tokens } = call.facts({
    now,
    seed: ledger.seed,
    tried: new Set(),
    previous_buyer_id: null,
    pays_again_at: new Map(),
  });
  const conversion = pickPayingTerms(open, { seconds: talked, tokens, has_postback });
  const revenue = real && real.revenue !== undefined ? real.revenue : conversion?.revenue;
  if (revenue === undefined || revenue === null) return undefined;
  const before = findLastPayment(ledger, call, subject.id);
  const timeframe = (conversion ?? open[0])?.duplicate_timeframe ?? 0;
  const isDuplicate = before && before.getTime() + milliseconds(timeframe) > now.getTime();
  return isDuplicate ? undefined : revenue;
}

function chargeBuyer(
  { buyer_payments }: Ledger,
  { call: { caller_number }, owner, slots, source_slot }: ChargedAttempt,
  revenue: number,
  now: Date,
): void {
  owner.figures.conversions++;
  owner.figures.revenue = cents(owner.figures.revenue + revenue);
  if (caller_number !== null) buyer_payments.set(paymentKey(caller_number, owner.subject.id), now);
  for (const slot of slots) {
    const { conversions, revenue: reserved } = slot.pending;
    const usage = { buyer_conversion: 1, revenue, earned_revenue: revenue };
    slot.owner.caps.record(
      { usage, pending: { connections: 0, conversions: -conversions, revenue: -reserved } },
      now,
    );
    slot.pending = { ...slot.pending, conversions: 0, revenue: 0 };
  }
  if (!source_slot) return;
  const releasedUsage = { connections: 0, conversions: 0, revenue: -source_slot.pending.revenue };
  source_slot.owner.caps.record(
    { usage: { revenue, earned_revenue: revenue }, pending: releasedUsage },
    now,
  );
  source_slot.pending = { ...source_slot.pending, revenue: 0 };
}

/** Pays the source of a call by the offer's terms; returns true when it was paid. */
function paySource(
  { payouts, source_payments }: Ledger,
  { call, owner, slots, source_slot }: ChargedAttempt,
  revenue: number | undefined,
  { talked, now }: ChargeState,
): boolean {
  const { caller_number, traffic_source_id, source_payouts, at } = call;
  const tables = { payouts, source_payouts };
  const due = computePayout(tables, { traffic_source_id, answered_seconds: talked, revenue });
  if (!due) return false;
  const before = caller_number === null ? undefined : source_payments.get(caller_number);
  const timeframe = due.terms.duplicate_timeframe ?? 0;
  if (before && before.getTime() + milliseconds(timeframe) > now.getTime()) return false;
  // Payments are counted at the time of the call.
  if (caller_number !== null) source_payments.set(caller_number, at);
  owner.figures.payout = cents(owner.figures.payout + due.payout);
  const earnedRevenue = -due.payout;
  for (const slot of slots)
    slot.owner.caps.record({ usage: { earned_revenue: earnedRevenue } }, now);
  if (source_slot) {
    const { conversions } = source_slot.pending;
    const releasedUsage = { connections: 0, conversions: -conversions, revenue: 0 };
    const usage = { buyer_conversion: 1, earned_revenue: earnedRevenue };
    source_slot.owner.caps.record({ usage, pending: releasedUsage }, now);
    source_slot.pending = { ...source_slot.pending, conversions: 0 };
  }
  return true;
}
