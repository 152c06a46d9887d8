import type { Candidate, CandidateGroup } from '../engine/eligibility';
import { cents, payoutOf, type PayoutTerms } from '../engine/payout';
import type { Figures, ReplayedCall } from './replay';
import type { Caps, Pending } from './caps';
import { conversionsAt, paying, type PaidFor } from './outcome';

/** A buyer or a group in a replay. */
export interface Owner {
  caps: Caps;
  subject: Candidate | CandidateGroup;
  conversions: readonly PaidFor[];
  figures: Figures;
}

/** Caps taken up for a call. */
export interface Slot {
  owner: Owner;
  pending: Pending;
}

/** A call that was tried with a buyer, and the caps it has taken up. */
export interface Bill {
  call: ReplayedCall;
  owner: Owner;
  slots: readonly Slot[];
  dialed_at: Date;
}

/** How it stands with the call when it is asked who pays. */
export interface Billing {
  /** Seconds that it was connected. */
  talked: number;
  /** Whether somebody tells of a conversion. */
  is_told: boolean;
  now: Date;
}

const seconds = (count: number) => count * 1000;
const keyOf = (caller_number: number, buyer_id: number) => `${caller_number}/${buyer_id}`;

/** Who has paid for what: buyers for calls, the company to their sources. */
export function openBooks(payouts: readonly PayoutTerms[], seed: string) {
  const paid = new Map<string, Date>();
  const source_paid = new Map<number, Date>();
  const billed = new WeakMap<ReplayedCall, { revenue: Map<number, number>; payout: boolean }>();

  const paidAt = ({ caller_number, paid_at }: ReplayedCall, buyer_id: number): Date | undefined =>
    caller_number === null
      ? undefined
      : (paid.get(keyOf(caller_number, buyer_id)) ?? paid_at.get(buyer_id));

  /** Dollars that the buyer owes for a call; undefined when it owes nothing. */
  const owed = (
    { call, owner: { subject, conversions }, dialed_at }: Bill,
    { talked, is_told, now }: Billing,
  ): number | undefined => {
    const real = call.attempts.find(
      ({ buyer_id, status }) => buyer_id === subject.id && status === 'connected',
    );
    const open = conversionsAt(conversions, subject.zone, dialed_at);
    const { tokens } = call.facts({
      now,
      seed,
      tried: NOBODY,
      previous_buyer_id: null,
      pays_again_at: new Map(),
    });
    const fitting = paying(open, { seconds: talked, tokens, is_told });
    const revenue = real && real.revenue !== undefined ? real.revenue : fitting?.revenue;
    if (revenue === undefined || revenue === null) return undefined;
    const before = paidAt(call, subject.id);
    const timeframe = (fitting ?? open[0])?.duplicate_timeframe ?? 0;
    return before && before.getTime() + seconds(timeframe) > now.getTime() ? undefined : revenue;
  };

  const settle = ({ call: { caller_number }, owner, slots }: Bill, revenue: number, now: Date) => {
    owner.figures.conversions++;
    owner.figures.revenue = cents(owner.figures.revenue + revenue);
    if (caller_number !== null) paid.set(keyOf(caller_number, owner.subject.id), now);
    for (const slot of slots) {
      const { conversions, revenue: held } = slot.pending;
      const usage = { buyer_conversion: 1, revenue, earned_revenue: revenue };
      slot.owner.caps.record(
        { usage, pending: { connections: 0, conversions: -conversions, revenue: -held } },
        now,
      );
      slot.pending = { ...slot.pending, conversions: 0, revenue: 0 };
    }
  };

  /** Whether the source of a call was paid. */
  const pay = (
    { call, owner, slots }: Bill,
    revenue: number | undefined,
    { talked, now }: Billing,
  ): boolean => {
    const { caller_number, traffic_source_id, at } = call;
    const due = payoutOf(payouts, { traffic_source_id, answered_seconds: talked, revenue });
    if (!due) return false;
    const before = caller_number === null ? undefined : source_paid.get(caller_number);
    if (before && before.getTime() + seconds(due.terms.duplicate_timeframe ?? 0) > now.getTime())
      return false;
    // The time of the call counts, not that of the payment.
    if (caller_number !== null) source_paid.set(caller_number, at);
    owner.figures.payout = cents(owner.figures.payout + due.payout);
    for (const slot of slots)
      slot.owner.caps.record({ usage: { earned_revenue: -due.payout } }, now);
    return true;
  };

  return {
    /** Buyers that have paid for the caller and would not now, and from when they would. */
    paysAgain: (call: ReplayedCall, owners: Iterable<Owner>, now: Date): Map<number, Date> => {
      const again = new Map<number, Date>();
      if (call.caller_number === null) return again;
      for (const { subject, conversions } of owners) {
        const at = paidAt(call, subject.id);
        const [current] = at ? conversionsAt(conversions, subject.zone, now) : [];
        const ends = at && current && new Date(at.getTime() + seconds(current.duplicate_timeframe));
        if (ends && ends > now) again.set(subject.id, ends);
      }
      return again;
    },
    /** Has the buyer pay if it owes, and the source of the call be paid; each once a call, however often this is asked. */
    bill: (bill: Bill, billing: Billing): void => {
      const done = billed.get(bill.call) ?? { revenue: new Map<number, number>(), payout: false };
      billed.set(bill.call, done);
      const buyer_id = bill.owner.subject.id;
      const already = done.revenue.get(buyer_id);
      const revenue = already ?? owed(bill, billing);
      if (revenue !== undefined && already === undefined) {
        done.revenue.set(buyer_id, revenue);
        settle(bill, revenue, billing.now);
      }
      done.payout ||= pay(bill, revenue, billing);
    },
  };
}

const NOBODY: ReadonlySet<number> = new Set();
