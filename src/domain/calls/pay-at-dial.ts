import type { Statements } from '../../data/db';
import { decideDollars } from '../money/engine/decide-dollars';
import { listDuplicateEvents } from '../money/engine/explain-unbilled';
import {
  applySettlement,
  NOT_PAID_BEFORE,
  type CallMoney,
  type PaidBefore,
  type Settlement,
} from '../money/engine/settlement';
import { loadConversions } from '../money/load-conversions';
import type { Member } from '../routing/engine/order';
import { findApplicableConversion, type FilteredCall } from './find-conversion';
import { retryOnPaymentConflict } from './settle';

// Buyers whose conversion lasts no seconds pay for being dialed: what starts their ringing also
// writes their payments.

/** Nothing was written: a buyer or the source was paid for the caller, or was not, meanwhile. */
export interface PaidOtherwise {
  kind: 'paid_otherwise';
  paid: PaidBefore & { buyer_id: number };
}

interface DialedCall {
  call: FilteredCall;
  money: CallMoney;
  now: Date;
}

/**
 * Starts what `start` writes, with the payments of the dialed buyers that pay for it; again while
 * the database finds other payments for the caller.
 */
export async function startWithPayments<Result extends { kind: string }>(
  db: Statements,
  members: readonly Member[],
  {
    loadCall,
    start,
  }: {
    loadCall: () => DialedCall | Promise<DialedCall>;
    start: (payments: readonly Settlement[]) => Promise<Result | PaidOtherwise>;
  },
): Promise<Result> {
  const paying = members.filter(({ buyer }) => buyer.pays_at_dial);
  const decide = paying.length > 0 ? await preparePayments(db, paying, await loadCall()) : () => [];
  const paidBefore = new Map<number, PaidBefore>();
  const { recorded } = await retryOnPaymentConflict<readonly Settlement[], Result>(
    () => decide(paidBefore),
    async (payments) => {
      const result = await start(payments);
      if (!isPaidOtherwise(result)) return result;
      paidBefore.set(result.paid.buyer_id, result.paid);
      return result.paid;
    },
  );
  return recorded;
}

const isPaidOtherwise = <Result extends { kind: string }>(
  result: Result | PaidOtherwise,
): result is PaidOtherwise => result.kind === 'paid_otherwise';

/** Reads what buyers pay. The returned function decides it by payments for the caller before. */
async function preparePayments(
  db: Statements,
  paying: readonly Member[],
  { call, money, now }: DialedCall,
): Promise<(paidBefore: ReadonlyMap<number, PaidBefore>) => Settlement[]> {
  const offers: {
    member: Member;
    applying: Awaited<ReturnType<typeof findApplicableConversion>>;
  }[] = [];
  for (const member of paying) {
    const conversions = await loadConversions(db, member.buyer.id, now);
    const terms = { call, answered_seconds: 0 };
    offers.push({ member, applying: await findApplicableConversion(db, conversions, terms) });
  }
  return (paidBefore) => {
    let current = money;
    return offers.map(({ member: { buyer, group }, applying }) => {
      const settlement = decideDollars(current, {
        buyer_id: buyer.id,
        buyer_group_id: group?.id ?? null,
        applying,
        answered_seconds: 0,
        paidBefore: paidBefore.get(buyer.id) ?? NOT_PAID_BEFORE,
      });
      const events = listDuplicateEvents(current, settlement);
      current = applySettlement(current, settlement);
      return { ...settlement, events: [...settlement.events, ...events] };
    });
  };
}
