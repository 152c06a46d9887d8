import type { HeldSlot, HeldUsage, OwnedCap, UsedUpCap } from '../caps/caps';
import { pickUsedUpCap, type FullCaps } from '../caps/engine/used-up-cap';
import type { Statements } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { refusedReservations } from '../../platform/telemetry/metrics';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import type { Refusal } from './engine/eligibility';
import type { ChosenBuyers } from './engine/reserved-choice';
import { evaluate, type Evaluation, type RouteFacts } from './engine/evaluate';
import { pickFirst, type FirstChoice, type Member } from './engine/order';
import type { RoutingContext } from './context';
import type { PreDialCheckRequired } from './pre-dial';
import { applyFullTrunks, assignTrunks, excludeBuyers, type TrunksByBuyer } from './engine/trunks';
import { sourceCapFault, type SourceCaps, type SourceFault } from './engine/source';
import { RESERVE_CAPS } from '../caps/queries/reserve-caps';

/** Attempts in addition to one for each candidate: caps may free and fill in between. */
const MAX_EXTRA_ATTEMPTS = 20;

/**
 * Caps that were used up after the candidates were read, so that reserving the buyer or group
 * failed: those of one call, by `toOwnerKey`.
 */
type Failures = Map<string, UsedUpCap>;

const toOwnerKey = (kind: 'buyer' | 'buyer_group', id: number) => `${kind}/${id}`;

interface Checks {
  findRequiredCheck: (members: readonly Member[]) => PreDialCheckRequired | undefined;
  /**
   * Returns the check that asks bidders; undefined when none must be asked. Absent when bidders
   * cannot be asked.
   */
  findRequiredBids?: ((evaluation: Evaluation) => PreDialCheckRequired | undefined) | undefined;
  /** Makes the caps of the source count the call even when no buyer can take it. */
  chargeSourceWhenUnrouted?: boolean;
}

export interface CapUsage extends HeldUsage {
  limit_id: number;
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
  /** Slots of concurrency. A call without a buyer takes none of its source. */
  slots: 0 | 1;
  /** Minimum seconds since the last call. */
  spacing: number;
}

/** Buyers to dial, or none, with their caps not reserved yet. */
export interface BuyerChoice {
  evaluation: Evaluation;
  members: readonly Member[];
  trunks: TrunksByBuyer;
  usages: readonly CapUsage[];
  /**
   * The dollars that the call holds of its source from now on, more than it has held since it came
   * in. Absent when the present hold is enough.
   */
  source_hold?: { source_id: number; dollars: number } | undefined;
  refused: Refusal | undefined;
}

/**
 * Caps without room: of these rows, or of the source for more than the `held` dollars; or trunks
 * without room, by id.
 */
export type NoRoom =
  | { kind: 'trunk_full'; trunk_ids: readonly number[] }
  | { kind: 'full'; full: readonly FullCaps[] }
  | { kind: 'source_full'; full: readonly FullCaps[]; held: number };
export type TakeOutcome<T> = { kind: 'done'; result: T } | NoRoom;

/**
 * Chooses the buyers to dial: the first in the order whose caps have room. `take` reserves all caps
 * of a choice or none, and holds no lock of them when it fails; then the owners without room are
 * left out, and the rest is routed again with the same draws.
 */
export async function chooseBuyers<T>(
  {
    candidates,
    caps,
    plain,
  }: Pick<RoutingContext, 'candidates' | 'caps'> & Partial<Pick<RoutingContext, 'plain'>>,
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
    const evaluation = evaluate(current, facts, plain);
    const bidsRequired = findRequiredBids?.(evaluation);
    if (bidsRequired) return bidsRequired;
    const first = pickFirst(evaluation);
    const members = first?.members ?? [];
    const check = members.length > 0 ? findRequiredCheck(members) : undefined;
    if (check) return check;
    const { trunks, without } = assignTrunks(members, facts.lines);
    if (without.size > 0) {
      facts = { ...facts, lines: excludeBuyers(facts.lines!, without) };
      continue;
    }
    const counts = members.length > 0 || chargeSourceWhenUnrouted;
    const choice: BuyerChoice = {
      evaluation,
      members,
      trunks,
      usages: counts ? buildCapUsages(first, caps, facts) : [],
      source_hold: computeSourceHold(facts, members),
      refused: facts.refused,
    };
    const outcome = await take(choice);
    if (outcome.kind === 'done') return outcome.result;
    facts = applyNoRoom(facts, { noRoom: outcome, choice, failures });
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
const reserveInTransaction =
  (db: Statements, now: Date) =>
  async ({
    evaluation,
    members,
    trunks,
    usages,
    refused,
  }: BuyerChoice): Promise<TakeOutcome<ChosenBuyers>> => {
    const chosen = { evaluation, members, trunks, slots: toSlots(usages), caps: [], refused };
    if (usages.length === 0) return { kind: 'done', result: chosen };
    const rows = JSON.stringify(toUsageRows(usages));
    const [row] = await db.sql(RESERVE_CAPS, { usages: rows, now });
    if (row!.refused) return { kind: 'full', full: row!.refused };
    return { kind: 'done', result: { ...chosen, caps: row!.caps as OwnedCap[] } };
  };

/** Chooses buyers and reserves their caps, in the transaction that also records the reservation. */
export async function reserveBuyers(
  db: Statements,
  context: Pick<RoutingContext, 'candidates' | 'caps'>,
  facts: RouteFacts,
): Promise<ChosenBuyers> {
  const uncheckedFacts = { ...facts, findRequiredCheck: () => undefined };
  return (await chooseBuyers(
    context,
    uncheckedFacts,
    reserveInTransaction(db, facts.now),
  )) as ChosenBuyers;
}

/** The failures are newer than the state of the candidates. */
function applyFailures(candidates: readonly Candidate[], failures: Failures): readonly Candidate[] {
  if (failures.size === 0) return candidates;
  const ofGroup = ({ id }: CandidateGroup) => failures.get(toOwnerKey('buyer_group', id));
  return candidates.map((candidate) => {
    const usedUp = failures.get(toOwnerKey('buyer', candidate.id));
    const hasGroup = candidate.groups.some(ofGroup);
    if (!usedUp && !hasGroup) return candidate;
    const groups = hasGroup
      ? candidate.groups.map((group) => copyGroup(group, ofGroup(group) ?? group.used_up))
      : candidate.groups;
    return copyCandidate(candidate, { used_up: usedUp ?? candidate.used_up, groups });
  });
}

interface FailedChoice {
  noRoom: NoRoom;
  choice: BuyerChoice;
  failures: Failures;
}

/**
 * Adds the owners without room to `failures`, and returns the facts for the next choice. A buyer
 * whose caps have room was dialed a moment ago, and the offer requires time between calls.
 */
function applyNoRoom(facts: RouteFacts, { noRoom, choice, failures }: FailedChoice): RouteFacts {
  if (noRoom.kind === 'trunk_full')
    return { ...facts, lines: applyFullTrunks(facts.lines!, noRoom.trunk_ids) };
  if (noRoom.kind === 'source_full') return limitToSourceRoom(facts, choice, noRoom);
  const fullCaps = new Map(noRoom.full.map((full) => [full.limit_id, full]));
  let { refused } = facts;
  const lastCalls = new Map(facts.last_calls);
  for (const { limit_id, buyer_id, buyer_group_id, revenue } of choice.usages) {
    const full = fullCaps.get(limit_id);
    if (!full) continue;
    const usedUp = pickUsedUpCap(full.counters, revenue);
    countRefusal(usedUp?.cap);
    if (buyer_id === null && buyer_group_id === null)
      refused = toSourceFault(full, facts.source_caps!.revenue);
    else if (!usedUp) lastCalls.set(buyer_id!, facts.now);
    else if (buyer_id !== null) failures.set(toOwnerKey('buyer', buyer_id), usedUp);
    else failures.set(toOwnerKey('buyer_group', buyer_group_id!), usedUp);
  }
  return { ...facts, refused, last_calls: lastCalls };
}

/** Excludes buyers that pay more than the source has room for. */
function limitToSourceRoom(
  facts: RouteFacts,
  { source_hold }: BuyerChoice,
  { full, held }: Extract<NoRoom, { kind: 'source_full' }>,
): RouteFacts {
  const fault = toSourceFault(full[0]!, source_hold!.dollars - held)!;
  countRefusal(fault.details?.cap);
  const { blocked = new Set<number>(), allowed } = facts.source_buyers ?? {};
  return { ...facts, source_buyers: { blocked, allowed, room: { dollars: held, fault } } };
}

function toSourceFault({ counters, zone }: FullCaps, revenue: number): SourceFault | undefined {
  const usedUp = pickUsedUpCap(counters, revenue);
  return usedUp ? sourceCapFault({ used_up: usedUp, zone }) : undefined;
}

const countRefusal = (cap: unknown): void =>
  refusedReservations.inc({ cap: String(cap ?? 'none') });

const CHOICE_DEFAULTS = { traffic_source_id: null, slots: 1 } as const;

/** The most that a call dialed to these buyers at once may use: one of them gets it. */
export const toHeldUsage = (members: readonly Member[]): HeldUsage => ({
  connections: 1,
  conversions: members.some(({ buyer }) => buyer.current_conversion_revenue !== null) ? 1 : 0,
  revenue: Math.max(...members.map(({ buyer }) => buyer.most_revenue)),
});

/**
 * Builds the usage of a call: of the caps of the dialed group, the buyers, and the source. A call
 * that came in earlier has used its part of the source. Pure.
 */
function buildCapUsages(
  first: FirstChoice | undefined,
  caps: RoutingContext['caps'],
  facts: Pick<RouteFacts, 'spacing_seconds' | 'source_caps' | 'refused'>,
): CapUsage[] {
  const { source_caps, refused } = facts;
  const usages = first ? buildChoiceUsages(first, caps, facts.spacing_seconds ?? 0) : [];
  if (!source_caps || source_caps.call_id !== undefined || refused) return usages;
  return [...usages, buildSourceUsage(source_caps, first)];
}

function buildChoiceUsages(
  { members, group: dialedGroup }: FirstChoice,
  caps: RoutingContext['caps'],
  spacing: number,
): CapUsage[] {
  const group = dialedGroup ?? members[0]!.group;
  const ofBuyers = members.map((member): CapUsage => {
    const { id } = member.buyer;
    const owner = { ...CHOICE_DEFAULTS, buyer_id: id, buyer_group_id: null, spacing };
    return { ...toHeldUsage([member]), ...owner, limit_id: caps.caps_of_buyers.get(id)! };
  });
  ofBuyers.sort((a, b) => a.buyer_id! - b.buyer_id!);
  if (!group) return ofBuyers;
  const owner = { ...CHOICE_DEFAULTS, buyer_id: null, buyer_group_id: group.id, spacing: 0 };
  const limitId = caps.caps_of_groups.get(group.id)!;
  return [{ ...toHeldUsage(members), ...owner, limit_id: limitId }, ...ofBuyers];
}

/** A call without a buyer is counted, and ends at once. */
function buildSourceUsage(
  { limit_id, traffic_source_id, revenue }: SourceCaps,
  first: FirstChoice | undefined,
): CapUsage {
  const owner = { buyer_id: null, buyer_group_id: null, traffic_source_id, limit_id, spacing: 0 };
  return first
    ? { ...owner, connections: 1, conversions: 1, revenue, slots: 1 }
    : { ...owner, connections: 0, conversions: 0, revenue: 0, slots: 0 };
}

/** The rows of call_slots of the call. */
export const toSlots = (usages: readonly CapUsage[]): HeldSlot[] =>
  usages
    .filter(({ slots }) => slots > 0)
    .map(({ limit_id, connections, conversions, revenue }) => ({
      ...{ connections, conversions, revenue },
      call_limit_id: String(limit_id),
    }));

/** The argument of reserve_caps() in the database. */
export const toUsageRows = (usages: readonly CapUsage[]) =>
  usages.map(({ connections, conversions, revenue, spacing, ...usage }, n) => ({
    ...usage,
    n,
    index: 0,
    calls: 1,
    attempt: 1,
    held_connections: connections,
    held_conversions: conversions,
    held_revenue: revenue,
    spacing_seconds: spacing,
  }));
