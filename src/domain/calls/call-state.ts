import { createBatchers } from '../../data/batcher';
import type { Reference } from '../../data/records';
import type { Row } from '../../data/sql';
import type { Db } from '../../data/db';
import type { PayingConversion } from '../money/load-conversions';
import type { PayoutTerms } from '../money/engine/payout';
import type { UnbilledReason } from '../money/engine/explain-unbilled';
import type { CallMoney } from '../money/engine/settlement';
import type { BidOfAttempt } from './find-conversion';
import { READ_CALL_STATES } from './queries/call-state';
import type { CallJson } from './queries/calls';
import { identifyCall, type AttemptRow, type CallKey, type CallRow } from './read-call';
import { buildSession, type CallSession, type SessionWords } from './session';

export interface AttemptState extends AttemptRow {
  /** Tokens that the buyer gives to its calls, as `name:value`. Null where they do not matter. */
  token_pairs: string[] | null;
  /** Conversions that were open when the buyer was dialed. Null where they do not matter. */
  conversions: PayingConversion[] | null;
  /** The buyer's bid for the call, which counts in index of its conversions. */
  bid: BidOfAttempt | null;
}

/** Everything that decides the effect of an event on a call, as it was at one moment. */
export interface CallState {
  call: CallRow;
  /** Version of the row of calls: later writes take effect only if it is unchanged. */
  version: string;
  attempts: AttemptState[];
  words: SessionWords | undefined;
  key_presses: { id: number; digits: string }[];
  dollars: DollarsOfCall;
}

interface DollarsOfCall {
  revenue: number;
  payout: number;
  traffic_source_converted: boolean;
  buyer_repeat_caller: boolean;
  traffic_source_repeat_caller: boolean;
  payouts: PayoutTerms[];
  source_payouts: PayoutTerms[];
  /** Payments of buyers for the call. */
  paid: { buyer_id: number; revenue: number }[];
  is_returned: boolean;
  is_payout_returned: boolean;
  /** Buyers of whom an event has said why they do not pay. */
  unbilled: { buyer_id: number; reason: UnbilledReason | null }[];
}

interface StateRequest {
  value: string;
  may_connect: boolean;
}

const batched = createBatchers<StateRequest, CallState | undefined>();

/**
 * Reads a call without a lock; undefined when there is none. With `may_connect` it also reads what
 * the buyers would pay that have not taken the call yet. Outside transactions, calls of a company
 * that are asked for at the same time share one read.
 */
export async function readCallState(
  db: Pick<Db, 'sql' | 'batched'>,
  reference: Reference,
  { may_connect }: { may_connect: boolean },
): Promise<CallState | undefined> {
  const call = identifyCall(reference);
  if (!call) return undefined;
  const request = { value: call.value, may_connect };
  const read = (all: readonly StateRequest[]) => readCallStates(db, call.key, all);
  const { batched: statements } = db;
  if (!statements) return (await read([request]))[0];
  return batched(statements, call.key, () => ({
    run: read,
    toKey: ({ value }) => value,
    max_wait_ms: statements.max_call_wait_ms,
  }))(request);
}

async function readCallStates(
  db: Pick<Db, 'sql'>,
  key: CallKey['key'],
  all: readonly StateRequest[],
): Promise<(CallState | undefined)[]> {
  const rows = await db.sql(READ_CALL_STATES[key], {
    values: all.map(({ value }) => value),
    may_connect: all.map(({ may_connect }) => may_connect),
  });
  const states = new Map(rows.map(({ index: position, ...row }) => [position, toCallState(row)]));
  return all.map((_, n) => states.get(n + 1));
}

type StateRow = Omit<Row<'calls.read_states_by_id', CallJson>, 'index'>;

function toCallState(row: StateRow): CallState {
  const { version, attempts, words, key_presses, ...call } = row;
  return {
    call: call as CallRow,
    version,
    attempts: (attempts as AttemptJson[]).map(toAttemptState),
    words: (words ?? undefined) as SessionWords | undefined,
    key_presses: key_presses as CallState['key_presses'],
    dollars: call as unknown as DollarsOfCall,
  };
}

type AttemptJson = Omit<AttemptState, 'created_at' | 'connected_at'> & {
  created_at: string;
  connected_at: string | null;
};

const toAttemptState = ({ created_at, connected_at, ...attempt }: AttemptJson): AttemptState => ({
  ...attempt,
  created_at: new Date(created_at),
  connected_at: connected_at === null ? null : new Date(connected_at),
});

export const toCallMoney = ({ call, dollars: { paid, ...dollars } }: CallState): CallMoney => ({
  ...dollars,
  caller_number: call.caller_number,
  traffic_source_id: call.traffic_source_id,
  payments: paid,
});

export function toSession(
  { call, attempts, words, key_presses }: CallState,
  { fresh } = { fresh: false },
): CallSession {
  return { ...buildSession(call, attempts, { terms: words, fresh }), key_presses };
}
