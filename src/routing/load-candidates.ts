import type { Db } from '../db/tenant';
import type { Candidate, UsedUpCap } from './engine/candidate';
import { BUYERS_OF_OFFERS, type BuyerOfOffer, type OwnerJson } from './queries/candidates';
import { capOf } from './used-up-cap';

/**
 * Loads the buyers of one offer for one caller, each once, in the order of ids; deleted ones are
 * left out. Calls use `loadCallCandidates`, which reads only changes.
 */
export async function candidatesOf(
  db: Pick<Db, 'sql' | 'company_id'>,
  offer_id: bigint | number | string,
  caller_number: bigint | number | string,
  now: Date,
): Promise<Candidate[]> {
  const rows = await db.sql(BUYERS_OF_OFFERS, {
    places: [PLACE],
    company_ids: [String(db.company_id)],
    offer_ids: [String(offer_id)],
    numbers: [String(caller_number)],
    now,
  });
  return rows.map(candidateOf);
}

/** The statement takes several callers; this is the position of the only one. */
const PLACE = 0;

function candidateOf({ facts, lists }: BuyerOfOffer): Candidate {
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
  used_up: capOf(owner.used_up),
});
