import { SOFTSWITCH, type Carrier } from '../../platform/carriers/carrier';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import {
  HttpProblem,
  notFound,
  rejectInvalidData,
  type FieldErrors,
  type FieldFaults,
  fault,
} from '../../platform/errors';
import { carrierUnavailable } from '../numbers/find-numbers';
import { receiveCallStatus } from '../outreach/receive-status';
import { buildTokens, type Data, LIMITS } from '../../platform/tokens/lead-data';
import {
  requireOneOfEach,
  toReasonDetails,
  type AmountChanges,
} from '../money/engine/settle-changes';
import { addTokens } from './change-call';
import { describeCall, type CallDescription } from './describe-call';
import { lockEditableCall, type EditableCall } from './editable-call';
import { giveCommand, type CommandDeps } from '../switches/commands';
import { handleCallEvent } from './handle-event';
import { recordEvent } from './record-call';
import { reportOutbound } from './report-outbound';
import { changeDollars } from './settle';
import { cutText } from '../../platform/storable-text';

/** Amounts are dollars. */
export interface CallChanges extends AmountChanges, CallDescription {
  description?: string | null | undefined;
  post_call_tokens?: Data | undefined;
  data?: Data | undefined;
  /** Keys that are no fields: they become tokens, as far as there is room. */
  loose?: Data | undefined;
  hang_up?: boolean | undefined;
}

interface Context extends CommandDeps {
  carrier: Carrier;
}

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
  const tokens = readTokens(changes);
  requireOneOfEach(changes);
  return db.transaction(async (tx) => {
    const call = await lockEditableCall(tx, reference);
    if (!call) throw notFound();
    requirePossible(call, changes);
    const storedTokens = call.token_values;
    const loose = readLooseTokens(changes.loose ?? {}, { storedTokens, sentTokens: tokens });
    await mergeTokens(tx, call, { ...loose.tokens, ...tokens }, now);
    await describeCall(tx, call.id, changes, now);
    const talk = { call_id: call.id, answered_seconds: computeTalkSeconds(call, now), now };
    const dollars = await changeDollars(tx, talk, changes);
    await recordNote(tx, call, changes, { is_kept: dollars.is_kept, now });
    if (changes.hang_up) await hangUp(tx, call, context);
    return { id: BigInt(call.id), warnings: { ...loose.warnings, ...dollars.warnings } };
  });
}

function readTokens({ post_call_tokens = {}, data = {} }: CallChanges): Data {
  const { tokens, faults } = buildTokens(post_call_tokens, data);
  rejectInvalidData(faults);
  return tokens;
}

function requirePossible(
  call: EditableCall,
  { revenue, add_revenue, buyer_converted }: CallChanges,
): void {
  if (call.buyer_id !== null) return;
  const faults: FieldFaults = {};
  const entries = Object.entries({ revenue, add_revenue, buyer_converted }).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  for (const [field] of entries)
    faults[field] = [
      fault(
        'not_applicable',
        'cannot be set for this call: no buyer was dialed who could pay for it',
      ),
    ];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

async function recordNote(
  db: Db,
  { id: callId }: EditableCall,
  { description, adjustment_reason }: CallChanges,
  { is_kept, now }: { is_kept: boolean; now: Date },
): Promise<void> {
  const details = is_kept ? {} : toReasonDetails(adjustment_reason);
  if (!description && Object.keys(details).length === 0) return;
  const message = description || adjustment_reason || null;
  await recordEvent(db, { call_id: callId, event: 'note', message, details, now });
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
  if (names.length > 0 && isTooLarge(merged))
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

function computeTalkSeconds(
  { connected_at, ended_at, answered_duration }: EditableCall,
  now: Date,
): number {
  if (answered_duration !== null) return answered_duration;
  if (!connected_at) return 0;
  const until = ended_at ?? now;
  return Math.max(0, Math.floor((until.getTime() - connected_at.getTime()) / 1000));
}

/**
 * Ends a call. A carrier is asked last, so that nothing has changed if it does not accept, and
 * reports the end like any other. If it will not, because it no longer has the call or a softswitch
 * carries the call, the call is ended here, and the softswitch gets a command.
 */
async function hangUp(db: Db, call: EditableCall, context: Context): Promise<void> {
  const { now, carrier } = context;
  if (call.ended_at !== null) return;
  await recordEvent(db, {
    call_id: call.id,
    event: 'hang_up',
    message: 'requested',
    buyer_id: call.buyer_id,
    now,
  });
  if (call.carrier !== SOFTSWITCH && (await endAtCarrier(call, carrier))) return;
  if (call.direction === 'inbound')
    await handleCallEvent(db, call.id, { event: 'completed', hangup_cause: 'hang_up' }, now);
  else {
    const status = call.status === 'in_progress' ? 'completed' : 'canceled';
    const { uuid: key, carrier_call_id } = call;
    const report = { key, carrier_call_id: carrier_call_id!, status, duration: undefined } as const;
    if (!(await reportOutbound(db, report, now, { is_locked: true })))
      await receiveCallStatus(db, report, now);
  }
  if (call.carrier === SOFTSWITCH) {
    const command = { command: 'hang_up', valid_seconds: HANG_UP_SECONDS } as const;
    await giveCommand(db, call.id, command, context);
  }
}

/** A switch that was away for longer learns it by its sync. */
const HANG_UP_SECONDS = 300;

/** Asks the carrier to end a call; returns whether it will report the end. */
async function endAtCarrier(
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

/** Twice the size that one request may send, as for leads. */
const MAX_TOKEN_BYTES = 2 * LIMITS.bytes;

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** Bytes that a token adds to a JSON object: its name, its value, a colon and a comma. */
const countTokenBytes = (tokens: Data, name: string): number =>
  Object.hasOwn(tokens, name) ? countBytes(name) + countBytes(tokens[name]) + 2 : 0;

const isTooLarge = (tokens: Data): boolean => countBytes(tokens) > MAX_TOKEN_BYTES;

/**
 * Turns keys that are no fields into tokens, for a call that has `storedTokens`. `sentTokens` are
 * written with them and win. A token without room is left out with a warning: a postback is not
 * lost. Sizes are summed up, so that many keys take no longer than the same bytes in a few.
 */
function readLooseTokens(
  loose: Data,
  { storedTokens, sentTokens }: { storedTokens: Data; sentTokens: Data },
): { tokens: Data; warnings: FieldErrors } {
  const warnings: FieldErrors = {};
  const tokens: Data = Object.create(null) as Data;
  let used = { count: 0, bytes: 1, all_bytes: countBytes({ ...storedTokens, ...sentTokens }) };
  for (const [key, value] of Object.entries(loose)) {
    const { tokens: parsed, faults } = buildTokens({}, { [key]: value });
    const [name = ''] = Object.keys(parsed);
    const size = faults.length === 0 ? countTokenBytes(parsed, name) : 0;
    const before = name in tokens ? tokens : storedTokens;
    const next = {
      count: used.count + Number(!(name in tokens)),
      bytes: used.bytes + size - countTokenBytes(tokens, name),
      all_bytes:
        used.all_bytes +
        (Object.hasOwn(sentTokens, name) ? 0 : size - countTokenBytes(before, name)),
    };
    const why = faults[0]?.message ?? describeOverflow(next);
    if (why) warnings[cutText(key, 100) || 'data'] = [`is left out: ${why}`];
    else [tokens[name], used] = [value, next];
  }
  return { tokens, warnings };
}

function describeOverflow(used: {
  count: number;
  bytes: number;
  all_bytes: number;
}): string | undefined {
  if (used.count > LIMITS.tokens) return `must have at most ${LIMITS.tokens} tokens`;
  if (used.bytes > LIMITS.bytes) return `must be at most ${LIMITS.bytes} bytes as JSON`;
  return used.all_bytes > MAX_TOKEN_BYTES
    ? 'must leave room for the tokens that the call has already'
    : undefined;
}
