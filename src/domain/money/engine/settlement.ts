import { cents, type PayoutTables } from './payout';

// Dollars of a call, decided by pure functions and written by prisma/sql/calls/settle_call.sql.

/** A buyer's payment for a call that was not returned. */
export interface Payment {
  buyer_id: number;
  revenue: number;
}

/** An amount that an event has set: `revenue_changed`, `payout_changed` or `payout`. */
export interface Amount {
  event: string;
  buyer_id: number | null;
  at: Date;
  /** Dollars that were added; 0 of a payout that the terms of the offer have set. */
  amount: number;
}

/** Everything that decides what a call pays next. Amounts are dollars. */
export interface CallMoney extends PayoutTables {
  caller_number: number | null;
  traffic_source_id: number | null;
  revenue: number;
  payout: number;
  traffic_source_converted: boolean;
  buyer_repeat_caller: boolean;
  traffic_source_repeat_caller: boolean;
  /** True if a user took the payout back: then only what is reported pays the source again. */
  is_payout_returned: boolean;
  payments: readonly Payment[];
  /** Absent where no amount can be reduced. */
  amounts?: readonly Amount[];
}

/** Payments for the same caller shortly before, by the buyer and to the source. */
export interface PaidBefore {
  buyer_paid: boolean;
  source_paid: boolean;
}

export const NOT_PAID_BEFORE: PaidBefore = { buyer_paid: false, source_paid: false };

/** Whose caps an amount counts for; null where there is none. */
export interface CapOwners {
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
}

interface Usage {
  connection: number;
  buyer_conversion: number;
  revenue: number;
  earned_revenue: number;
  /** Only where nothing was reserved: otherwise they are counted when a buyer is dialed. */
  attempt?: number;
  calls?: number;
  /** When it was used, where windows may have begun since. */
  at?: Date;
}

/** Usage that was counted for caps at one time, of a buyer with its group or of a source. */
export interface CountedUsage extends CapOwners {
  at: Date;
  conversions: number;
  revenue: number;
  earned_revenue: number;
}

interface LedgerEntry {
  buyer_id?: number;
  traffic_source_id?: number;
  kind: 'conversion' | 'payout' | 'adjustment';
  /** Less than 0 is a charge. */
  amount: number;
  note?: string | null | undefined;
}

interface MoneyEvent {
  event: string;
  message: string;
  buyer_id?: number | null;
  details?: object;
}

/** A change of what is paid for a call. Amounts are dollars, and added to those of the call. */
export interface Settlement extends PaidBefore {
  /** Who pays. */
  buyer_id: number | null;
  buyer_group_id: number | null;
  revenue: number;
  payout: number;
  /** From now on; null for no change. */
  buyer_converted: boolean | null;
  source_converted: boolean | null;
  conversion: { id: number | null; name: string | null; revenue: number } | null;
  /** Added to the conversion that the buyer has already. */
  conversion_revenue: number;
  conversion_payout: number;
  /** Ids of conversions that are taken back. */
  returned: readonly string[];
  returns_payout: boolean;
  /** Why something is returned. */
  reason: string | null;
  tokens: Record<string, string>;
  /**
   * Time frames in seconds in which the buyer must not have paid for the caller, and the source
   * must not have been paid; 0 when it does not matter. The amounts assume `buyer_paid` and
   * `source_paid`: what writes them checks that again.
   */
  buyer_seconds: number;
  source_seconds: number;
  usages: readonly (CapOwners & Usage)[];
  /** Usage that is taken out of the windows in which it was counted. */
  taken: readonly CountedUsage[];
  entries: readonly LedgerEntry[];
  events: readonly MoneyEvent[];
}

export const NO_SETTLEMENT: Settlement = {
  buyer_id: null,
  buyer_group_id: null,
  revenue: 0,
  payout: 0,
  buyer_converted: null,
  source_converted: null,
  conversion: null,
  conversion_revenue: 0,
  conversion_payout: 0,
  returned: [],
  returns_payout: false,
  reason: null,
  tokens: {},
  buyer_seconds: 0,
  source_seconds: 0,
  ...NOT_PAID_BEFORE,
  usages: [],
  taken: [],
  entries: [],
  events: [],
};

/** True if nothing is due, and nothing has to be marked. */
export const isNothing = (settlement: Settlement): boolean =>
  settlement.events.length === 0 &&
  settlement.source_converted === null &&
  !settlement.buyer_paid &&
  !settlement.source_paid;

/** Two changes of one call, the second decided after the first, as one. */
export function joinSettlements(first: Settlement, second: Settlement): Settlement {
  const conversion = first.conversion && {
    ...first.conversion,
    revenue: cents(first.conversion.revenue + second.conversion_revenue),
  };
  return {
    buyer_id: first.buyer_id ?? second.buyer_id,
    buyer_group_id: first.buyer_group_id ?? second.buyer_group_id,
    revenue: cents(first.revenue + second.revenue),
    payout: cents(first.payout + second.payout),
    buyer_converted: second.buyer_converted ?? first.buyer_converted,
    source_converted: second.source_converted ?? first.source_converted,
    conversion: conversion ?? second.conversion,
    conversion_revenue: cents(first.conversion_revenue + second.conversion_revenue),
    conversion_payout: cents(first.conversion_payout + second.conversion_payout),
    returned: [...first.returned, ...second.returned],
    returns_payout: first.returns_payout || second.returns_payout,
    reason: first.reason ?? second.reason,
    tokens: { ...first.tokens, ...second.tokens },
    buyer_seconds: Math.max(first.buyer_seconds, second.buyer_seconds),
    source_seconds: Math.max(first.source_seconds, second.source_seconds),
    buyer_paid: first.buyer_paid || second.buyer_paid,
    source_paid: first.source_paid || second.source_paid,
    usages: [...first.usages, ...second.usages],
    taken: [...first.taken, ...second.taken],
    entries: [...first.entries, ...second.entries],
    events: [...first.events, ...second.events],
  };
}

/** The call after a settlement, as far as the next one depends on it. */
export function applySettlement<Call extends CallMoney>(call: Call, settled: Settlement): Call {
  const { buyer_id, conversion } = settled;
  const payment = conversion && buyer_id !== null && { buyer_id, revenue: conversion.revenue };
  return {
    ...call,
    revenue: cents(call.revenue + settled.revenue),
    payout: cents(call.payout + settled.payout),
    traffic_source_converted: settled.source_converted ?? call.traffic_source_converted,
    payments: payment ? [...call.payments, payment] : call.payments,
  };
}

/** Usage from now on, of a buyer with its group, and of a source. */
export function countUsage(
  { buyer_id, buyer_group_id, traffic_source_id }: CapOwners,
  usage: Partial<Usage>,
  ofSource: Partial<Usage> = usage,
): Settlement['usages'] {
  const nobody = { buyer_id: null, buyer_group_id: null, traffic_source_id: null };
  const nothing = { connection: 0, buyer_conversion: 0, revenue: 0, earned_revenue: 0 };
  return [
    ...(buyer_id === null && buyer_group_id === null
      ? []
      : [{ ...nobody, buyer_id, buyer_group_id, ...nothing, ...usage }]),
    ...(traffic_source_id === null
      ? []
      : [{ ...nobody, traffic_source_id, ...nothing, ...ofSource }]),
  ];
}

export const formatDollars = (amount: number): string => `$${amount.toFixed(2)}`;
