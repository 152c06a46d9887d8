import { recordUsage } from '../buyers/queries/cap-counters';
import { settlePending } from './queries/concurrency-slots';
import { loadConversions, type PayingConversion } from '../routing/caller-facts';
import {
  hasPaid,
  insertConversion,
  isSourcePaid,
  noteRepeatCaller,
  payTrafficSource,
  readConvertible,
  writeCallEvent,
  type ConvertibleCall,
} from './queries/conversions';
import type { Statements } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { cents, payoutOf } from '../routing/engine/payout';
import type { Usage } from '../buyers/caps';
import { compileFilter, pairTokens } from '../tokens/filters';
import { ownTokens } from '../tokens/substitute';

export interface Converting {
  call_id: number;
  buyer_id: number;
  /** Since the buyer took the call. */
  answered_seconds: number;
  now: Date;
  /** Somebody says that the buyer pays: so much, or what its conversion says. */
  told?: { revenue?: number | undefined };
}

/**
 * Has the buyer pay for the call if the first of its conversions that fits says so, and the source of the call be paid what the offer says. Each
 * happens once a call, however often this is asked. Answers whether the buyer pays, now or since before. Within a transaction that has the call to itself.
 */
export async function convertCall(
  db: Statements,
  { call_id, buyer_id, answered_seconds, now, told }: Converting,
): Promise<boolean> {
  const call = await readConvertible(db, call_id, buyer_id);
  if (!call) return false;
  const conversions = call.converted ? [] : await loadConversions(db, buyer_id, call.dialed_at);
  const fitting = told
    ? toldConversion(conversions)
    : conversions.find((conversion) => fits(conversion, call, answered_seconds));
  // What was told before of what the buyer pays is on the call already: it is of this conversion.
  const conversion = fitting && {
    ...fitting,
    revenue: told?.revenue ?? (call.told_revenue || fitting.revenue),
  };
  const revenue =
    conversion && !call.converted
      ? await convert(db, { call_id, buyer_id, call, conversion, now })
      : undefined;
  await pay(db, { call_id, buyer_id, call, answered_seconds, revenue, now });
  return call.converted || revenue !== undefined;
}

/** What somebody says of a call counts by itself; a conversion of the buyer lends its amount and its time frame for duplicates. */
function toldConversion(conversions: readonly PayingConversion[]): PayingConversion {
  const own =
    conversions.find(({ conversion_type }) => conversion_type === 'postback') ?? conversions[0];
  return own ?? NAMELESS;
}

/** Of a buyer that has no conversions of its own. */
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

function fits(
  { conversion_type, duration, token_values }: PayingConversion,
  { token_values: tokens }: ConvertibleCall,
  answered_seconds: number,
): boolean {
  if (conversion_type !== 'duration' || answered_seconds < duration) return false;
  return token_values.every((filter) => compileFilter(filter)?.(ownTokens(tokens)) ?? false);
}

interface One {
  call_id: number;
  buyer_id: number;
  call: ConvertibleCall;
  now: Date;
}

/** Answers the dollars the buyer pays; undefined when it has paid for the caller a short while ago. */
async function convert(
  db: Statements,
  { call_id, buyer_id, call, conversion, now }: One & { conversion: PayingConversion },
): Promise<number | undefined> {
  const { buyer_group_id, caller_number, told_revenue } = call;
  if (
    await hasPaid(db, {
      buyer_id,
      buyer_group_id,
      caller_number,
      seconds: conversion.duplicate_timeframe,
      now,
    })
  ) {
    const message = `the buyer has paid for this caller within ${conversion.duplicate_timeframe} seconds`;
    if (await noteRepeatCaller(db, call_id, 'buyer'))
      await writeCallEvent(db, { call_id, event: 'not_converted', message, buyer_id, now });
    return undefined;
  }
  const { id, name, revenue } = conversion;
  const added = cents(revenue - told_revenue);
  const tokens = pairTokens(conversion.attribution_token_values);
  const written = {
    uuid: uuidv7(now.getTime()),
    call_id,
    buyer_id,
    buyer_conversion_id: id || null,
    name,
    caller_number,
    revenue,
    added,
    tokens,
  };
  if (!(await insertConversion(db, written, now))) return undefined;
  await settlePending(db, 'conversion', { call_id, buyer_id, buyer_group_id });
  await moveUsage(
    db,
    { buyer_id, buyer_group_id },
    { usage: { buyer_conversion: 1, revenue: added, earned_revenue: added }, now },
  );
  await writeCallEvent(db, {
    call_id,
    event: 'converted',
    message: `the buyer pays $${revenue.toFixed(2)}`,
    buyer_id,
    details: { name, revenue },
    now,
  });
  return revenue;
}

async function pay(
  db: Statements,
  {
    call_id,
    buyer_id,
    call,
    answered_seconds,
    revenue,
    now,
  }: One & { answered_seconds: number; revenue: number | undefined },
): Promise<void> {
  if (call.traffic_source_converted) return;
  const { traffic_source_id, caller_number, offer_id } = call;
  const due = payoutOf(call.payouts, {
    traffic_source_id,
    answered_seconds,
    revenue: revenue ?? (call.converted ? call.revenue : undefined),
  });
  if (!due) return;
  if (
    await isSourcePaid(db, {
      call_id,
      caller_number,
      offer_id,
      seconds: due.terms.duplicate_timeframe ?? 0,
      now,
    })
  ) {
    await noteRepeatCaller(db, call_id, 'traffic_source');
    return;
  }
  await payTrafficSource(db, { call_id, buyer_id, payout: due.payout }, now);
  await moveUsage(
    db,
    { buyer_id, buyer_group_id: call.buyer_group_id },
    { usage: { earned_revenue: -due.payout }, now },
  );
  await writeCallEvent(db, {
    call_id,
    event: 'payout',
    message: `the traffic source is paid $${due.payout.toFixed(2)}`,
    details: { traffic_source_id, payout: due.payout },
    now,
  });
}

/** Counts what happened with a buyer, and with the group through which it came to the call. Groups before buyers, as all who lock caps. */
export async function moveUsage(
  db: Statements,
  { buyer_id, buyer_group_id }: { buyer_id: number; buyer_group_id: number | null },
  { usage, now }: { usage: Usage; now: Date },
): Promise<void> {
  if (buyer_group_id !== null) await recordUsage(db, { owner: { buyer_group_id }, usage, now });
  await recordUsage(db, { owner: { buyer_id }, usage, now });
}
