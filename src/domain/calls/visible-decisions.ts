import type { Caller } from '../../api/auth/caller';
import { buildAccessScope, findHidden, selectVisibleBuyers } from '../../data/access/scope';
import type { Db } from '../../data/db';
import { withContext } from '../../data/tenant';
import type { DecidedBuyer, Decision } from '../routing/engine/explain';

const READ_LISTS = 'buyer_suppressions:read';

/**
 * Decisions as far as the caller may know them: for a limited caller, without buyers of others,
 * the other side of the margin, and the names of suppression lists that the caller cannot read.
 */
export async function readVisibleParts(
  db: Db,
  caller: Caller,
  decisions: readonly Decision[],
): Promise<Decision[]> {
  if (!db.accessScope) return [...decisions];
  const ids = decisions.flatMap(({ candidates }) => candidates.map(({ buyer_id }) => buyer_id));
  const visible = await selectVisibleBuyers(db, [...new Set(ids)]);
  const hiddenLists = await findHiddenLists(db, caller, decisions);
  return decisions.map((decision) => ({
    ...decision,
    message: findMessage(decision),
    buyer_ids: decision.buyer_ids.filter((id) => visible.has(id)),
    // `net_bid` reveals what traffic sources are paid.
    bids: decision.bids
      .filter(({ buyer_id }) => visible.has(buyer_id))
      .map((bid) => ({ ...bid, net_bid: null })),
    candidates: decision.candidates
      .filter(({ buyer_id }) => visible.has(buyer_id))
      .map(withoutEarnings)
      .map((candidate) => withoutLists(candidate, hiddenLists)),
    caps: decision.caps.filter(
      ({ buyer_id, cap }) => buyer_id !== null && visible.has(buyer_id) && !isEarningsCap(cap),
    ),
  }));
}

/** The earnings from a buyer reveal what traffic sources are paid. */
const isEarningsCap = (cap: unknown): boolean => String(cap).startsWith('earned_revenue');

const SOURCE_CAP = 'a cap of the traffic source is used up';
const OFFER_LIST = "the caller's number is on a suppression list of the offer";
const BUYER_LIST = "the caller's number is on a suppression list of the buyer";

/** Users of buyers must not read how full a cap of a traffic source is. */
const isSourceCapReason = ({ reason }: { reason: string | null }): boolean =>
  reason === 'traffic_source_cap_reached' || reason === 'traffic_source_concurrency_full';

/** The lists of an offer are not kept with the decision, so that they are never named. */
function findMessage(decision: Decision): string | null {
  if (decision.reason === 'offer_suppressed') return OFFER_LIST;
  return isSourceCapReason(decision) ? SOURCE_CAP : decision.message;
}

function withoutEarnings(candidate: DecidedBuyer): DecidedBuyer {
  if (isSourceCapReason(candidate)) return { ...candidate, message: SOURCE_CAP, details: null };
  if (!isEarningsCap(candidate.details?.cap)) return candidate;
  return { ...candidate, message: 'a cap of the buyer or its group is used up', details: null };
}

const withoutLists = (candidate: DecidedBuyer, hidden: ReadonlySet<number>): DecidedBuyer =>
  listSuppressions(candidate).some((id) => hidden.has(id))
    ? { ...candidate, message: BUYER_LIST, details: null }
    : candidate;

const listSuppressions = ({ details }: DecidedBuyer): number[] =>
  (details?.buyer_suppression_ids as number[] | undefined) ?? [];

async function findHiddenLists(
  db: Db,
  caller: Caller,
  decisions: readonly Decision[],
): Promise<ReadonlySet<number>> {
  const ids = [
    ...new Set(decisions.flatMap(({ candidates }) => candidates.flatMap(listSuppressions))),
  ];
  if (!caller.permissions.has(READ_LISTS)) return new Set(ids);
  const readable = withContext(db, { accessScope: buildAccessScope(caller, READ_LISTS) });
  return new Set((await findHidden(readable, 'buyer_suppressions', ids)).map(Number));
}
