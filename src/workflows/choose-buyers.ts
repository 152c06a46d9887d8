import { findHold, takeHold, type AwaitedHold } from '../db/call-holds';
import { recordUsage, reserveUsage, type CapOwner, type Reserved } from '../db/call-limits';
import { readUsedUp } from '../db/offer-buyers';
import type { Statements } from '../db/tenant';
import type { Candidate, CandidateGroup } from '../routing/eligibility';
import { heldChoice, type Chosen } from '../routing/held';
import { route, type Choice, type RouteFacts } from '../routing/route';

type Owner = { kind: 'buyer' | 'buyer_group'; id: number };
interface Taken extends Reserved {
  owner: Owner;
}

const keyOf = ({ kind, id }: Owner) => `${kind}/${id}`;
const capOwnerOf = ({ kind, id }: Owner): CapOwner => (kind === 'buyer' ? { buyer_id: id } : { buyer_group_id: id });

/**
 * Chooses whom to dial, and takes up their caps: the first in the order whose caps have room. One whose last place somebody else has just taken is
 * left out, and the others are looked at again; what each drew stays as it was. Within a transaction that also writes down the attempt.
 */
export async function chooseBuyers(db: Statements, candidates: readonly Candidate[], facts: RouteFacts): Promise<Chosen> {
  const lost = new Map<string, Partial<Candidate>>();
  for (;;) {
    const routed = route(
      candidates.map((candidate) => withLost(candidate, lost)),
      facts,
    );
    const [choice] = routed.choices;
    const taken = choice ? await reserve(db, choice, { facts, lost }) : [];
    if (choice && taken.length === 0) continue;
    const dialed = new Set(taken.map(({ owner }) => keyOf(owner)));
    return {
      routed,
      members: choice?.members.filter(({ buyer }) => dialed.has(keyOf({ kind: 'buyer', id: buyer.id }))) ?? [],
      call_limit_ids: taken.map(({ call_limit_id }) => call_limit_id),
      caps: taken.flatMap(({ owner: { kind, id }, caps }) =>
        caps.map((cap) => ({ ...cap, buyer_id: kind === 'buyer' ? id : null, buyer_group_id: kind === 'buyer_group' ? id : null })),
      ),
    };
  }
}

/** A call that may take over what is held for it. */
interface Awaited {
  id: number;
  offer_id: number;
  caller_number: number;
}

/**
 * Takes over what is held for a call, caps and all, in place of choosing anew; undefined when there is nothing left of it. Of two calls of a caller each
 * gets its own. Within a transaction that also writes down the attempt.
 */
export async function takeHeldBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  facts: RouteFacts,
  { call, held }: { call: Awaited; held: AwaitedHold },
) {
  const { now } = facts;
  for (let hold: AwaitedHold | undefined = held; hold; hold = await findHold(db, { ...call, now })) {
    const chosen = heldChoice(candidates, facts, hold);
    if (!chosen || (await takeHold(db, { id: hold.id, call_id: call.id, now }))) return chosen;
  }
  return undefined;
}

function withLost(candidate: Candidate, lost: ReadonlyMap<string, Partial<Candidate>>): Candidate {
  if (lost.size === 0) return candidate;
  const groups = candidate.groups.map((group): CandidateGroup => ({
    ...group,
    ...(lost.get(keyOf({ kind: 'buyer_group', id: group.id })) as Partial<CandidateGroup>),
  }));
  return { ...candidate, ...lost.get(keyOf({ kind: 'buyer', id: candidate.id })), groups };
}

interface Reserving {
  facts: RouteFacts;
  lost: Map<string, Partial<Candidate>>;
}

/** Takes up the caps of a choice: the group's first, then the buyers' in the order of their ids, so that two calls never wait for each other. */
async function reserve(db: Statements, { members, group }: Choice, { facts: { now, spacing_seconds }, lost }: Reserving): Promise<Taken[]> {
  const through = group ?? members[0]!.group;
  const take = async (owner: Owner, spacing?: number): Promise<Taken | undefined> => {
    const reserved = await reserveUsage(db, { owner: capOwnerOf(owner), usage: { attempt: 1 }, concurrency: 1, calls: 1, spacing_seconds: spacing ?? 0, now });
    if (!reserved) lost.set(keyOf(owner), await whyLost(db, owner, now));
    return reserved && { ...reserved, owner };
  };
  const of_group = through && (await take({ kind: 'buyer_group', id: through.id }));
  if (through && !of_group) return [];
  const taken: Taken[] = [];
  for (const { buyer } of members.toSorted((a, b) => a.buyer.id - b.buyer.id)) {
    const reserved = await take({ kind: 'buyer', id: buyer.id }, spacing_seconds);
    if (reserved) taken.push(reserved);
  }
  if (taken.length > 0) return of_group ? [of_group, ...taken] : taken;
  // The row is still ours alone: nobody has seen what was taken.
  if (of_group) await recordUsage(db, { owner: capOwnerOf(of_group.owner), usage: { attempt: -1 }, concurrency: -1, calls: -1, now });
  return [];
}

/** What has come between the look at an owner's caps and their reservation. */
async function whyLost(db: Statements, owner: Owner, now: Date): Promise<Partial<Candidate>> {
  const used_up = await readUsedUp(db, capOwnerOf(owner), now);
  // Its caps have room: then it was dialed a moment ago, and the offer asks for time between calls; or somebody has given back what was missing.
  return used_up ? { used_up } : { last_call_at: now };
}
