import { recordUsage, reserveUsage, type Reserved } from '../buyers/reserve-caps';
import type { CapOwner, Held } from '../buyers/caps';
import type { Statements } from '../db/tenant';
import { HttpProblem } from '../errors';
import { refusedReservations } from '../telemetry/metrics';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { reservedChoice, type Chosen } from './engine/reserved-choice';
import { decide, type FirstChoice, type Judged } from './engine/decide';
import type { Member, RouteFacts } from './engine/route';
import type { PreDialCheckRequired } from './pre-dial-webhooks';
import { claimReservation, findReservation, type AwaitedReservation } from './reservations';
import { reserveSource } from './reserve-source';
import { readUsedUpCap } from './used-up-cap';

/** Attempts to reserve in addition to one for each candidate: caps may free and fill in between. */
const MAX_EXTRA_ATTEMPTS = 20;

type BuyerOrGroup = { kind: 'buyer' | 'buyer_group'; id: number };
type Owner = BuyerOrGroup | { kind: 'traffic_source'; id: number };

/** Caps of an owner that were reserved for the call. */
interface OwnerReservation extends Reserved {
  owner: Owner;
  pending: Held;
  /** None of its source for a call that no buyer gets. */
  slots: 0 | 1;
}

/** What changed of a buyer or group after its candidates were read, so that reserving it failed. */
type ReservationFailure = Pick<Partial<Candidate>, 'used_up' | 'last_call_at'>;
/** The failures of one call, by `keyOf` the owner. */
type Failures = Map<string, ReservationFailure>;

const keyOf = ({ kind, id }: Owner) => `${kind}/${id}`;
const capOwnerOf = ({ kind, id }: BuyerOrGroup) =>
  kind === 'buyer' ? { buyer_id: id } : { buyer_group_id: id };
const anyOwnerOf = ({ kind, id }: Owner): CapOwner =>
  kind === 'traffic_source' ? { traffic_source_id: id } : capOwnerOf({ kind, id });

/** What must be done before buyers may be dialed, or chosen. */
interface Checks {
  checkOf: (members: readonly Member[]) => PreDialCheckRequired | undefined;
  /** Asks bidders. Absent where nobody can be asked. */
  bidsOf?: ((candidates: readonly Candidate[]) => PreDialCheckRequired | undefined) | undefined;
  /** Whether the caps of the source count the call also where no buyer can take it. */
  counts_without_buyer?: boolean;
}

/**
 * Chooses the buyers to dial and reserves their caps: the first in the order whose caps have room.
 * A buyer whose last place another call has just taken is left out, and the others are routed again
 * with the same draws. Runs in the transaction that also records the attempt.
 */
export async function reserveBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  facts: RouteFacts,
): Promise<Chosen> {
  return (await reserveCheckedBuyers(db, candidates, {
    ...facts,
    checkOf: () => undefined,
  })) as Chosen;
}

/** The same, unless the buyers to dial must be checked first: then it reserves nothing of them. */
export async function reserveCheckedBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  { checkOf, bidsOf, counts_without_buyer = false, ...asked }: RouteFacts & Checks,
): Promise<Chosen | PreDialCheckRequired> {
  const failures: Failures = new Map();
  let facts: RouteFacts = asked;
  for (let tries = 0; tries <= MAX_EXTRA_ATTEMPTS + candidates.length; tries++) {
    const current = withFailures(candidates, failures);
    const bids_required = bidsOf?.(current);
    if (bids_required) return bids_required;
    const judged = decide(current, facts);
    const choice = judged.first;
    if (!choice && (!counts_without_buyer || facts.refused))
      return { ...chosenOf(judged, [], []), refused: facts.refused };
    if (!choice) {
      const of_source = await reserveSource(db, facts, []);
      if ('reserved' in of_source) return chosenOf(judged, [], of_source.reserved);
      facts = { ...facts, ...of_source };
      continue;
    }
    const check = checkOf(choice.members);
    if (check) return check;
    const reserved = await reserveChoice(db, choice, { facts, failures });
    if (reserved.length === 0) continue;
    const of_source = await reserveSource(db, facts, choice.members);
    if ('reserved' in of_source)
      return chosenOf(judged, choice.members, [...reserved, ...of_source.reserved]);
    for (const each of reserved) await undo(db, each, facts.now);
    facts = { ...facts, ...of_source };
  }
  throw new HttpProblem(
    'contended',
    'So many calls ask for the same buyers that none could be chosen. Try again.',
    { headers: { 'Retry-After': '1' } },
  );
}

function chosenOf(
  judged: Judged,
  members: readonly Member[],
  reserved: readonly OwnerReservation[],
): Chosen {
  const buyer_ids = new Set(
    reserved.flatMap(({ owner }) => (owner.kind === 'buyer' ? [owner.id] : [])),
  );
  return {
    judged,
    members: members.filter(({ buyer }) => buyer_ids.has(buyer.id)),
    slots: reserved
      .filter(({ slots }) => slots > 0)
      .map(({ call_limit_id, pending }) => ({ call_limit_id, ...pending })),
    caps: reserved.flatMap(({ owner: { kind, id }, caps }) =>
      caps.map((cap) => ({
        ...cap,
        buyer_id: kind === 'buyer' ? id : null,
        buyer_group_id: kind === 'buyer_group' ? id : null,
        traffic_source_id: kind === 'traffic_source' ? id : null,
      })),
    ),
  };
}

/** The choice of a reservation that the call took over, and the ping that it was made for. */
export type ClaimedBuyers = Chosen & { ping_id?: string };

/**
 * Takes over a reservation for a call, caps included, instead of choosing buyers. Undefined when
 * there is no reservation left whose buyers can be dialed. Of two calls of a caller each gets its
 * own. Runs in the transaction that also records the attempt.
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

/** The candidates as they are after the failures, which had newer facts. */
function withFailures(
  candidates: readonly Candidate[],
  failures: ReadonlyMap<string, ReservationFailure>,
): readonly Candidate[] {
  if (failures.size === 0) return candidates;
  const ofGroup = ({ id }: CandidateGroup) => failures.get(keyOf({ kind: 'buyer_group', id }));
  return candidates.map((candidate) => {
    const own = failures.get(keyOf({ kind: 'buyer', id: candidate.id }));
    const has_group = candidate.groups.some(ofGroup);
    if (!own && !has_group) return candidate;
    const groups = has_group
      ? candidate.groups.map((group) => copyGroup(group, ofGroup(group)?.used_up ?? group.used_up))
      : candidate.groups;
    return copyCandidate(candidate, { ...own, groups });
  });
}

interface Reserving {
  facts: RouteFacts;
  failures: Failures;
}

/**
 * Reserves the caps of a choice: the group's first, then the buyers' by id; those of the source are
 * next. Every call locks them in this order, so that two calls never deadlock.
 */
async function reserveChoice(
  db: Statements,
  { members, group: chosen_group }: FirstChoice,
  reserving: Reserving,
): Promise<OwnerReservation[]> {
  const group = chosen_group ?? members[0]!.group;
  const of_group =
    group &&
    (await reserveOwner(db, { kind: 'buyer_group', id: group.id }, pendingOf(members), reserving));
  if (group && !of_group) return [];
  const of_buyers: OwnerReservation[] = [];
  for (const member of members.toSorted((a, b) => a.buyer.id - b.buyer.id)) {
    const owner: BuyerOrGroup = { kind: 'buyer', id: member.buyer.id };
    const reserved = await reserveOwner(db, owner, pendingOf([member]), reserving);
    if (reserved) of_buyers.push(reserved);
  }
  if (of_buyers.length > 0) return of_group ? [of_group, ...of_buyers] : of_buyers;
  if (of_group) await undo(db, of_group, reserving.facts.now);
  return [];
}

/** Reserves the caps of one owner; notes the failure when another call was faster. */
async function reserveOwner(
  db: Statements,
  owner: BuyerOrGroup,
  pending: Held,
  { facts: { now, spacing_seconds }, failures }: Reserving,
): Promise<OwnerReservation | undefined> {
  const reserved = await reserveUsage(db, {
    owner: capOwnerOf(owner),
    usage: { attempt: 1 },
    concurrency: 1,
    hold: pending,
    calls: 1,
    spacing_seconds: owner.kind === 'buyer' ? (spacing_seconds ?? 0) : 0,
    now,
  });
  if (reserved) return { ...reserved, owner, pending, slots: 1 };
  failures.set(keyOf(owner), await reservationFailure(db, owner, { ...pending, now }));
  return undefined;
}

/** The most that a call can come to that is dialed to these at once: one of them gets it. */
export const pendingOf = (members: readonly Member[]): Held => ({
  connections: 1,
  conversions: members.some(({ buyer }) => buyer.current_conversion_revenue !== null) ? 1 : 0,
  revenue: Math.max(...members.map(({ buyer }) => buyer.most_revenue)),
});

/** Undoes a reservation; the row is still locked by this transaction, so no other has seen it. */
async function undo(
  db: Statements,
  { owner, pending, slots }: OwnerReservation,
  now: Date,
): Promise<void> {
  await recordUsage(db, {
    owner: anyOwnerOf(owner),
    usage: { attempt: -1 },
    concurrency: -slots,
    hold: {
      connections: -pending.connections,
      conversions: -pending.conversions,
      revenue: -pending.revenue,
    },
    calls: -1,
    now,
  });
}

async function reservationFailure(
  db: Statements,
  owner: BuyerOrGroup,
  { revenue, now }: { revenue: number; now: Date },
): Promise<ReservationFailure> {
  const used_up = await readUsedUpCap(db, capOwnerOf(owner), { revenue, now });
  refusedReservations.inc({ cap: used_up?.cap ?? 'none' });
  // Its caps have room: then it was dialed a moment ago and the offer asks for time between calls,
  // or what was missing has been given back.
  return used_up ? { used_up } : { last_call_at: now };
}
