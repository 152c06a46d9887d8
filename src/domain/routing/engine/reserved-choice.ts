import type { OwnedCap, HeldSlot } from '../../caps/caps';
import type { Candidate } from './candidate';
import type { Refusal } from './eligibility';
import { evaluate, type Evaluation, type RouteFacts } from './evaluate';
import { pickFirst, type Member } from './order';
import { assignTrunks, type TrunksByBuyer } from './trunks';

export interface ChosenBuyers {
  evaluation: Evaluation;
  /** Empty when no buyer can take the call. */
  members: readonly Member[];
  trunks: TrunksByBuyer;
  /** The part of their caps that the call holds until it ends. */
  slots: HeldSlot[];
  /** The caps of the buyers, their groups and the source, before the reservation. */
  caps: OwnedCap[];
  /** A reason that came up after the first decision and keeps the call from all buyers. */
  refused?: Refusal | undefined;
}

export interface ReservedChoice {
  buyer_ids: readonly number[];
  buyer_group_id: number | null;
  slots: HeldSlot[];
  caps: OwnedCap[];
}

/**
 * The choice of a reservation: its buyers go first, regardless of caps, hours and filters.
 * Undefined when none of them can be dialed any more, because they have left the offer or the offer
 * refuses the caller. Pure.
 */
export function buildReservedChoice(
  { candidates, plain }: Pick<Evaluation, 'candidates' | 'plain'>,
  facts: RouteFacts,
  reservation: ReservedChoice,
): ChosenBuyers | undefined {
  const reserved = new Set(reservation.buyer_ids);
  const evaluation = evaluate(
    candidates.map((candidate) =>
      reserved.has(candidate.id) ? applyReservedPath(candidate, reservation) : candidate,
    ),
    { ...facts, reserved, first_buyer_id: candidates.find(({ id }) => reserved.has(id))?.id },
    plain,
  );
  const first = pickFirst(evaluation);
  const reservedMembers = first?.members.filter(({ buyer }) => reserved.has(buyer.id)) ?? [];
  const { trunks, without } = assignTrunks(reservedMembers, facts.lines);
  const members = reservedMembers.filter(({ buyer }) => !without.has(buyer.id));
  if (members.length === 0) return undefined;
  return { evaluation, members, trunks, slots: reservation.slots, caps: reservation.caps };
}

/** Leaves only the reserved path to a buyer: the offer itself, or the group as if it were open. */
function applyReservedPath(candidate: Candidate, { buyer_group_id }: ReservedChoice): Candidate {
  const group = candidate.groups.find(({ id }) => id === buyer_group_id);
  return {
    ...candidate,
    direct: group === undefined,
    groups: group ? [{ ...group, paused: false, used_up: null }] : [],
  };
}
