import { evaluate, type Evaluation, type RouteFacts } from '../routing/engine/evaluate';
import { pickFirst, type FirstChoice, type Member } from '../routing/engine/order';
import { toHeldUsage } from '../routing/reserve-buyers';
import type { Pending } from './caps';
import type { Owner, Slot } from './ledger';
import type { ReplayState, Source } from './replay-state';

/** A dialed buyer, and the caps reserved for it. */
export interface Dialed {
  member: Member;
  owner: Owner;
  slot: Slot;
  /** The slot of the group through which it is dialed; buyers that ring at once share it. */
  group_slot: Slot | undefined;
  at: Date;
}

export const listSlots = ({ group_slot, slot }: Dialed): Slot[] =>
  group_slot ? [group_slot, slot] : [slot];

/** Chooses buyers as live routing does, and reserves their caps; empty when none can be dialed. */
export function reserveBuyers(
  state: ReplayState,
  facts: RouteFacts,
  now: Date,
): { dialed: Dialed[]; evaluation: Evaluation } {
  for (;;) {
    const evaluation = evaluate(state.candidates, facts);
    const choice = pickFirst(evaluation);
    const dialed = choice ? reserveChoice(state, choice, now) : [];
    if (!choice || dialed.length > 0) return { dialed, evaluation };
  }
}

/** Reserves the group's caps, then the buyers'. An owner without room is marked as used up. */
function reserveChoice(state: ReplayState, { members, group }: FirstChoice, now: Date): Dialed[] {
  const groupId = (group ?? members[0]!.group)?.id;
  const groupSlot =
    groupId === undefined
      ? undefined
      : reserveSlot(state.groups.get(groupId)!, toHeldUsage(members), now);
  if (groupId !== undefined && !groupSlot) return [];
  const dialed = members.flatMap((member): Dialed[] => {
    const owner = state.buyers.get(member.buyer.id)!;
    const slot = reserveSlot(owner, toHeldUsage([member]), now);
    return slot ? [{ member, owner, slot, group_slot: groupSlot, at: now }] : [];
  });
  if (groupSlot && dialed.length === 0) {
    const pending = negate(groupSlot.pending);
    groupSlot.owner.caps.record({ usage: { attempt: -1 }, concurrency: -1, pending }, now);
  }
  return dialed;
}

function reserveSlot(owner: Owner, pending: Pending, now: Date): Slot | undefined {
  if (owner.caps.reserve({ usage: { attempt: 1 }, concurrency: 1, pending }, now))
    return { owner, pending };
  owner.subject.used_up = owner.caps.usedUp(now, pending.revenue);
  return undefined;
}

/** Releases a slot, and its pending amounts. */
export function releaseSlot(slot: Slot, now: Date): void {
  const pending = negate(slot.pending);
  slot.owner.caps.record({ usage: {}, concurrency: -1, pending }, now);
  slot.pending = { connections: 0, conversions: 0, revenue: 0 };
}

/** Counts a connection, which was pending before. */
export function recordConnection(slot: Slot, now: Date): void {
  const pending = { connections: -slot.pending.connections, conversions: 0, revenue: 0 };
  slot.owner.caps.record({ usage: { connection: 1 }, pending }, now);
  slot.pending = { ...slot.pending, connections: 0 };
}

const negate = ({ connections, conversions, revenue }: Pending): Pending => ({
  connections: -connections,
  conversions: -conversions,
  revenue: -revenue,
});

export const computeMaxRevenue = ({ candidates }: ReplayState): number =>
  candidates.reduce((most, { most_revenue }) => Math.max(most, most_revenue), 0);

/** Counts an incoming call, and reserves the caps of its source if it is dialed. */
export function reserveSource(
  { caps }: Source,
  { is_dialed, revenue, now }: { is_dialed: boolean; revenue: number; now: Date },
): Slot | undefined {
  const usage = { attempt: 1 };
  if (!is_dialed) {
    caps.record({ usage }, now);
    return undefined;
  }
  const pending = { connections: 1, conversions: 1, revenue };
  caps.record({ usage, concurrency: 1, pending }, now);
  return { owner: { caps }, pending };
}
