import { pauses } from '../../data/jobs/pauses';
import { isOpenAt } from '../../platform/time/opening-hours';
import { minuteOfWeek } from '../../platform/time/zone';
import type { Db } from '../../data/db';
import { combineNeeds, type FilterNeeds } from '../../platform/tokens/filter-needs';
import { readPattern } from '../../platform/tokens/filters';
import { isAllowedPattern } from '../../platform/tokens/patterns';
import { CapCache, type CapRead, type OwnerState } from '../caps/cap-cache';
import { loadBidders, type Bidder } from './bids';
import { isBidder } from './engine/bids';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { listPlainCandidates, type PlainCandidates } from './engine/evaluate';
import { buildBasis, type Basis } from './engine/explain';
import {
  BUYER_SNAPSHOT,
  OFFER_SNAPSHOT,
  VERSION_OF_BUYER,
  VERSION_OF_OFFER,
  type BuyerRow,
} from './queries/snapshot';
import { PRE_DIAL_WEBHOOKS, type PreDialWebhook } from './queries/pre-dial-webhooks';

// The buyers of offers, cached in the process: their settings, and within one minute the state that
// calls have changed. Each call checks whether settings have changed, so that no change is missed,
// whichever process made it (context.ts).

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

/** The source of the buyers of a call: an offer, or the buyer that its number forwards to. */
export type Source = { offer_id: string } | { buyer_id: string };

export interface OfferSnapshot {
  /**
   * The number of changes to the settings of the company at the last check, and the server run that
   * counted them.
   */
  changes: string;
  version: string;
  groups: readonly { limit_id: number; group: CandidateGroup }[];
  buyers: readonly (BuyerRow & { groups: CandidateGroup[] })[];
  /** Indexes of buyers by their rows of caps. */
  indexByLimitId: ReadonlyMap<number, number>;
  /** The row of caps of each buyer and each group, by id. */
  caps_of_buyers: ReadonlyMap<number, number>;
  caps_of_groups: ReadonlyMap<number, number>;
  /** Rows of caps. In fact the text of an array, built once instead of for every call. */
  limit_ids: readonly bigint[];
  webhooks: readonly PreDialWebhook[];
  /** Buyers of type `rtb`, by id, with the settings of their bid requests. */
  bidders: ReadonlyMap<number, Bidder>;
  /** The data that filters of buyers and webhooks need from the database. */
  needs: FilterNeeds;
  /** Ids of buyers ranked by earnings per call. */
  by_epc: number[];
}

/** The most recently read snapshot is last. */
const cache = new Map<string, OfferSnapshot>();
/** The total of all snapshots; each buyer takes a few kilobytes. */
const MAX_CACHED_BUYERS = 50_000;

const toCacheKey = (db: Connection, source: Source) => `${db.key}/${JSON.stringify(source)}`;

/** Its settings may be outdated. */
export const getCachedSnapshot = (db: Connection, source: Source): OfferSnapshot | undefined =>
  cache.get(toCacheKey(db, source));

/** A snapshot at some time after `changes` changes of the company. */
export async function loadFreshSnapshot(
  db: Connection,
  source: Source,
  changes: string,
): Promise<OfferSnapshot> {
  const key = toCacheKey(db, source);
  // The version is read before the rows: after a change in between, the next read gives another.
  const version = `${await loadVersion(db, source)} ${changes.slice(changes.indexOf(' '))}`;
  const cached = cache.get(key);
  const snapshot =
    cached?.version === version
      ? cached
      : { ...(await loadSnapshot(db, source)), changes, version };
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

async function loadVersion(db: Connection, source: Source): Promise<string> {
  const [row] =
    'offer_id' in source
      ? await db.sql(VERSION_OF_OFFER, { id: source.offer_id })
      : await db.sql(VERSION_OF_BUYER, { id: source.buyer_id });
  return row!.version;
}

async function loadSnapshot(
  db: Connection,
  source: Source,
): Promise<Omit<OfferSnapshot, 'changes' | 'version'>> {
  const [row] =
    'offer_id' in source
      ? await db.sql(OFFER_SNAPSHOT, { id: source.offer_id })
      : await db.sql(BUYER_SNAPSHOT, { id: source.buyer_id });
  const webhooks = await db.sql(PRE_DIAL_WEBHOOKS, {});
  const groupsByBuyer = new Map<number, CandidateGroup[]>();
  const groups = row!.groups.map(({ limit_id, facts, buyer_ids }) => {
    const group = copyGroup(facts, null);
    for (const buyerId of buyer_ids)
      groupsByBuyer.set(buyerId, [...(groupsByBuyer.get(buyerId) ?? []), group]);
    return { limit_id, group };
  });
  const buyers = attachGroups(row!.buyers, groupsByBuyer);
  const bidders = await loadBidders(
    db,
    buyers.flatMap(({ facts }) => (isBidder(facts) ? [facts.id] : [])),
  );
  await compilePatterns(buyers.map(({ facts }) => facts.record_token_filter_list));
  return {
    groups,
    buyers,
    webhooks,
    bidders,
    needs: combineNeeds([
      ...buyers.map(({ facts }) => facts.record_token_filter_list),
      ...webhooks.map(({ token_filters }) => token_filters),
    ]),
    indexByLimitId: new Map(buyers.map(({ limit_id }, index) => [limit_id, index])),
    caps_of_buyers: new Map(buyers.map(({ limit_id, facts }) => [facts.id, limit_id])),
    caps_of_groups: new Map(groups.map(({ limit_id, group }) => [group.id, limit_id])),
    limit_ids: toArrayText([...groups, ...buyers].map(({ limit_id }) => limit_id)),
    by_epc: buyers.flatMap(({ facts }) => (facts.route_by_type === 'epc' ? [facts.id] : [])),
  };
}

/**
 * Compiles the regular expressions of filters now, so that no decision compiles those of all
 * buyers.
 */
async function compilePatterns(lists: readonly (readonly string[])[]): Promise<void> {
  const patterns = lists.flatMap((filters) =>
    filters.flatMap((filter) => readPattern(filter) ?? []),
  );
  const pause = pauses();
  for (const pattern of new Set(patterns)) {
    isAllowedPattern(pattern);
    await pause();
  }
}

/** An array in the format of PostgreSQL, which the driver sends unchanged. */
const toArrayText = (ids: readonly number[]) =>
  `{${ids.join(',')}}` as unknown as readonly bigint[];

/**
 * Attaches groups to buyers, and leaves out buyers with no path from the offer: a deleted group is
 * none.
 */
function attachGroups(
  rows: readonly BuyerRow[],
  groupsByBuyer: ReadonlyMap<number, CandidateGroup[]>,
): (BuyerRow & { groups: CandidateGroup[] })[] {
  const shared = buildInterner();
  return rows
    .map(({ facts, hours, ...buyer }) => ({
      ...buyer,
      facts: { ...facts, record_token_filter_list: shared(facts.record_token_filter_list) },
      hours: shared(hours),
      groups: groupsByBuyer.get(facts.id) ?? [],
    }))
    .filter(({ facts, groups }) => facts.direct || groups.length > 0);
}

/** Makes equal values one object, so that the engine evaluates it once a call. */
function buildInterner(): <Value>(value: Value) => Value {
  const valueByText = new Map<string, unknown>();
  return <Value>(value: Value) => {
    const text = JSON.stringify(value);
    if (!valueByText.has(text)) valueByText.set(text, value);
    return valueByText.get(text) as Value;
  };
}

const NO_LISTS: Candidate['suppressed_by'] = [];

/** The buyers within a minute, without the effect of any call; hours change at full minutes. */
function buildPlainCandidates({ buyers }: OfferSnapshot, now: Date): Candidate[] {
  return buyers.map(({ facts, hours, conversions, groups }): Candidate => {
    const local = minuteOfWeek(facts.zone, now);
    const open = conversions.filter((conversion) => isOpenAt(conversion.open, local));
    const frame = open[0]?.frame;
    const ofFrame = conversions.filter((conversion) => conversion.frame === frame);
    return copyCandidate({
      ...facts,
      business_hours: hours,
      current_conversion_revenue: open[0]?.revenue ?? null,
      most_revenue: Math.max(0, ...ofFrame.map(({ revenue }) => revenue)),
      pays_at_dial: open.some(
        (conversion) =>
          conversion.frame === frame && conversion.type === 'duration' && conversion.duration === 0,
      ),
      groups,
      used_up: null,
      bid: null,
      epc: null,
      suppressed_by: NO_LISTS,
    });
  });
}

export interface OfferState {
  /** The candidates as last read. An array that was returned is never changed. */
  current: readonly Candidate[];
  /** The candidates as no call has changed them. */
  plain: PlainCandidates;
  basis: Basis;
  /** Indexes of candidates by the ids of their buyers. */
  indexByBuyerId: ReadonlyMap<number, number>;
  /** Groups as last read, by their rows of caps. */
  groups: Map<number, CandidateGroup>;
}

/** The cache must hold the state of all caps of the offer. */
function buildOfferState(snapshot: OfferSnapshot, caps: CapCache, now: Date): OfferState {
  const plain = buildPlainCandidates(snapshot, now);
  const state: OfferState = {
    current: plain,
    plain: listPlainCandidates(plain, now),
    basis: getBasis(snapshot, plain),
    indexByBuyerId: new Map(plain.map(({ id }, index) => [id, index])),
    groups: new Map(snapshot.groups.map(({ limit_id, group }) => [limit_id, group])),
  };
  applyCapChanges(snapshot, state, { caps, added: listLimitIds(snapshot) });
  return state;
}

const listLimitIds = ({ indexByLimitId, groups }: OfferSnapshot): number[] => [
  ...indexByLimitId.keys(),
  ...groups.map(({ limit_id }) => limit_id),
];

/** Minutes usually share one basis. */
const basisBySnapshot = new WeakMap<OfferSnapshot, Basis>();
function getBasis(snapshot: OfferSnapshot, plain: readonly Candidate[]): Basis {
  const basis = buildBasis(plain);
  const cachedBasis = basisBySnapshot.get(snapshot);
  if (cachedBasis?.hash === basis.hash) return cachedBasis;
  basisBySnapshot.set(snapshot, basis);
  return basis;
}

/** Rebuilds only the candidates whose caps changed since the last read; usually none or one. */
function applyCapChanges(
  { indexByLimitId }: OfferSnapshot,
  state: OfferState,
  { caps, added }: { caps: CapCache; added: readonly number[] },
): void {
  let current: Candidate[] | undefined;
  const changedGroups = new Map<number, CandidateGroup>();
  for (const limitId of added) {
    const capState = caps.getState(limitId);
    if (!capState) continue;
    const index = indexByLimitId.get(limitId);
    if (index !== undefined) {
      const candidate = state.current[index]!;
      if (candidate.used_up === null && capState.used_up === null) continue;
      current ??= [...state.current];
      current[index] = copyCandidate(candidate, { used_up: capState.used_up });
      continue;
    }
    const group = state.groups.get(limitId);
    if (!group || (group.used_up === null && capState.used_up === null)) continue;
    const changed = copyGroup(group, capState.used_up);
    state.groups.set(limitId, changed);
    changedGroups.set(changed.id, changed);
  }
  if (current) state.current = current;
  if (changedGroups.size > 0) state.current = replaceGroups(state.current, changedGroups);
}

const replaceGroups = (
  candidates: readonly Candidate[],
  changed: ReadonlyMap<number, CandidateGroup>,
): Candidate[] =>
  candidates.map((candidate) =>
    candidate.groups.some(({ id }) => changed.has(id))
      ? copyCandidate(candidate, {
          groups: candidate.groups.map((group) => changed.get(group.id) ?? group),
        })
      : candidate,
  );

/** When the buyers of an offer were last dialed, by id. */
export const listLastCalls = (
  { caps_of_buyers }: OfferSnapshot,
  caps: CapCache,
): ReadonlyMap<number, Date> =>
  new Map(
    [...caps_of_buyers].flatMap(([buyerId, limitId]): [number, Date][] => {
      const at = caps.getState(limitId)?.last_call_at;
      return at ? [[buyerId, at]] : [];
    }),
  );

/** The state of a company's offers within one minute: hours and caps change at full minutes. */
export interface MinuteState {
  /** The server run that it was read from (src/data/postgres/server-run.ts). */
  run?: string;
  caps: CapCache;
  offers: Map<OfferSnapshot, OfferState>;
}

/** By company; the most recently used one is last. */
const statesByCompany = new Map<string, Map<number, MinuteState>>();
const MAX_COMPANIES = 1_000;
/** Calls are for the current minute, but an explanation can be for any time. */
const MAX_MINUTES = 2;

export function getMinuteState(key: string, now: Date): MinuteState {
  const minute = Math.floor(now.getTime() / 60_000);
  const minutes = statesByCompany.get(key) ?? new Map<number, MinuteState>();
  statesByCompany.delete(key);
  statesByCompany.set(key, minutes);
  if (statesByCompany.size > MAX_COMPANIES)
    statesByCompany.delete(statesByCompany.keys().next().value!);
  const cachedState = minutes.get(minute);
  if (cachedState) return cachedState;
  const state: MinuteState = { caps: new CapCache(), offers: new Map() };
  minutes.set(minute, state);
  if (minutes.size > MAX_MINUTES) minutes.delete(minutes.keys().next().value!);
  return state;
}

export const forgetStates = (key: string): boolean => statesByCompany.delete(key);

/** Removes a replaced snapshot: if settings change often, a minute would keep many. */
export function forgetSnapshot(key: string, snapshot: OfferSnapshot): void {
  for (const { offers } of statesByCompany.get(key)?.values() ?? []) offers.delete(snapshot);
}

/** A copy, for changes that other calls must not see. */
export const copyState = ({ caps, offers }: MinuteState): MinuteState => ({
  caps: caps.copy(),
  offers: new Map(
    [...offers].map(([snapshot, offer]) => [snapshot, { ...offer, groups: new Map(offer.groups) }]),
  ),
});

interface OffersRead extends Omit<CapRead, 'looked_at'> {
  /** Offers that were not cached when the read began: it has checked all their caps. */
  unread: readonly OfferSnapshot[];
  now: Date;
}

/** Adds the result of a read of caps. */
export function addCaps(
  { caps, offers }: MinuteState,
  rows: readonly OwnerState[],
  { base, mark, unread, now }: OffersRead,
): void {
  const added = caps.add(rows, { base, mark, looked_at: unread.flatMap(listLimitIds) });
  if (added.length > 0)
    for (const [snapshot, offer] of offers) applyCapChanges(snapshot, offer, { caps, added });
  for (const snapshot of unread)
    if (!offers.has(snapshot)) offers.set(snapshot, buildOfferState(snapshot, caps, now));
}
