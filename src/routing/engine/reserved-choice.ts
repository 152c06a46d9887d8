import type { OwnedCap, TakenSlot } from '../../buyers/caps';
import type { Candidate } from './candidate';
import { decide, type Judged } from './decide';
import type { Refused } from './eligibility';
import type { Member, RouteFacts } from './route';

/** The buyers to dial, with their caps reserved. */
export interface Chosen {
  judged: Judged;
  /** Empty when no buyer can take the call. */
  members: readonly Member[];
  /** What the call takes of their caps until it ends. */
  slots: TakenSlot[];
  /** The caps of these buyers, of their groups and of the source, as they were before. */
  caps: OwnedCap[];
  /** What came to keep the call from all buyers after it was decided first. */
  refused?: Refused | undefined;
}

/** A reservation for a call, as far as the choice depends on it. */
export interface ReservedChoice {
  buyer_ids: readonly number[];
  buyer_group_id: number | null;
  slots: TakenSlot[];
  caps: OwnedCap[];
}

/**
 * The choice of a reservation: its buyers go first, whatever caps, hours and filters say now.
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

/** A buyer with the reserved way as its only one: the offer itself or an open group. */
function onReservedWay(candidate: Candidate, { buyer_group_id }: ReservedChoice): Candidate {
  const group = candidate.groups.find(({ id }) => id === buyer_group_id);
  return {
    ...candidate,
    direct: group === undefined,
    groups: group ? [{ ...group, paused: false, used_up: null }] : [],
  };
}
