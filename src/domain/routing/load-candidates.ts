import type { Db } from '../../data/db';
import type { Candidate } from './engine/candidate';
import type { UsedUpCap } from '../caps/caps';
import { BUYERS_OF_OFFERS, type BuyerOfOffer, type OwnerJson } from './queries/candidates';
import { parseCap } from '../caps/engine/used-up-cap';

/**
 * Loads the buyers of one offer for one caller, each once, in the order of ids; deleted ones are
 * left out. Calls use `loadCallCandidates`, which reads only changes.
 */
export async function loadCandidates(
  db: Pick<Db, 'sql' | 'company_id'>,
  offerId: bigint | number | string,
  callerNumber: bigint | number | string,
  now: Date,
): Promise<Candidate[]> {
  const rows = await db.sql(BUYERS_OF_OFFERS, {
    indexes: [ONLY_CALLER],
    company_ids: [String(db.company_id)],
    offer_ids: [String(offerId)],
    numbers: [String(callerNumber)],
    now,
  });
  return rows.map(toCandidate);
}

/** The statement takes several callers; this is the position of the only one. */
const ONLY_CALLER = 0;

function toCandidate({ facts, lists }: BuyerOfOffer): Candidate {
  const { last_call_at, groups } = facts;
  return {
    ...withCap(facts),
    bid: null,
    last_call_at: last_call_at === null ? null : new Date(last_call_at),
    groups: groups.map(withCap),
    suppressed_by: lists.map(({ id, name }) => ({ id, name })),
  };
}

const withCap = <Owner extends OwnerJson<{ used_up: UsedUpCap | null }>>(
  owner: Owner,
): Omit<Owner, 'used_up'> & { used_up: UsedUpCap | null } => ({
  ...owner,
  used_up: parseCap(owner.used_up),
});
