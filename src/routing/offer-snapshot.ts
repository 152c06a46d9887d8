import { pauses } from '../jobs/pauses';
import { isOpenAt } from '../time/opening-hours';
import { minuteOfWeek } from '../time/zone';
import type { Db } from '../db/tenant';
import { needsOf, type FilterNeeds } from '../tokens/filter-needs';
import { patternOf } from '../tokens/filters';
import { isAllowedPattern } from '../tokens/patterns';
import { readBidders, type Bidder } from './read-bidders';
import { isBidder } from './engine/bids';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import {
  BUYER_SNAPSHOT,
  OFFER_SNAPSHOT,
  VERSION_OF_BUYER,
  VERSION_OF_OFFER,
  type BuyerRow,
} from './queries/offer-snapshot';
import { readPreDialWebhooks, type PreDialWebhook } from './read-pre-dial-webhooks';

// What people have set up of the buyers of an offer. It is read once and cached in the process.
// Each call checks whether it has changed, so that no change is missed, whatever process made it.
// What calls themselves change is read by candidates.ts.

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

/** Where the buyers of a call come from: an offer, or the one buyer that its number forwards to. */
export type Source = { offer_id: string } | { buyer_id: string };

/** What is set up of the buyers of a call. */
export interface OfferSnapshot {
  /**
   * How often the set-up of the company had been changed when this was last checked, and in which
   * run of the server.
   */
  changes: string;
  version: string;
  groups: readonly { limit_id: number; group: CandidateGroup }[];
  buyers: readonly (BuyerRow & { groups: CandidateGroup[] })[];
  /** Places of buyers by their rows of caps. */
  places: ReadonlyMap<number, number>;
  /** The row of caps of each buyer and each group, by id. */
  caps_of_buyers: ReadonlyMap<number, number>;
  caps_of_groups: ReadonlyMap<number, number>;
  /** Rows of caps; in fact the text of an array, which is built once instead of for every call. */
  limit_ids: readonly bigint[];
  /** Webhooks to ask before a buyer is dialed. */
  webhooks: readonly PreDialWebhook[];
  /** How its buyers of type `rtb` are asked for bids, by buyer. */
  bidders: ReadonlyMap<number, Bidder>;
  /** What the filters of its buyers and webhooks need from the database. */
  needs: FilterNeeds;
  /** Ids of the buyers that are ranked by earnings per call. */
  by_epc: number[];
}

/** Cached snapshots; the one that was read last is at the end. */
const cache = new Map<string, OfferSnapshot>();
/** Buyers in all of them together; each takes some kilobytes. */
const MAX_CACHED_BUYERS = 50_000;

const keyOf = (db: Connection, source: Source) => `${db.key}/${JSON.stringify(source)}`;

/** The snapshot that was read last; the set-up may have changed since. */
export const cachedSnapshot = (db: Connection, source: Source): OfferSnapshot | undefined =>
  cache.get(keyOf(db, source));

/** The snapshot at some time after there had been so many `changes` in the company. */
export async function freshSnapshot(
  db: Connection,
  source: Source,
  changes: string,
): Promise<OfferSnapshot> {
  const key = keyOf(db, source);
  // The version is read before the rows: after a change in between, the next read gives another.
  const version = `${await readVersion(db, source)} ${changes.slice(changes.indexOf(' '))}`;
  const cached = cache.get(key);
  const snapshot =
    cached?.version === version
      ? cached
      : { ...(await readSnapshot(db, source)), changes, version };
  snapshot.changes = changes;
  cache.delete(key);
  cache.set(key, snapshot);
  evictOldest();
  return snapshot;
}

function evictOldest(): void {
  let buyers = [...cache.values()].reduce((sum, snapshot) => sum + snapshot.buyers.length + 1, 0);
  for (const [key, snapshot] of cache) {
    if (buyers <= MAX_CACHED_BUYERS || cache.size === 1) return;
    cache.delete(key);
    buyers -= snapshot.buyers.length + 1;
  }
}

async function readVersion(db: Connection, source: Source): Promise<string> {
  const [row] =
    'offer_id' in source
      ? await db.sql(VERSION_OF_OFFER, { id: source.offer_id })
      : await db.sql(VERSION_OF_BUYER, { id: source.buyer_id });
  return row!.version;
}

async function readSnapshot(
  db: Connection,
  source: Source,
): Promise<Omit<OfferSnapshot, 'changes' | 'version'>> {
  const [row] =
    'offer_id' in source
      ? await db.sql(OFFER_SNAPSHOT, { id: source.offer_id })
      : await db.sql(BUYER_SNAPSHOT, { id: source.buyer_id });
  const webhooks = await readPreDialWebhooks(db);
  const groups_of = new Map<number, CandidateGroup[]>();
  const groups = row!.groups.map(({ limit_id, facts, buyer_ids }) => {
    const group = copyGroup(facts, null);
    for (const buyer_id of buyer_ids)
      groups_of.set(buyer_id, [...(groups_of.get(buyer_id) ?? []), group]);
    return { limit_id, group };
  });
  const buyers = withGroups(row!.buyers, groups_of);
  const bidders = await readBidders(
    db,
    buyers.flatMap(({ facts }) => (isBidder(facts) ? [facts.id] : [])),
  );
  await compilePatterns(buyers.map(({ facts }) => facts.record_token_filter_list));
  return {
    groups,
    buyers,
    webhooks,
    bidders,
    needs: needsOf([
      ...buyers.map(({ facts }) => facts.record_token_filter_list),
      ...webhooks.map(({ token_filters }) => token_filters),
    ]),
    places: new Map(buyers.map(({ limit_id }, place) => [limit_id, place])),
    caps_of_buyers: new Map(buyers.map(({ limit_id, facts }) => [facts.id, limit_id])),
    caps_of_groups: new Map(groups.map(({ limit_id, group }) => [group.id, limit_id])),
    limit_ids: arrayText([...groups, ...buyers].map(({ limit_id }) => limit_id)),
    by_epc: buyers.flatMap(({ facts }) => (facts.route_by_type === 'epc' ? [facts.id] : [])),
  };
}

/** Compiles the regular expressions of filters now, so that no decision does it for all buyers. */
async function compilePatterns(lists: readonly (readonly string[])[]): Promise<void> {
  const patterns = lists.flatMap((filters) => filters.flatMap((filter) => patternOf(filter) ?? []));
  const pause = pauses();
  for (const pattern of new Set(patterns)) {
    isAllowedPattern(pattern);
    await pause();
  }
}

/** An array as PostgreSQL writes it, which the driver sends as it is. */
const arrayText = (ids: readonly number[]) => `{${ids.join(',')}}` as unknown as readonly bigint[];

/** The buyers that a way leads to: none leads through a group that is deleted. */
function withGroups(
  rows: readonly BuyerRow[],
  groups_of: ReadonlyMap<number, CandidateGroup[]>,
): (BuyerRow & { groups: CandidateGroup[] })[] {
  const shared = interned();
  return rows
    .map(({ facts, hours, ...buyer }) => ({
      ...buyer,
      facts: { ...facts, record_token_filter_list: shared(facts.record_token_filter_list) },
      hours: shared(hours),
      groups: groups_of.get(facts.id) ?? [],
    }))
    .filter(({ facts, groups }) => facts.direct || groups.length > 0);
}

/** Makes equal values one object, so that the engine judges it once a call. */
function interned(): <Value>(value: Value) => Value {
  const known = new Map<string, unknown>();
  return <Value>(value: Value) => {
    const text = JSON.stringify(value);
    if (!known.has(text)) known.set(text, value);
    return known.get(text) as Value;
  };
}

const NO_LISTS: Candidate['suppressed_by'] = [];

/**
 * The buyers within a minute as if there had been no calls; hours open and close at full minutes.
 */
export function plainCandidates({ buyers }: OfferSnapshot, now: Date): Candidate[] {
  return buyers.map(({ facts, hours, conversions, groups }): Candidate => {
    const local = minuteOfWeek(facts.zone, now);
    const open = conversions.filter((conversion) => isOpenAt(conversion.open, local));
    const frame = open[0]?.frame;
    const of_frame = conversions.filter((conversion) => conversion.frame === frame);
    return copyCandidate({
      ...facts,
      business_hours: hours,
      current_conversion_revenue: open[0]?.revenue ?? null,
      most_revenue: Math.max(0, ...of_frame.map(({ revenue }) => revenue)),
      pays_at_dial: open.some(
        (conversion) =>
          conversion.frame === frame && conversion.type === 'duration' && conversion.duration === 0,
      ),
      groups,
      used_up: null,
      bid: null,
      last_call_at: null,
      epc: null,
      suppressed_by: NO_LISTS,
    });
  });
}
