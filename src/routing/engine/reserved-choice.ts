import type { OwnedCap, TakenSlot } from '../../buyers/caps';
import type { Candidate } from './candidate';
import { decide, type Judged } from './decide';
import type { Refused } from './eligibility';
import type { Member, RouteFacts } from './route';

export interface Chosen {
  judged: Judged;
  /** Empty when no buyer can take the call. */
  members: readonly Member[];
  /** The part of their caps that the call holds until it ends. */
  slots: TakenSlot[];
  /** The caps of the buyers, their groups and the source, before the reservation. */
  caps: OwnedCap[];
  /** A reason that came up after the first decision and keeps the call from all buyers. */
  refused?: Refused | undefined;
}

export interface ReservedChoice {
  buyer_ids: readonly number[];
  buyer_group_id: number | null;
  slots: TakenSlot[];
  caps: OwnedCap[];
}

/**
 * The choice of a reservation: its buyers go first, regardless of caps, hours and filters.
 * Undefined when none of them can be dialed any more, because they have left the offer or the offer
 * refuses the caller. Pure.
 */
export function reservedChoice(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  reservation: ReservedChoice,
): Chosen | undefined {
  const reserved = new Set(reservation.buyer_ids);
  const judged = decide(
    candidates.map((candidate) =>
      reserved.has(candidate.id) ? onReservedWay(candidate, reservation) : candidate,
    ),
    { ...facts, reserved, first_buyer_id: candidates.find(({ id }) => reserved.has(id))?.id },
  );
  const members = judged.first?.members.filter(({ buyer }) => reserved.has(buyer.id)) ?? [];
  if (members.length === 0) return undefined;
  return { judged, members, slots: reservation.slots, caps: reservation.caps };
}

/** Leaves only the reserved path to a buyer: the offer itself, or the group as if it were open. */
function onReservedWay(candidate: Candidate, { buyer_group_id }: ReservedChoice): Candidate {
  const group = candidate.groups.find(({ id }) => id === buyer_group_id);
  return {
    ...candidate,
    direct: group === undefined,
    groups: group ? [{ ...group, paused: false, used_up: null }] : [],
  };
}
