import type { OwnedCap, TakenSlot } from '../../buyers/caps';
import type { Candidate } from './eligibility';
import { route, type Member, type Route, type RouteFacts } from './route';

/** Who is to be dialed, with caps taken up. */
export interface Chosen {
  routed: Route;
  /** Who is dialed; nobody when nobody is left. */
  members: readonly Member[];
  /** What the call holds from now on. */
  slots: TakenSlot[];
  /** Of those who are dialed and of their groups, as they stood before. */
  caps: OwnedCap[];
}

/** What is held for a call, as far as the choice depends on it. */
export interface Promised {
  buyer_ids: readonly number[];
  buyer_group_id: number | null;
  slots: TakenSlot[];
  caps: OwnedCap[];
}

/**
 * The choice that was promised: whom it is held for goes first, whatever caps, hours and filters say now. Undefined when nobody of them can be dialed
 * any more: they have left the offer, or the offer takes no call of the caller. Pure.
 */
export function heldChoice(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  held: Promised,
): Chosen | undefined {
  const promised = new Set(held.buyer_ids);
  const routed = route(
    candidates.map((candidate) =>
      promised.has(candidate.id) ? byItsWay(candidate, held) : candidate,
    ),
    { ...facts, promised, first_buyer_id: candidates.find(({ id }) => promised.has(id))?.id },
  );
  const members = routed.choices[0]?.members.filter(({ buyer }) => promised.has(buyer.id)) ?? [];
  return members.length > 0 ? { routed, members, slots: held.slots, caps: held.caps } : undefined;
}

/** A buyer with no way to it but the one that is held. */
function byItsWay(candidate: Candidate, { buyer_group_id }: Promised): Candidate {
  const group = candidate.groups.find(({ id }) => id === buyer_group_id);
  return {
    ...candidate,
    direct: group === undefined,
    groups: group ? [{ ...group, paused: false, used_up: null }] : [],
  };
}
