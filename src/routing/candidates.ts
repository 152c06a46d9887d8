import type { Db } from '../db/tenant';
import { copyCandidate, copyGroup, type Candidate, type UsedUpCap } from './engine/candidate';
import {
  cachedSnapshot,
  freshSnapshot,
  plainCandidates,
  type OfferSnapshot,
  type Source,
} from './offer-snapshot';
import {
  CALL_STATE,
  CHANGES,
  EARNINGS,
  type BuyerLists,
  type OwnerState,
} from './queries/call-state';
import { capOf } from './used-up-cap';

// The buyers of an offer at the moment of a call: what is set up of them (offer-snapshot.ts), and
// what calls have changed. Only rows of caps that were written since the last read are read:
// `since` is the oldest transaction that was running then, and all older ones had been seen.

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

/**
 * What is known of caps in one minute: opening hours and windows of caps change at full minutes.
 */
interface CallState {
  /** Null before the first read. */
  since: bigint | null;
  /** The used-up caps of groups by their rows of caps; null where none is used up. */
  group_caps: Map<number, UsedUpCap | null>;
  plain: readonly Candidate[];
  /** The candidates as last read. An array that was handed out is never changed. */
  current: readonly Candidate[];
}

const states_of = new WeakMap<OfferSnapshot, Map<number, CallState>>();
/** Calls come now, but an explanation can be for any time. */
const MAX_MINUTES = 2;

function callStateOf(snapshot: OfferSnapshot, now: Date): CallState {
  const minute = Math.floor(now.getTime() / 60_000);
  const states = states_of.get(snapshot) ?? new Map<number, CallState>();
  states_of.set(snapshot, states);
  const known = states.get(minute);
  if (known) return known;
  const plain = plainCandidates(snapshot, now);
  const state: CallState = { since: null, group_caps: new Map(), plain, current: plain };
  states.set(minute, state);
  if (states.size > MAX_MINUTES) states.delete(states.keys().next().value!);
  return state;
}

export interface Callers {
  source: Source;
  /** E.164 without the plus; null when it is withheld. */
  numbers: readonly (number | null)[];
  now: Date;
}

/**
 * The buyers of an offer, or the one that a number forwards to, with everything that decides
 * whether they can take a call: a list for each caller, in the order of `numbers`.
 */
export async function routingCandidates(
  db: Connection,
  { source, numbers, now }: Callers,
): Promise<(readonly Candidate[])[]> {
  const { snapshot, state, suppressed } = await readCurrent(db, { source, numbers, now });
  const earnings = await readEarnings(db, snapshot.by_epc, now);
  const common =
    earnings.size === 0
      ? state.current
      : state.current.map((one) =>
          earnings.has(one.id) ? copyCandidate(one, { epc: earnings.get(one.id)! }) : one,
        );
  return numbers.map((_, place) => {
    const lists = new Map(
      suppressed
        .filter((each) => each.place === place + 1)
        .map((each) => [each.buyer_id, each.lists]),
    );
    return lists.size === 0
      ? common
      : common.map((one) =>
          lists.has(one.id) ? copyCandidate(one, { suppressed_by: lists.get(one.id)! }) : one,
        );
  });
}

interface CurrentState {
  snapshot: OfferSnapshot;
  state: CallState;
  suppressed: BuyerLists[];
}

/**
 * Reads what calls have changed. The same statement returns how often the set-up of the company was
 * changed: if the cached snapshot is older, it is read again, and the state with it.
 */
async function readCurrent(db: Connection, { source, ...callers }: Callers): Promise<CurrentState> {
  const cached = cachedSnapshot(db, source);
  const read = cached && (await readCallState(db, cached, callers));
  if (read && read.changes === cached.changes) return { snapshot: cached, ...read };
  const snapshot = await freshSnapshot(db, source, read?.changes ?? (await readChanges(db)));
  return { snapshot, ...(await readCallState(db, snapshot, callers)) };
}

async function readCallState(
  db: Connection,
  snapshot: OfferSnapshot,
  { numbers, now }: Omit<Callers, 'source'>,
) {
  const state = callStateOf(snapshot, now);
  const { since } = state;
  const [row] = await db.sql(CALL_STATE, {
    limit_ids: snapshot.limit_ids,
    since: since === null ? null : String(since),
    numbers: numbers.map((number) => number ?? 0),
    now,
  });
  const { caps, changes, suppressed } = row!;
  const read_since = BigInt(row!.since);
  // A read that ran at the same time may have seen more and returned earlier.
  if (state.since === null || read_since >= state.since) {
    if (since === null) Object.assign(state, { group_caps: new Map(), current: state.plain });
    apply(snapshot, state, caps);
    state.since = read_since;
  }
  return { state, changes, suppressed };
}

/** Rebuilds only the candidates whose caps changed since the last read; usually none or one. */
function apply(snapshot: OfferSnapshot, state: CallState, rows: readonly OwnerState[]): void {
  const current = [...state.current];
  const changed_groups = new Set<number>();
  for (const { limit_id, cap, last_call_at } of rows) {
    const place = snapshot.places.get(limit_id);
    if (place !== undefined) {
      current[place] = copyCandidate(current[place]!, {
        used_up: capOf(cap),
        last_call_at: last_call_at === null ? null : new Date(last_call_at),
      });
      continue;
    }
    if (cap !== null || state.group_caps.get(limit_id)) changed_groups.add(limit_id);
    state.group_caps.set(limit_id, capOf(cap));
  }
  if (changed_groups.size > 0) applyGroups(snapshot, state, { current, changed_groups });
  state.current = current;
}

/** Gives the members of changed groups new copies of their groups. */
function applyGroups(
  { groups }: OfferSnapshot,
  { group_caps }: CallState,
  { current, changed_groups }: { current: Candidate[]; changed_groups: ReadonlySet<number> },
): void {
  const copies = new Map(
    groups.map(({ limit_id, group }) => [
      group.id,
      copyGroup(group, group_caps.get(limit_id) ?? null),
    ]),
  );
  const changed_ids = new Set(
    groups.flatMap(({ limit_id, group }) => (changed_groups.has(limit_id) ? [group.id] : [])),
  );
  current.forEach((one, place) => {
    if (one.groups.some(({ id }) => changed_ids.has(id)))
      current[place] = copyCandidate(one, { groups: one.groups.map(({ id }) => copies.get(id)!) });
  });
}

async function readChanges(db: Connection): Promise<string> {
  const [row] = await db.sql(CHANGES, {});
  return row!.changes;
}

async function readEarnings(
  db: Connection,
  ids: readonly number[],
  now: Date,
): Promise<Map<number, number | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.sql(EARNINGS, { ids, now });
  return new Map(rows.map(({ id, epc }) => [id, epc]));
}
