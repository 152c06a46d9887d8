import type { Carrier } from '../carriers/carrier';
import { addTokens, floorDollars, lockTally, moveMoney, type TalliedCall } from './queries/updates';
import { writeCallEvent } from './queries/conversions';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { notFound, HttpProblem, type FieldErrors, rejectInvalidData } from '../errors';
import { cents } from '../routing/engine/payout';
import { parsePair, splitPairs } from '../tokens/filters';
import { LIMITS, tokensOf, type Data } from '../tokens/lead-data';
import { handleCallEvent } from './handle-event';
import { convertCall, moveUsage } from './convert-call';
import { carrierUnavailable } from '../numbers/find-numbers';
import { receiveCallStatus } from '../outreach/receive-status';

/** What is told of a call afterwards. Amounts are dollars. */
export interface CallFacts {
  revenue?: number | undefined;
  add_revenue?: number | undefined;
  payout?: number | undefined;
  buyer_converted?: boolean | undefined;
  /** An object, or `key:value,key2:value2`. */
  post_call_tokens?: Data | string | undefined;
  data?: Data | undefined;
  hang_up?: boolean | undefined;
}

interface Telling {
  now: Date;
  carrier: Carrier;
}

/** Calls that a softswitch of one's own carries: it is told to hang up by the next instruction that it asks for. */
export const SOFTSWITCH = 'softswitch';
/** Twice what comes at once, as of leads. */
const MOST_TOKEN_BYTES = 2 * LIMITS.bytes;

/**
 * Takes what is told of a call, all of it or nothing: what its buyer pays, what its source is paid, tokens, and that it is to end. Caps, the lead and
 * the conversion follow in the same transaction. Answers what was asked for and could not be done, by field.
 */
export async function updateCall(
  db: Db,
  reference: Reference,
  facts: CallFacts,
  telling: Telling,
): Promise<{ id: bigint; warnings: FieldErrors }> {
  const tokens = tokensIn(facts);
  if (facts.revenue !== undefined && facts.add_revenue !== undefined)
    throw HttpProblem.field('add_revenue', 'must be left out beside revenue');
  return db.transaction(async (tx) => {
    const call = await lockTally(tx, reference);
    if (!call) throw notFound();
    requirePossible(call, facts);
    await mergeTokens(tx, call, tokens, telling.now);
    if (facts.payout !== undefined) await setPayout(tx, call, facts.payout, telling.now);
    const is_repeat =
      facts.buyer_converted === true && !(await convert(tx, call, facts, telling.now));
    if (!is_repeat) await setRevenue(tx, (await lockTally(tx, call.id))!, facts, telling.now);
    if (facts.hang_up) await hangUp(tx, call, telling);
    const warnings = {
      buyer_converted: [
        'the buyer has paid for this caller a short while ago: it does not pay again, and its revenue is as it was',
      ],
    };
    return { id: BigInt(call.id), warnings: is_repeat ? warnings : {} };
  });
}

function tokensIn({ post_call_tokens = {}, data = {} }: CallFacts): Data {
  const pairs =
    typeof post_call_tokens === 'string'
      ? splitPairs(post_call_tokens).map((pair) => [pair, parsePair(pair)] as const)
      : [];
  const odd = pairs.find(([, parsed]) => parsed === undefined);
  if (odd)
    throw HttpProblem.field(
      'post_call_tokens',
      `must be key:value,key2:value2, the keys of lowercase letters, digits and underscores; ${odd[0].slice(0, 100)} is not`,
    );
  const named =
    typeof post_call_tokens === 'string'
      ? Object.fromEntries(pairs.map(([, parsed]) => parsed!))
      : post_call_tokens;
  const { tokens, faults } = tokensOf(named, data);
  rejectInvalidData(faults);
  return tokens;
}

function requirePossible(
  call: TalliedCall,
  { revenue, add_revenue, buyer_converted }: CallFacts,
): void {
  const errors: FieldErrors = {};
  const told = Object.entries({ revenue, add_revenue, buyer_converted }).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  if (call.buyer_id === null)
    for (const [field] of told)
      errors[field] = ['cannot be told of this call: it was with no buyer who could pay for it'];
  if (buyer_converted === false && call.buyer_converted)
    errors.buyer_converted = [
      'must be true: the buyer has paid for the call, and that is not taken back',
    ];
  const refusal = HttpProblem.fields(errors);
  if (refusal) throw refusal;
}

/** Merges tokens into those of a call, and notes that somebody has changed it. Refuses with 422 what it has no room for. */
export async function mergeTokens(
  db: Db,
  call: TalliedCall,
  tokens: Data,
  now: Date,
): Promise<void> {
  const names = Object.keys(tokens);
  if (
    names.length > 0 &&
    Buffer.byteLength(JSON.stringify({ ...call.token_values, ...tokens })) > MOST_TOKEN_BYTES
  )
    throw HttpProblem.field(
      'data',
      'must not grow beyond 128 kB together with the tokens that the call has already',
    );
  await addTokens(db, { call_id: call.id, tokens, now });
  if (names.length > 0)
    await writeCallEvent(db, {
      call_id: call.id,
      event: 'tokens_changed',
      message: names.slice(0, 20).join(', '),
      details: { tokens: names },
      now,
    });
}

const shown = (dollars: number): string => `$${dollars.toFixed(2)}`;

async function setPayout(db: Db, call: TalliedCall, payout: number, now: Date): Promise<void> {
  const more = cents(payout - call.payout);
  if (more === 0) return;
  await moveDollars(db, call, { earned_revenue: -more }, now);
  await moveMoney(db, 'payout', { call, more, now });
  const message = `the traffic source is paid ${shown(payout)}, before ${shown(call.payout)}`;
  await writeCallEvent(db, {
    call_id: call.id,
    event: 'payout_changed',
    message,
    details: { from: call.payout, to: payout },
    now,
  });
}

/** Answers whether the buyer pays, now or since before. */
const convert = (db: Db, call: TalliedCall, { revenue }: CallFacts, now: Date): Promise<boolean> =>
  convertCall(db, {
    call_id: call.id,
    buyer_id: call.buyer_id!,
    answered_seconds: talkedSeconds(call, now),
    now,
    told: { revenue },
  });

function talkedSeconds(
  { connected_at, ended_at, answered_duration }: TalliedCall,
  now: Date,
): number {
  return (
    answered_duration ??
    (connected_at
      ? Math.max(0, Math.floor(((ended_at ?? now).getTime() - connected_at.getTime()) / 1000))
      : 0)
  );
}

async function setRevenue(
  db: Db,
  call: TalliedCall,
  { revenue, add_revenue }: CallFacts,
  now: Date,
): Promise<void> {
  const target =
    revenue ?? (add_revenue === undefined ? call.revenue : cents(call.revenue + add_revenue));
  const more = cents(target - call.revenue);
  if (more === 0) return;
  const { others_revenue: least } = call;
  if (target < least) {
    const why = least > 0 ? `: other buyers pay ${shown(least)} for the call` : '';
    throw HttpProblem.field(
      revenue === undefined ? 'add_revenue' : 'revenue',
      `must leave the revenue of the call at ${shown(least)} or above${why}`,
    );
  }
  await moveDollars(db, call, { revenue: more, earned_revenue: more }, now);
  await moveMoney(db, 'revenue', { call, more, now });
  const message = `the buyer pays ${shown(target)}, before ${shown(call.revenue)}`;
  await writeCallEvent(db, {
    call_id: call.id,
    event: 'revenue_changed',
    message,
    buyer_id: call.buyer_id,
    details: { from: call.revenue, to: target },
    now,
  });
}

/** Of a call that was with no buyer nobody's dollars are counted. Caps are locked before the lead, as by who converts a call. */
async function moveDollars(
  db: Db,
  { buyer_id, buyer_group_id }: TalliedCall,
  usage: { revenue?: number; earned_revenue: number },
  now: Date,
): Promise<void> {
  if (buyer_id === null) return;
  await moveUsage(db, { buyer_id, buyer_group_id }, { usage, now });
  if (usage.earned_revenue < 0) await floorDollars(db, { buyer_id, buyer_group_id });
}

/**
 * A call that a carrier brings is ended by the carrier, which is asked last, so that what it refuses has changed nothing; it tells of the end as of any
 * other. Where nobody will tell, because the carrier has no such call any more or a softswitch carries it, the call is over here and now.
 */
async function hangUp(db: Db, call: TalliedCall, { now, carrier }: Telling): Promise<void> {
  if (call.ended_at !== null) return;
  await writeCallEvent(db, {
    call_id: call.id,
    event: 'hang_up',
    message: 'asked for',
    buyer_id: call.buyer_id,
    now,
  });
  if (call.carrier !== SOFTSWITCH && (await isTold(call, carrier))) return;
  if (call.direction === 'inbound')
    await handleCallEvent(db, call.id, { event: 'completed', hangup_cause: 'hang_up' }, now);
  else {
    const status = call.status === 'in_progress' ? 'completed' : 'canceled';
    await receiveCallStatus(
      db,
      { key: call.uuid, carrier_call_id: call.carrier_call_id!, status, duration: undefined },
      now,
    );
  }
}

/** Has the carrier end a call; answers whether it will tell of the end. */
async function isTold(
  { carrier: name, carrier_call_id }: TalliedCall,
  carrier: Carrier,
): Promise<boolean> {
  if (name !== carrier.name || carrier_call_id === null)
    throw HttpProblem.field(
      'hang_up',
      `cannot be done: the call is carried by ${name}, and this service is set up with ${carrier.name}`,
    );
  const ended = await carrier.endCall(carrier_call_id);
  if (ended.ok) return !carrier.instant;
  if (ended.code === 'not_live') return false;
  if (ended.retryable)
    throw carrierUnavailable(ended, 'Nothing of what was told of the call is kept.');
  throw HttpProblem.field('hang_up', `was refused by the carrier: ${ended.message}`);
}
