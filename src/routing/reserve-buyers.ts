import { findReservation, takeHold, type AwaitedReservation } from './queries/reservations';
import { recordUsage, reserveUsage, type Reserved } from '../buyers/reserve-caps';
import { readUsedUp } from './queries/candidates';
import type { Statements } from '../db/tenant';
import { HttpProblem } from '../errors';
import type { CapOwner, Held } from '../buyers/caps';
import { candidateOf, groupOf, type Candidate, type CandidateGroup } from './engine/eligibility';
import { heldChoice, type Chosen } from './engine/held';
import { route, type Choice, type Member, type RouteFacts } from './engine/route';

/** What has come between the look at a buyer or group and its reservation. */
type Lost = Pick<Partial<Candidate>, 'used_up' | 'last_call_at'>;
type Owner = { kind: 'buyer' | 'buyer_group'; id: number };
interface Taken extends Reserved {
  owner: Owner;
  hold: Held;
}

const keyOf = ({ kind, id }: Owner) => `${kind}/${id}`;
const capOwnerOf = ({ kind, id }: Owner): CapOwner =>
  kind === 'buyer' ? { buyer_id: id } : { buyer_group_id: id };

/** Who is chosen by facts; `requireAsked` throws where somebody must be asked first before those are dialed. */
type Choosing = RouteFacts & { requireAsked?: (members: readonly Member[]) => void };

/**
 * Chooses whom to dial, and takes up their caps: the first in the order whose caps have room. One whose last place somebody else has just taken is
 * left out, and the others are looked at again; what each drew stays as it was. Within a transaction that also writes down the attempt.
 */
export async function reserveBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  facts: Choosing,
): Promise<Chosen> {
  const lost = new Map<string, Lost>();
  for (let tries = 0; tries <= MOST_TRIES + candidates.length; tries++) {
    const routed = route(
      lost.size === 0 ? candidates : candidates.map((candidate) => withLost(candidate, lost)),
      facts,
    );
    const [choice] = routed.choices;
    if (choice) facts.requireAsked?.(choice.members);
    const taken = choice ? await reserve(db, choice, { facts, lost }) : [];
    if (choice && taken.length === 0) continue;
    const dialed = new Set(taken.map(({ owner }) => keyOf(owner)));
    return {
      routed,
      members:
        choice?.members.filter(({ buyer }) => dialed.has(keyOf({ kind: 'buyer', id: buyer.id }))) ??
        [],
      slots: taken.map(({ call_limit_id, hold }) => ({ call_limit_id, ...hold })),
      caps: taken.flatMap(({ owner: { kind, id }, caps }) =>
        caps.map((cap) => ({
          ...cap,
          buyer_id: kind === 'buyer' ? id : null,
          buyer_group_id: kind === 'buyer_group' ? id : null,
        })),
      ),
    };
  }
  throw new HttpProblem(
    503,
    'So many calls ask for the same buyers that none could be chosen. Try again.',
    {},
    { 'Retry-After': '1' },
  );
}

/** Beyond one a candidate: a cap whose missing place is given back in between is tried again. */
const MOST_TRIES = 20;

/** A call that may take over what is held for it. */
interface Awaited {
  offer_id: number;
  caller_number: number;
}

/** What was held and is the call's from now on; `ping_id` is to be told of it. */
export type TakenOver = Chosen & { ping_id?: string };

/**
 * Takes over what is held for a call, caps and all, in place of choosing anew; undefined when there is nothing left of it. Of two calls of a caller each
 * gets its own. Within a transaction that also writes down the attempt.
 */
export async function claimReservedBuyers(
  db: Statements,
  candidates: readonly Candidate[],
  facts: RouteFacts,
  { call, held }: { call: Awaited; held: AwaitedReservation },
): Promise<TakenOver | undefined> {
  const { now } = facts;
  for (
    let hold: AwaitedReservation | undefined = held;
    hold;
    hold = await findReservation(db, { ...call, now })
  ) {
    const chosen = heldChoice(candidates, facts, hold);
    if (!chosen) return undefined;
    const ping_id = await takeHold(db, hold.id, now);
    if (ping_id !== undefined) return { ...chosen, ping_id };
  }
  return undefined;
}

function withLost(candidate: Candidate, lost: ReadonlyMap<string, Lost>): Candidate {
  const own = lost.get(keyOf({ kind: 'buyer', id: candidate.id }));
  const ofGroup = ({ id }: CandidateGroup) => lost.get(keyOf({ kind: 'buyer_group', id }));
  const groups = candidate.groups.some(ofGroup)
    ? candidate.groups.map((group) => groupOf(group, ofGroup(group)?.used_up ?? group.used_up))
    : candidate.groups;
  return own || groups !== candidate.groups
    ? candidateOf(candidate, { ...own, groups })
    : candidate;
}

interface Reserving {
  facts: RouteFacts;
  lost: Map<string, Lost>;
}

/** Takes up the caps of a choice: the group's first, then the buyers' in the order of their ids, so that two calls never wait for each other. */
async function reserve(
  db: Statements,
  { members, group }: Choice,
  { facts: { now, spacing_seconds }, lost }: Reserving,
): Promise<Taken[]> {
  const through = group ?? members[0]!.group;
  const take = async (owner: Owner, hold: Held, spacing = 0): Promise<Taken | undefined> => {
    const reserved = await reserveUsage(db, {
      owner: capOwnerOf(owner),
      usage: { attempt: 1 },
      concurrency: 1,
      hold,
      calls: 1,
      spacing_seconds: spacing,
      now,
    });
    if (!reserved) lost.set(keyOf(owner), await whyLost(db, owner, { revenue: hold.revenue, now }));
    return reserved && { ...reserved, owner, hold };
  };
  const of_group =
    through && (await take({ kind: 'buyer_group', id: through.id }, mostOf(members)));
  if (through && !of_group) return [];
  const taken: Taken[] = [];
  for (const member of members.toSorted((a, b) => a.buyer.id - b.buyer.id)) {
    const reserved = await take(
      { kind: 'buyer', id: member.buyer.id },
      mostOf([member]),
      spacing_seconds,
    );
    if (reserved) taken.push(reserved);
  }
  if (taken.length > 0) return of_group ? [of_group, ...taken] : taken;
  if (of_group) await giveBack(db, of_group, now);
  return [];
}

/** What a call may come to that is dialed to these at once: one of them has it. */
const mostOf = (members: readonly Member[]): Held => ({
  connections: 1,
  conversions: members.some(({ buyer }) => buyer.current_conversion_revenue !== null) ? 1 : 0,
  revenue: Math.max(...members.map(({ buyer }) => buyer.most_revenue)),
});

/** The row is still ours alone: nobody has seen what was taken. */
async function giveBack(db: Statements, { owner, hold }: Taken, now: Date): Promise<void> {
  const back: Held = {
    connections: -hold.connections,
    conversions: -hold.conversions,
    revenue: -hold.revenue,
  };
  await recordUsage(db, {
    owner: capOwnerOf(owner),
    usage: { attempt: -1 },
    concurrency: -1,
    hold: back,
    calls: -1,
    now,
  });
}

async function whyLost(
  db: Statements,
  owner: Owner,
  { revenue, now }: { revenue: number; now: Date },
): Promise<Lost> {
  const used_up = await readUsedUp(db, capOwnerOf(owner), { revenue, now });
  // Its caps have room: then it was dialed a moment ago, and the offer asks for time between calls; or somebody has given back what was missing.
  return used_up ? { used_up } : { last_call_at: now };
}
