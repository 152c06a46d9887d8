import type { Carrier } from '../carriers/carrier';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import {
  HttpProblem,
  notFound,
  rejectInvalidData,
  type FieldErrors,
  type FieldFaults,
  fault,
} from '../errors';
import { carrierUnavailable } from '../numbers/find-numbers';
import { receiveCallStatus } from '../outreach/receive-status';
import { cents } from '../routing/engine/payout';
import { LIMITS, tokensOf, type Data } from '../tokens/lead-data';
import { addPayout, addRevenue, addTokens, floorUsedDollars } from './change-call';
import { addUsage, convertCall } from './convert-call';
import { describeCall, type CallDescription } from './describe-call';
import { lockEditableCall, type EditableCall } from './editable-call';
import { handleCallEvent } from './handle-event';
import { recordEvent } from './record-call';
import { reportOutbound } from './report-outbound';

/** Changes to a call, usually after it has ended. Amounts are dollars. */
export interface CallChanges extends CallDescription {
  revenue?: number | undefined;
  add_revenue?: number | undefined;
  payout?: number | undefined;
  buyer_converted?: boolean | undefined;
  post_call_tokens?: Data | undefined;
  data?: Data | undefined;
  hang_up?: boolean | undefined;
}

interface Context {
  now: Date;
  carrier: Carrier;
}

/** Calls of the customer's own softswitch, which hangs up when it next asks what to do. */
export const SOFTSWITCH = 'softswitch';
/** Twice the size that one request may send, as for leads. */
const MAX_TOKEN_BYTES = 2 * LIMITS.bytes;
const REPEAT_CALLER = {
  buyer_converted: [
    'the buyer paid for this caller a short while ago: it does not pay again, and the revenue ' +
      'is unchanged',
  ],
};

/**
 * Changes a call, completely or not at all: what its buyer pays, what its source is paid, tokens,
 * and whether it ends. Caps, the lead and the conversion change in the same transaction. Returns
 * the id, and warnings by field about what was asked for but could not be done.
 */
export async function updateCall(
  db: Db,
  reference: Reference,
  changes: CallChanges,
  context: Context,
): Promise<{ id: bigint; warnings: FieldErrors }> {
  const { now } = context;
  const tokens = tokensIn(changes);
  if (changes.revenue !== undefined && changes.add_revenue !== undefined)
    throw HttpProblem.field(
      'add_revenue',
      'conflicting_fields',
      'must not be given together with revenue',
    );
  return db.transaction(async (tx) => {
    const call = await lockEditableCall(tx, reference);
    if (!call) throw notFound();
    requirePossible(call, changes);
    await mergeTokens(tx, call, tokens, now);
    await describeCall(tx, call.id, changes, now);
    if (changes.payout !== undefined) await setPayout(tx, call, changes.payout, now);
    const is_repeat = changes.buyer_converted === true && !(await convert(tx, call, changes, now));
    if (!is_repeat) await setRevenue(tx, (await lockEditableCall(tx, call.id))!, changes, now);
    if (changes.hang_up) await hangUp(tx, call, context);
    return { id: BigInt(call.id), warnings: is_repeat ? REPEAT_CALLER : {} };
  });
}

function tokensIn({ post_call_tokens = {}, data = {} }: CallChanges): Data {
  const { tokens, faults } = tokensOf(post_call_tokens, data);
  rejectInvalidData(faults);
  return tokens;
}

function requirePossible(
  call: EditableCall,
  { revenue, add_revenue, buyer_converted }: CallChanges,
): void {
  const faults: FieldFaults = {};
  const given = Object.entries({ revenue, add_revenue, buyer_converted }).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  if (call.buyer_id === null)
    for (const [field] of given)
      faults[field] = [
        fault(
          'not_applicable',
          'cannot be set for this call: no buyer was dialed who could pay for it',
        ),
      ];
  if (buyer_converted === false && call.buyer_converted)
    faults.buyer_converted = [
      fault(
        'wrong_state',
        'must be true: the buyer has paid for the call, and this cannot be undone',
      ),
    ];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/**
 * Merges tokens into those of a call and marks it as changed by a user. Throws 422 if all tokens
 * together would be too large.
 */
export async function mergeTokens(
  db: Db,
  call: EditableCall,
  tokens: Data,
  now: Date,
): Promise<void> {
  const names = Object.keys(tokens);
  const merged = { ...call.token_values, ...tokens };
  if (names.length > 0 && Buffer.byteLength(JSON.stringify(merged)) > MAX_TOKEN_BYTES)
    throw HttpProblem.field(
      'data',
      'limit_exceeded',
      'must not exceed 128 kB together with the tokens that the call has already',
    );
  await addTokens(db, { call_id: call.id, tokens, now });
  if (names.length > 0)
    await recordEvent(db, {
      call_id: call.id,
      event: 'tokens_changed',
      message: names.slice(0, 20).join(', '),
      details: { tokens: names },
      now,
    });
}

const inDollars = (amount: number): string => `$${amount.toFixed(2)}`;

async function setPayout(db: Db, call: EditableCall, payout: number, now: Date): Promise<void> {
  const amount = cents(payout - call.payout);
  if (amount === 0) return;
  const { id: call_id, buyer_id } = call;
  await addDollars(db, call, { earned_revenue: -amount }, now);
  await addPayout(db, { call_id, buyer_id, amount, converts: false, now });
  const before = inDollars(call.payout);
  await recordEvent(db, {
    call_id,
    event: 'payout_changed',
    message: `the traffic source is paid ${inDollars(payout)}, before ${before}`,
    details: { from: call.payout, to: payout },
    now,
  });
}

/** Returns whether the buyer pays, from now on or already before. */
const convert = (
  db: Db,
  call: EditableCall,
  { revenue }: CallChanges,
  now: Date,
): Promise<boolean> =>
  convertCall(db, {
    call_id: call.id,
    buyer_id: call.buyer_id!,
    answered_seconds: talkedSeconds(call, now),
    now,
    reported: { revenue },
  });

function talkedSeconds(
  { connected_at, ended_at, answered_duration }: EditableCall,
  now: Date,
): number {
  if (answered_duration !== null) return answered_duration;
  if (!connected_at) return 0;
  const until = ended_at ?? now;
  return Math.max(0, Math.floor((until.getTime() - connected_at.getTime()) / 1000));
}

async function setRevenue(
  db: Db,
  call: EditableCall,
  { revenue, add_revenue = 0 }: CallChanges,
  now: Date,
): Promise<void> {
  const target = revenue ?? cents(call.revenue + add_revenue);
  const amount = cents(target - call.revenue);
  if (amount === 0) return;
  const { id: call_id, buyer_id, others_revenue: least } = call;
  if (target < least) {
    const why = least > 0 ? `: other buyers pay ${inDollars(least)} for the call` : '';
    throw HttpProblem.field(
      revenue === undefined ? 'add_revenue' : 'revenue',
      'invalid_value',
      `must leave the revenue of the call at ${inDollars(least)} or above${why}`,
    );
  }
  await addDollars(db, call, { revenue: amount, earned_revenue: amount }, now);
  await addRevenue(db, { call_id, buyer_id, amount, now });
  await recordEvent(db, {
    call_id,
    event: 'revenue_changed',
    message: `the buyer pays ${inDollars(target)}, before ${inDollars(call.revenue)}`,
    buyer_id,
    details: { from: call.revenue, to: target },
    now,
  });
}

/**
 * Counts dollars for the caps of the buyer, if the call had one. Caps are locked before the lead,
 * as in converting a call.
 */
async function addDollars(
  db: Db,
  { buyer_id, buyer_group_id }: EditableCall,
  usage: { revenue?: number; earned_revenue: number },
  now: Date,
): Promise<void> {
  if (buyer_id === null) return;
  await addUsage(db, { buyer_id, buyer_group_id }, { usage, now });
  if (usage.earned_revenue < 0) await floorUsedDollars(db, { buyer_id, buyer_group_id });
}

/**
 * Ends a call. A carrier is asked last, so that nothing has changed if it does not accept, and
 * reports the end like any other. If it will not, because it no longer has the call or a softswitch
 * carries the call, the call ends here and now.
 */
async function hangUp(db: Db, call: EditableCall, { now, carrier }: Context): Promise<void> {
  if (call.ended_at !== null) return;
  await recordEvent(db, {
    call_id: call.id,
    event: 'hang_up',
    message: 'requested',
    buyer_id: call.buyer_id,
    now,
  });
  if (call.carrier !== SOFTSWITCH && (await endsAtCarrier(call, carrier))) return;
  if (call.direction === 'inbound')
    await handleCallEvent(db, call.id, { event: 'completed', hangup_cause: 'hang_up' }, now);
  else {
    const status = call.status === 'in_progress' ? 'completed' : 'canceled';
    const { uuid: key, carrier_call_id } = call;
    const report = { key, carrier_call_id: carrier_call_id!, status, duration: undefined } as const;
    if (!(await reportOutbound(db, report, now, { is_locked: true })))
      await receiveCallStatus(db, report, now);
  }
}

/** Asks the carrier to end a call; returns whether it will report the end. */
async function endsAtCarrier(
  { carrier: name, carrier_call_id }: EditableCall,
  carrier: Carrier,
): Promise<boolean> {
  if (name !== carrier.name || carrier_call_id === null)
    throw HttpProblem.field(
      'hang_up',
      'carrier_refused',
      `cannot be done: the call is at ${name}, and this service uses ${carrier.name}`,
    );
  const ended = await carrier.endCall(carrier_call_id);
  if (ended.ok) return !carrier.instant;
  if (ended.code === 'not_live') return false;
  if (ended.retryable) throw carrierUnavailable(ended, 'The call was not changed.');
  throw HttpProblem.field(
    'hang_up',
    'carrier_refused',
    `was refused by the carrier: ${ended.message}`,
  );
}
