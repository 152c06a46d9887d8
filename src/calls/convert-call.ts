import type { Usage } from '../buyers/caps';
import { recordUsage } from '../buyers/reserve-caps';
import type { Statements } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { cents, payoutOf, type PayoutTerms } from '../routing/engine/payout';
import { pairTokens, passesFilters } from '../tokens/filters';
import { needsOf } from '../tokens/filter-needs';
import { callTokens } from '../tokens/system';
import { lookUpForFilters } from '../value-lists/look-up';
import { originOf, type CallOrigin } from '../routing/route-facts';
import { addPayout, markRepeatCaller, type DialedBuyer } from './change-call';
import {
  HAS_BUYER_PAID,
  INSERT_CONVERSION,
  LOCK_CALLER_OF_OFFER,
  LOCK_CAPS,
  READ_CONVERTIBLE_CALL,
  WAS_SOURCE_PAID,
} from './queries/conversions';
import { recordEvent } from './record-call';
import { settlePending } from './release-slots';
import { loadConversions, type PayingConversion } from '../routing/caller-facts';

export interface Converting {
  call_id: number;
  buyer_id: number;
  /** Since the buyer took the call. */
  answered_seconds: number;
  now: Date;
  /** Set when a user reports that the buyer pays: this amount, or that of its conversion. */
  reported?: { revenue?: number | undefined };
}

/** What decides whether a call converts with a buyer that was dialed for it. */
interface ConvertibleCall extends CallOrigin {
  caller_number: number | null;
  offer_id: number | null;
  lead_id: number | null;
  token_values: Record<string, unknown>;
  payout: number;
  revenue: number;
  traffic_source_converted: boolean;
  dialed_at: Date;
  buyer_group_id: number | null;
  payouts: PayoutTerms[];
  /** Whether the buyer has paid for the call already. */
  converted: boolean;
  /** Dollars that a user set on the call before it had a conversion. */
  set_revenue: number;
  /** Whether a user took a conversion back, or a payout: then only what is reported converts. */
  is_returned: boolean;
  is_payout_returned: boolean;
}

/**
 * Makes the buyer pay for the call if one of its conversions applies (the first that does), and
 * pays the source of the call what the offer says. Each happens once per call, however often this
 * is called. Returns whether the buyer pays, from now on or already before. The call is locked by
 * the caller.
 */
export async function convertCall(
  db: Statements,
  { call_id, buyer_id, answered_seconds, now, reported }: Converting,
): Promise<boolean> {
  const [call] = await db.sql(READ_CONVERTIBLE_CALL, { call_id, buyer_id });
  if (!call) return false;
  const conversions = call.converted ? [] : await loadConversions(db, buyer_id, call.dialed_at);
  const applying = reported
    ? reportedConversion(conversions)
    : await firstApplying(db, conversions, { call, answered_seconds });
  // Revenue that was set before the conversion is on the call already and belongs to it.
  const conversion = applying && {
    ...applying,
    revenue: reported?.revenue ?? (call.set_revenue || applying.revenue),
  };
  const revenue =
    conversion && !call.converted
      ? await convert(db, { call_id, buyer_id, call, conversion, now })
      : undefined;
  if (reported || !call.is_payout_returned)
    await pay(db, { call_id, buyer_id, call, answered_seconds, revenue, now });
  return call.converted || revenue !== undefined;
}

/** A reported conversion needs no condition; amount and duplicate time frame are the buyer's. */
function reportedConversion(conversions: readonly PayingConversion[]): PayingConversion {
  const postback = conversions.find(({ conversion_type }) => conversion_type === 'postback');
  return postback ?? conversions[0] ?? NAMELESS;
}

/** For a buyer that has no conversions of its own. */
const NAMELESS: PayingConversion = {
  id: 0,
  name: null,
  conversion_type: 'postback',
  duration: 0,
  revenue: 0,
  duplicate_timeframe: 0,
  token_values: [],
  attribution_token_values: [],
};

/** The first conversion that pays for a call of so many seconds with these tokens. */
async function firstApplying(
  db: Statements,
  conversions: readonly PayingConversion[],
  { call, answered_seconds }: { call: ConvertibleCall; answered_seconds: number },
): Promise<PayingConversion | undefined> {
  if (call.is_returned) return undefined;
  const lasted = conversions.filter(
    ({ conversion_type, duration }) =>
      conversion_type === 'duration' && answered_seconds >= duration,
  );
  if (lasted.length === 0) return undefined;
  const { caller_number, traffic_source_id, token_values } = call;
  const caller_id = caller_number === null ? '' : `+${caller_number}`;
  const tokens = callTokens(token_values, { caller_id, ...originOf(call, caller_number) });
  const needs = needsOf(lasted.map((conversion) => conversion.token_values));
  await lookUpForFilters(db.sql, [{ company_id: db.company_id, tokens, needs, traffic_source_id }]);
  return lasted.find((conversion) => passesFilters(conversion.token_values, tokens));
}

interface CallOfBuyer {
  call_id: number;
  buyer_id: number;
  call: ConvertibleCall;
  now: Date;
}

type NewConversion = CallOfBuyer & { conversion: PayingConversion };

/** Returns the dollars that the buyer pays; undefined if it paid for the caller shortly before. */
async function convert(db: Statements, conversion: NewConversion): Promise<number | undefined> {
  const { call_id, buyer_id, call, now } = conversion;
  const { buyer_group_id } = call;
  const { name, revenue, duplicate_timeframe } = conversion.conversion;
  if (await hasPaid(db, conversion)) {
    const message = `the buyer has paid for this caller within ${duplicate_timeframe} seconds`;
    if (await markRepeatCaller(db, call_id, 'buyer'))
      await recordEvent(db, { call_id, event: 'not_converted', message, buyer_id, now });
    return undefined;
  }
  const added = cents(revenue - call.set_revenue);
  if (!(await insertConversion(db, conversion, added))) return undefined;
  await settlePending(db, 'conversion', { call_id, buyer_id, buyer_group_id });
  const usage = { buyer_conversion: 1, revenue: added, earned_revenue: added };
  await addUsage(db, { buyer_id, buyer_group_id }, { usage, now });
  await recordEvent(db, {
    call_id,
    event: 'converted',
    message: `the buyer pays $${revenue.toFixed(2)}`,
    buyer_id,
    details: { name, revenue },
    now,
  });
  return revenue;
}

/**
 * Whether the buyer paid for the caller within the duplicate time frame. Locks the buyer's caps, so
 * that of two calls of one caller the second waits until the first is written. Callers who withhold
 * their number are all different.
 */
async function hasPaid(db: Statements, { buyer_id, call, conversion, now }: NewConversion) {
  const { buyer_group_id, caller_number } = call;
  await db.sql(LOCK_CAPS, { buyer_id, buyer_group_id });
  const seconds = conversion.duplicate_timeframe;
  if (caller_number === null || seconds === 0) return false;
  const [row] = await db.sql(HAS_BUYER_PAID, { buyer_id, caller_number, seconds, now });
  return row!.has_paid;
}

/** Writes a conversion and the change of its call and lead; false if the call has one already. */
async function insertConversion(
  db: Statements,
  { call_id, buyer_id, call, conversion, now }: NewConversion,
  added: number,
): Promise<boolean> {
  const { id, name, revenue, attribution_token_values } = conversion;
  const [row] = await db.sql(INSERT_CONVERSION, {
    uuid: uuidv7(now.getTime()),
    call_id,
    buyer_id,
    buyer_conversion_id: id || null,
    name,
    caller_number: call.caller_number,
    revenue,
    added,
    tokens: JSON.stringify(pairTokens(attribution_token_values)),
    now,
  });
  return row!.n === 1;
}

type Payment = Omit<CallOfBuyer, 'buyer_id'> & {
  buyer_id: number | null;
  answered_seconds: number;
  revenue: number | undefined;
};

/**
 * Pays the source of a call because a user says so, whatever the offer's terms ask for. Returns what
 * stands in the way of that, if something does. The call is locked by the caller.
 */
export async function payForOffer(
  db: Statements,
  { call_id, buyer_id, now }: { call_id: number; buyer_id: number | null; now: Date },
): Promise<string | undefined> {
  const [call] = await db.sql(READ_CONVERTIBLE_CALL, { call_id, buyer_id });
  if (!call || call.traffic_source_converted) return undefined;
  const { traffic_source_id, revenue } = call;
  if (traffic_source_id === null) return 'the call has no traffic source that could be paid';
  const due = payoutOf(call.payouts, {
    traffic_source_id,
    answered_seconds: Infinity,
    revenue,
  });
  if (due) {
    const is_paid = await settle(db, { call_id, buyer_id, call, now }, due);
    return is_paid ? undefined : 'the source was paid for this caller a short while ago';
  }
  await addPayout(db, { call_id, buyer_id, amount: 0, converts: true, now });
  return 'the offer pays this traffic source nothing: the call is marked as converted for $0.00';
}

async function pay(db: Statements, payment: Payment): Promise<void> {
  const { call, answered_seconds, revenue } = payment;
  if (call.traffic_source_converted) return;
  const due = payoutOf(call.payouts, {
    traffic_source_id: call.traffic_source_id,
    answered_seconds,
    revenue: revenue ?? (call.converted ? call.revenue : undefined),
  });
  if (due) await settle(db, payment, due);
}

type Due = NonNullable<ReturnType<typeof payoutOf>>;

/** Pays what is due to the source of a call; false if it was paid for the caller shortly before. */
async function settle(
  db: Statements,
  payment: Omit<Payment, 'answered_seconds' | 'revenue'>,
  { payout, terms }: Due,
): Promise<boolean> {
  const { call_id, buyer_id, call, now } = payment;
  const { traffic_source_id, buyer_group_id } = call;
  if (await wasSourcePaid(db, payment, terms.duplicate_timeframe ?? 0)) {
    await markRepeatCaller(db, call_id, 'traffic_source');
    return false;
  }
  await addPayout(db, { call_id, buyer_id, amount: payout, converts: true, now });
  const usage = { earned_revenue: -payout };
  if (buyer_id !== null) await addUsage(db, { buyer_id, buyer_group_id }, { usage, now });
  await recordEvent(db, {
    call_id,
    event: 'payout',
    message: `the traffic source is paid $${payout.toFixed(2)}`,
    details: { traffic_source_id, payout },
    now,
  });
  return true;
}

/**
 * Whether the source was paid for the caller of this offer within so many seconds. Of two calls of
 * one caller the second waits until the first is written.
 */
async function wasSourcePaid(
  db: Statements,
  {
    call_id,
    call: { caller_number, offer_id },
    now,
  }: Omit<Payment, 'answered_seconds' | 'revenue'>,
  seconds: number,
): Promise<boolean> {
  if (caller_number === null || seconds === 0) return false;
  const caller_of_offer = `${db.company_id}/${offer_id}/${caller_number}`;
  await db.sql(LOCK_CALLER_OF_OFFER, { caller_of_offer });
  const [row] = await db.sql(WAS_SOURCE_PAID, { call_id, caller_number, offer_id, seconds, now });
  return row!.was_paid;
}

/**
 * Adds to the counters of a buyer and of the group through which it was dialed. Groups are locked
 * before buyers, as everywhere.
 */
export async function addUsage(
  db: Statements,
  { buyer_id, buyer_group_id }: DialedBuyer,
  { usage, now }: { usage: Usage; now: Date },
): Promise<void> {
  if (buyer_group_id !== null) await recordUsage(db, { owner: { buyer_group_id }, usage, now });
  await recordUsage(db, { owner: { buyer_id }, usage, now });
}
