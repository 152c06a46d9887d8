import type { CapOwner, OwnedCap } from '../caps/caps';
import type { Statements } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { refusedReservations } from '../../platform/telemetry/metrics';
import { buildCapUsages, toSlots, toUsagesJson, type CapUsage } from './cap-usage';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import type { Refusal } from './engine/eligibility';
import { buildReservedChoice, type ChosenBuyers } from './engine/reserved-choice';
import { decide, type Evaluation } from './engine/decide';
import type { Member, RouteFacts } from './engine/route';
import type { RoutingContext } from './load-routing';
import type { PreDialCheckRequired } from './pre-dial-webhooks';
import { LOCK_CAPS, TRY_RESERVE_CAPS } from '../caps/queries/reserve-caps';
import { claimReservation, findReservation, type AwaitedReservation } from './reservations';
import { loadUsedUpCap } from '../caps/used-up-cap';
import { loadSourceFault } from './source-fault';

/** Attempts in addition to one for each candidate: caps may free and fill in between. */
const MAX_EXTRA_ATTEMPTS = 20;

/**
 * State that changed after the candidates were read, so that reserving the buyer or group failed.
 */
type ReservationFailure = Pick<Partial<Candidate>, 'used_up' | 'last_call_at'>;
/** The failures of one call, by `toOwnerKey`. */
type Failures = Map<string, ReservationFailure>;

const toOwnerKey = (kind: 'buyer' | 'buyer_group', id: number) => `${kind}/${id}`;

interface Checks {
  findRequiredCheck: (members: readonly Member[]) => PreDialCheckRequired | undefined;
  /**
   * Returns the check that asks bidders; undefined when none must be asked. Absent when bidders
   * cannot be asked.
   */
  findRequiredBids?:
    ((candidates: readonly Candidate[]) => PreDialCheckRequired | undefined) | undefined;
  /** Makes the caps of the source count the call even when no buyer can take it. */
  chargeSourceWhenUnrouted?: boolean;
}

/** Buyers to dial, or none, with their caps not reserved yet. */
export interface BuyerChoice {
  evaluation: Evaluation;
  members: readonly Member[];
  usages: readonly CapUsage[];
  /**
   * The dollars that the call holds of its source from now on, more than it has held since it came
   * in. Absent when the present hold is enough.
   */
  source_hold?: { source_id: number; dollars: number } | undefined;
  refused: Refusal | undefined;
}

/** Caps without room: those of these rows, or those of the source for more than `held` dollars. */
export type NoRoom =
  { kind: 'full'; limit_ids: readonly number[] } | { kind: 'source_full'; held: number };
export type TakeOutcome<T> = { kind: 'done'; result: T } | NoRoom;

/**
 * Chooses the buyers to dial: the first in the order whose caps have room. `take` reserves all caps
 * of a choice or none, and holds no lock of them when it fails; then the owners without room are
 * left out, and the rest is routed again with the same draws.
 */
export async function chooseBuyers<T>(
  db: Statements,
  { candidates, caps }: Pick<RoutingContext, 'candidates' | 'caps'>,
  {
    findRequiredCheck,
    findRequiredBids,
    chargeSourceWhenUnrouted = false,
    ...initialFacts
  }: RouteFacts & Checks,
  take: (choice: BuyerChoice) => Promise<TakeOutcome<T>>,
): Promise<T | PreDialCheckRequired> {
  const failures: Failures = new Map();
  let facts: RouteFacts = initialFacts;
  for (let tries = 0; tries <= MAX_EXTRA_ATTEMPTS + candidates.length; tries++) {
    const current = applyFailures(candidates, failures);
    const bidsRequired = findRequiredBids?.(current);
    if (bidsRequired) return bidsRequired;
    const evaluation = decide(current, facts);
    const members = evaluation.first?.members ?? [];
    const check = members.length > 0 ? findRequiredCheck(members) : undefined;
    if (check) return check;
    const counts = members.length > 0 || chargeSourceWhenUnrouted;
    const choice: BuyerChoice = {
      evaluation,
      members,
      usages: counts ? buildCapUsages(evaluation.first, caps, facts) : [],
      source_hold: computeSourceHold(facts, members),
      refused: facts.refused,
    };
    const outcome = await take(choice);
    if (outcome.kind === 'done') return outcome.result;
    facts = await applyNoRoom(db, facts, { noRoom: outcome, choice, failures });
  }
  throw new HttpProblem(
    'contended',
    'So many calls ask for the same buyers that none could be chosen. Try again.',
    { headers: { 'Retry-After': '1' } },
  );
}

/** A call that came in earlier takes the dollars that its next buyers pay beyond its hold. */
function computeSourceHold(
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
  async ({
    evaluation,
    members,
    usages,
    refused,
  }: BuyerChoice): Promise<TakeOutcome<ChosenBuyers>> => {
    const chosen = { evaluation, members, slots: toSlots(usages), caps: [], refused };
    if (usages.length === 0) return { kind: 'done', result: chosen };
    const [row] = await db.sql(TRY_RESERVE_CAPS, { usages: toUsagesJson(usages), now });
    if (row!.refused) return { kind: 'full', limit_ids: row!.refused };
    return { kind: 'done', result: { ...chosen, caps: row!.caps as OwnedCap[] } };
  };

/** In their lock order, until the transaction ends. */
export async function lockCaps(db: Statements, limitIds: readonly number[]): Promise<void> {
  await db.sql(LOCK_CAPS, { limit_ids: [...limitIds] });
}

/** Chooses buyers and reserves their caps, in the transaction that also records the reservation. */
export async function reserveBuyers(
  db: Statements,
  context: Pick<RoutingContext, 'candidates' | 'caps'>,
  facts: RouteFacts,
): Promise<ChosenBuyers> {
  const uncheckedFacts = { ...facts, findRequiredCheck: () => undefined };
  return (await chooseBuyers(
    db,
    context,
    uncheckedFacts,
    reserveInTransaction(db, facts.now),
  )) as ChosenBuyers;
}

/** The choice of a reservation that the call took over, with the ping of the reservation. */
export type ClaimedBuyers = ChosenBuyers & { ping_id?: string };

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
    const chosen = buildReservedChoice(candidates, facts, reservation);
    if (!chosen) return undefined;
    const pingId = await claimReservation(db, reservation.id, now);
    if (pingId !== undefined) return { ...chosen, ping_id: pingId };
    reservation = await findReservation(db, { ...call, now });
  }
  return undefined;
}

/** The failures are newer than the state of the candidates. */
function applyFailures(
  candidates: readonly Candidate[],
  failures: ReadonlyMap<string, ReservationFailure>,
): readonly Candidate[] {
  if (failures.size === 0) return candidates;
  const ofGroup = ({ id }: CandidateGroup) => failures.get(toOwnerKey('buyer_group', id));
  return candidates.map((candidate) => {
    const ownFailure = failures.get(toOwnerKey('buyer', candidate.id));
    const hasGroup = candidate.groups.some(ofGroup);
    if (!ownFailure && !hasGroup) return candidate;
    const groups = hasGroup
      ? candidate.groups.map((group) => copyGroup(group, ofGroup(group)?.used_up ?? group.used_up))
      : candidate.groups;
    return copyCandidate(candidate, { ...ownFailure, groups });
  });
}

interface FailedChoice {
  noRoom: NoRoom;
  choice: BuyerChoice;
  failures: Failures;
}

/** Adds the owners without room to `failures`, and returns the facts for the next choice. */
async function applyNoRoom(
  db: Statements,
  facts: RouteFacts,
  { noRoom, choice, failures }: FailedChoice,
): Promise<RouteFacts> {
  if (noRoom.kind === 'source_full') return limitToSourceRoom(db, facts, choice, noRoom.held);
  const { now } = facts;
  let { refused } = facts;
  for (const usage of choice.usages.filter(({ limit_id }) => noRoom.limit_ids.includes(limit_id))) {
    const { buyer_id, buyer_group_id, traffic_source_id, revenue } = usage;
    if (buyer_id !== null)
      failures.set(
        toOwnerKey('buyer', buyer_id),
        await loadFailure(db, { buyer_id }, revenue, now),
      );
    else if (buyer_group_id !== null) {
      const failure = await loadFailure(db, { buyer_group_id }, revenue, now);
      failures.set(toOwnerKey('buyer_group', buyer_group_id), failure);
    } else {
      const dollars = facts.source_caps!.revenue;
      refused = await loadSourceFault(db, traffic_source_id!, { revenue: dollars, now });
      countRefusal(refused?.details?.cap);
    }
  }
  return { ...facts, refused };
}

/** Excludes buyers that pay more than the source has room for. */
async function limitToSourceRoom(
  db: Statements,
  facts: RouteFacts,
  { source_hold }: BuyerChoice,
  held: number,
): Promise<RouteFacts> {
  const { source_id, dollars } = source_hold!;
  const { source_buyers, now } = facts;
  const fault = await loadSourceFault(db, source_id, { revenue: dollars - held, now });
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
  const usedUp = await loadUsedUpCap(db, owner, { revenue, now });
  countRefusal(usedUp?.cap);
  // Its caps have room: either it was dialed a moment ago and the offer requires time between
  // calls, or the missing room has been released.
  return usedUp ? { used_up: usedUp } : { last_call_at: now };
}

const countRefusal = (cap: unknown): void =>
  refusedReservations.inc({ cap: String(cap ?? 'none') });
