import type { Statements } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import {
  changesDollars,
  settleChanges,
  type AmountChanges,
  type ChangeableCall,
  type SettledChanges,
} from '../money/engine/settle-changes';
import {
  isNothing,
  NOT_PAID_BEFORE,
  type PaidBefore,
  type Settlement,
} from '../money/engine/settlement';
import type { PayingConversion } from '../money/load-conversions';
import { toBidConversion } from './find-conversion';
import { READ_CALL_MONEY, SETTLE_CALL } from './queries/settle-call';

/** How often other calls of the caller may change what is due before this gives up. */
const MAX_DECISIONS = 20;

/**
 * Decides as if no one had paid for the caller before, and again while the database finds other
 * payments. Returns the last decision, and whether it was written.
 */
export async function retryOnPaymentConflict<Decision, Result>(
  decide: (paidBefore: PaidBefore) => Decision,
  record: (decision: Decision) => Promise<Result | PaidBefore>,
): Promise<{ decision: Decision; recorded: Result }> {
  let paidBefore = NOT_PAID_BEFORE;
  for (let time = 0; time < MAX_DECISIONS; time++) {
    const decision = decide(paidBefore);
    const recorded = await record(decision);
    if (!isPaidBefore(recorded)) return { decision, recorded };
    paidBefore = recorded;
  }
  throw new Error(`payments for the caller changed at each of ${MAX_DECISIONS} attempts`);
}

const isPaidBefore = <Result>(result: Result | PaidBefore): result is PaidBefore =>
  typeof result === 'object' && result !== null && 'source_paid' in result;

interface Talk {
  call_id: number;
  /** Since the buyer took the call. */
  answered_seconds: number;
  now: Date;
}

/** Changes what is paid for a locked call as a user asks. Throws 422 for amounts that cannot be. */
export async function changeDollars(
  db: Statements,
  { call_id, answered_seconds, now }: Talk,
  changes: AmountChanges,
): Promise<Omit<SettledChanges, 'settlement'>> {
  if (!changesDollars(changes)) return { warnings: {}, is_kept: false };
  const { call, conversions } = await readCallMoney(db, call_id);
  const { decision } = await retryOnPaymentConflict(
    (paidBefore) =>
      settleChanges(call, changes, { now, paidBefore, conversions, answered_seconds }),
    ({ settlement }) => settleCall(db, { call_id, now }, settlement),
  );
  return decision;
}

/** Decides the dollars of a known call with buyers that are dialed now. */
export const readMoney = async (db: Statements, callId: number): Promise<ChangeableCall> =>
  (await readCallMoney(db, callId)).call;

async function readCallMoney(
  db: Statements,
  callId: number,
): Promise<{ call: ChangeableCall; conversions: PayingConversion[] }> {
  const [row] = await db.sql(READ_CALL_MONEY, { call_id: callId });
  const { bid, conversions, payments, amounts, ...call } = row!;
  const toDated = <Row extends { at: string }>({ at, ...rest }: Row) => ({
    ...rest,
    at: new Date(at),
  });
  return {
    call: { ...call, payments: payments.map(toDated), amounts: amounts.map(toDated) },
    conversions: bid ? [toBidConversion(bid)] : conversions,
  };
}

/** Writes a settlement, unless payments for the caller are not those that it assumes. */
async function settleCall(
  db: Statements,
  { call_id, now }: { call_id: number; now: Date },
  settlement: Settlement,
): Promise<'written' | PaidBefore> {
  if (isNothing(settlement)) return 'written';
  const [row] = await db.sql(SETTLE_CALL, {
    ...{ call_id, now },
    dollars: JSON.stringify(toDollarColumns(settlement, now)),
    events: JSON.stringify(settlement.events),
  });
  const { outcome, buyer_paid, source_paid } = row!;
  return outcome === 'written' ? outcome : { buyer_paid, source_paid };
}

/** The argument `dollars` of settle_call() and apply_event(). */
export const toDollarColumns = (settlement: Settlement, now: Date) => ({
  ...settlement,
  events: undefined,
  conversion: settlement.conversion && {
    ...settlement.conversion,
    uuid: uuidv7(now.getTime()),
  },
  tokens: Object.keys(settlement.tokens).length > 0 ? settlement.tokens : null,
  taken: settlement.taken.length > 0 ? settlement.taken : null,
});
