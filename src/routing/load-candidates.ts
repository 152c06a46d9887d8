import type { Sql } from '../db/sql';
import type { Db } from '../db/tenant';
import type { Candidate, Suppression, UsedUpCap } from './engine/candidate';
import { BUYERS_OF_OFFERS, type BuyerOfOffer, type OwnerJson } from './queries/candidates';
import { capOf } from './used-up-cap';

/** A caller at an offer. */
export interface OfferCaller {
  company_id: string;
  offer_id: string;
  /** E.164 without the plus. */
  caller_number: string;
}

/**
 * Reads the buyers of offers for callers of any companies, by the caller's place in `callers`. Each
 * buyer comes once, however many ways lead to it, in the order of ids; deleted ones are left out.
 * Calls use `routingCandidates`, which reads only what has changed.
 */
export async function loadCandidates(
  sql: Sql,
  callers: readonly OfferCaller[],
  now: Date,
): Promise<Map<number, Candidate[]>> {
  if (callers.length === 0) return new Map();
  return candidatesByPlace(await sql(BUYERS_OF_OFFERS, paramsOf(callers, now)), callers);
}

/** The buyers of one offer for one caller. */
export async function candidatesOf(
  db: Pick<Db, 'sql' | 'company_id'>,
  offer_id: bigint | number | string,
  caller_number: bigint | number | string,
  now: Date,
): Promise<Candidate[]> {
  const caller = {
    company_id: String(db.company_id),
    offer_id: String(offer_id),
    caller_number: String(caller_number),
  };
  const rows = await db.sql(BUYERS_OF_OFFERS, paramsOf([caller], now));
  return candidatesByPlace(rows, [caller]).get(0)!;
}

const paramsOf = (callers: readonly OfferCaller[], now: Date) => ({
  places: callers.map((_, place) => place),
  company_ids: callers.map(({ company_id }) => company_id),
  offer_ids: callers.map(({ offer_id }) => offer_id),
  numbers: callers.map(({ caller_number }) => caller_number),
  now,
});

function candidatesByPlace(
  rows: readonly BuyerOfOffer[],
  callers: readonly OfferCaller[],
): Map<number, Candidate[]> {
  const by_offer = new Map<string, OfferBuyer[]>();
  for (const row of rows) {
    const others = by_offer.get(offerKey(row));
    if (others) others.push(parsed(row));
    else by_offer.set(offerKey(row), [parsed(row)]);
  }
  return new Map(
    callers.map((caller, place) => [
      place,
      (by_offer.get(offerKey(caller)) ?? []).map(({ candidate, lists }) => ({
        ...candidate,
        suppressed_by: lists.get(place) ?? [],
      })),
    ]),
  );
}

const offerKey = ({ company_id, offer_id }: Omit<OfferCaller, 'caller_number'>) =>
  `${company_id}/${offer_id}`;

/** A buyer of an offer, and its suppression lists by the place whose number they hold. */
interface OfferBuyer {
  candidate: Omit<Candidate, 'suppressed_by'>;
  lists: Map<number, Suppression[]>;
}

function parsed({ facts, lists: holding }: BuyerOfOffer): OfferBuyer {
  const lists: OfferBuyer['lists'] = new Map();
  for (const { id, name, places } of holding)
    for (const place of places) lists.set(place, [...(lists.get(place) ?? []), { id, name }]);
  const { last_call_at, groups } = facts;
  return {
    candidate: {
      ...withCap(facts),
      last_call_at: last_call_at === null ? null : new Date(last_call_at),
      groups: groups.map(withCap),
    },
    lists,
  };
}

const withCap = <Owner extends OwnerJson<{ used_up: UsedUpCap | null }>>(
  owner: Owner,
): Omit<Owner, 'used_up'> & { used_up: UsedUpCap | null } => ({
  ...owner,
  used_up: capOf(owner.used_up),
});
