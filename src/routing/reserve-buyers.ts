import type { CapOwner, OwnedCap } from '../buyers/caps';
import type { Statements } from '../db/tenant';
import { HttpProblem } from '../errors';
import { refusedReservations } from '../telemetry/metrics';
import { buildCapUsages, toSlots, toUsagesJson, type CapUsage } from './cap-usage';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import type { Refused } from './engine/eligibility';
import { reservedChoice, type Chosen } from './engine/reserved-choice';
import { decide, type Judged } from './engine/decide';
import type { Member, RouteFacts } from './engine/route';
import type { RoutingContext } from './load-routing';
import type { PreDialCheckRequired } from './pre-dial-webhooks';
import { LOCK_CAPS, TRY_RESERVE_CAPS } from './queries/reserve-caps';
import { claimReservation, findReservation, type AwaitedReservation } from './reservations';
import { readSourceFault, readUsedUpCap } from './used-up-cap';

/** Attempts in addition to one for each candidate: caps may free and fill in between. */
const MAX_EXTRA_ATTEMPTS = 20;

/**
 * State that changed after the candidates were read, so that reserving the buyer or group failed.
 */
type ReservationFailure = Pick<Partial<Candidate>, 'used_up' | 'last_call_at'>;
/** The failures of one call, by `toOwnerKey`. */
type Failures = Map<string, ReservationFailure>;

const keyOf = (kind: 'buyer' | 'buyer_group', id: number) => `${kind}/${id}`;

interface Checks {
  checkOf: (members: readonly Member[]) => PreDialCheckRequired | undefined;
  /**
   * Returns the check that asks bidders; undefined when none must be asked. Absent when bidders
   * cannot be asked.
   */
  bidsOf?: ((candidates: readonly Candidate[]) => PreDialCheckRequired | undefined) | undefined;
  /** Makes the caps of the source count the call even when no buyer can take it. */
  counts_without_buyer?: boolean;
}

/** Buyers to dial, or none, with their caps not reserved yet. */
export interface BuyerChoice {
  judged: Judged;
  members: readonly Member[];
  usages: readonly CapUsage[];
  /**
   * The dollars that the call holds of its source from now on, more than it has held since it came
   * in. Absent when the present hold is enough.
   */
  source_hold?: { source_id: number; dollars: number } | undefined;
  refused: Refused | undefined;
}

/** Caps without room: those of these rows, or those of the source for more than `held` dollars. */
export type NoRoom =
  { kind: 'full'; limit_ids: readonly number[] } | { kind: 'source_full'; held: number };
export type Taken<T> = { kind: 'taken'; result: T } | NoRoom;

/**
 * Chooses the buyers to dial: the first in the order whose caps have room. `take` reserves all caps
 * of a choice or none, and holds no lock of them when it fails; then the owners without room are
 * left out, and the rest is routed again with the same draws.
 */
export async function chooseBuyers<T>(
  db: Statements,
  { candidates, caps }: Pick<RoutingContext, 'candidates' | 'caps'>,
  { checkOf, bidsOf, counts_without_buyer = false, ...asked }: RouteFacts & Checks,
  take: (choice: BuyerChoice) => Promise<Taken<T>>,
): Promise<T | PreDialCheckRequired> {
  const failures: Failures = new Map();
  let facts: RouteFacts = asked;
  for (let tries = 0; tries <= MAX_EXTRA_ATTEMPTS + candidates.length; tries++) {
    const current = withFailures(candidates, failures);
    const bids_required = bidsOf?.(current);
    if (bids_required) return bids_required;
    const judged = decide(current, facts);
    const members = judged.first?.members ?? [];
    const check = members.length > 0 ? checkOf(members) : undefined;
    if (check) return check;
    const counts = members.length > 0 || counts_without_buyer;
    const choice: BuyerChoice = {
      judged,
      members,
      usages: counts ? buildCapUsages(judged.first, caps, facts) : [],
      source_hold: sourceHold(facts, members),
      refused: facts.refused,
    };
    const taken = await take(choice);
    if (taken.kind === 'taken') return taken.result;
    facts = await applyNoRoom(db, facts, { taken, choice, failures });
  }
  throw new HttpProblem(
    'contended',
    'So many calls ask for the same buyers that none could be chosen. Try again.',
    { headers: { 'Retry-After': '1' } },
  );
}

/** A call that came in earlier takes the dollars that its next buyers pay beyond its hold. */
function sourceHold(
  { source_caps }: RouteFacts,
  members: readonly Member[],
): BuyerChoice['source_hold'] {
  if (source_caps?.call_id === undefined) return undefined;
  const dollars = Math.max(0, ...members.map(({ buyer }) => buyer.most_revenue));
  return dollars > 0 ? { source_id: source_caps.traffic_source_id, dollars } : undefined;
}

/** Reserves the caps of a choice in an open transaction, which also records the outcome. */
export const reserveInTransaction =
  (db: Statements, now: Date) =>
  async ({ judged, members, usages, refused }: BuyerChoice): Promise<Taken<Chosen>> => {
    const chosen = { judged, members, slots: toSlots(usages), caps: [], refused };
    if (usages.length === 0) return { kind: 'taken', result: chosen };
    const [row] = await db.sql(TRY_RESERVE_CAPS, { usages: toUsagesJson(usages), now });
    if (row!.refused) return { kind: 'full', limit_ids: row!.refused };
    return { kind: 'taken', result: { ...chosen, caps: row!.caps as OwnedCap[] } };
  };

/** In their lock order, until the transaction ends. */
export async function lockCaps(db: Statements, limit_ids: readonly number[]): Promise<void> {
  await db.sql(LOCK_CAPS, { limit_ids: [...limit_ids] });
}

/** Chooses buyers and reserves their caps, in the transaction that also records the reservation. */
export async function reserveBuyers(
  db: Statements,
  context: Pick<RoutingContext, 'candidates' | 'caps'>,
  facts: RouteFacts,
): Promise<Chosen> {
  const asked = { ...facts, checkOf: () => undefined };
  return (await chooseBuyers(db, context, asked, reserveInTransaction(db, facts.now))) as Chosen;
}

/** The choice of a reservation that the call took over, with the ping of the reservation. */
export type ClaimedBuyers = Chosen & { ping_id?: string };

/**
 * Takes over a reservation for a call, caps included, instead of choosing buyers. Undefined when no
 * reservation is left whose buyers can be dialed. Two calls of a caller never get the same
 * reservation. Runs in the transaction that also records the attempt.
 */
export async function claimReservedBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  facts: RouteFacts,
  { call, held }: { call: { offer_id: number; caller_number: number }; held: AwaitedReservation },
): Promise<ClaimedBuyers | undefined> {
  const { now } = facts;
  let reservation: AwaitedReservation | undefined = held;
  while (reservation) {
    const chosen = reservedChoice(candidates, facts, reservation);
    if (!chosen) return undefined;
    const ping_id = await claimReservation(db, reservation.id, now);
    if (ping_id !== undefined) return { ...chosen, ping_id };
    reservation = await findReservation(db, { ...call, now });
  }
  return undefined;
}

/** The failures are newer than the state of the candidates. */
function withFailures(
  candidates: readonly Candidate[],
  failures: ReadonlyMap<string, ReservationFailure>,
): readonly Candidate[] {
  if (failures.size === 0) return candidates;
  const ofGroup = ({ id }: CandidateGroup) => failures.get(keyOf('buyer_group', id));
  return candidates.map((candidate) => {
    const own = failures.get(keyOf('buyer', candidate.id));
    const has_group = candidate.groups.some(ofGroup);
    if (!own && !has_group) return candidate;
    const groups = has_group
      ? candidate.groups.map((group) => copyGroup(group, ofGroup(group)?.used_up ?? group.used_up))
      : candidate.groups;
    return copyCandidate(candidate, { ...own, groups });
  });
}

interface Failed {
  taken: NoRoom;
  choice: BuyerChoice;
  failures: Failures;
}

/** Adds the owners without room to `failures`, and returns the facts for the next choice. */
async function applyNoRoom(
  db: Statements,
  facts: RouteFacts,
  { taken, choice, failures }: Failed,
): Promise<RouteFacts> {
  if (taken.kind === 'source_full') return withoutRoomOfSource(db, facts, choice, taken.held);
  const { now } = facts;
  let { refused } = facts;
  for (const usage of choice.usages.filter(({ limit_id }) => taken.limit_ids.includes(limit_id))) {
    const { buyer_id, buyer_group_id, traffic_source_id, revenue } = usage;
    if (buyer_id !== null)
      failures.set(keyOf('buyer', buyer_id), await loadFailure(db, { buyer_id }, revenue, now));
    else if (buyer_group_id !== null) {
      const failure = await loadFailure(db, { buyer_group_id }, revenue, now);
      failures.set(keyOf('buyer_group', buyer_group_id), failure);
    } else {
      const dollars = facts.source_caps!.revenue;
      refused = await readSourceFault(db, traffic_source_id!, { revenue: dollars, now });
      countRefusal(refused?.details?.cap);
    }
  }
  return { ...facts, refused };
}

/** Excludes buyers that pay more than the source has room for. */
async function withoutRoomOfSource(
  db: Statements,
  facts: RouteFacts,
  { source_hold }: BuyerChoice,
  held: number,
): Promise<RouteFacts> {
  const { source_id, dollars } = source_hold!;
  const { source_buyers, now } = facts;
  const fault = await readSourceFault(db, source_id, { revenue: dollars - held, now });
  // A cap that had no room a moment ago may have been raised: the call tries again.
  if (!fault) return facts;
  countRefusal(fault.details?.cap);
  const { blocked = new Set<number>(), allowed } = source_buyers ?? {};
  return { ...facts, source_buyers: { blocked, allowed, room: { dollars: held, fault } } };
}

async function loadFailure(
  db: Statements,
  owner: Exclude<CapOwner, { traffic_source_id: unknown }>,
  revenue: number,
  now: Date,
): Promise<ReservationFailure> {
  const used_up = await readUsedUpCap(db, owner, { revenue, now });
  countRefusal(used_up?.cap);
  // Its caps have room: either it was dialed a moment ago and the offer requires time between
  // calls, or the missing room has been released.
  return used_up ? { used_up } : { last_call_at: now };
}

const countRefusal = (cap: unknown): void =>
  refusedReservations.inc({ cap: String(cap ?? 'none') });
