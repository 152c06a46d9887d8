import {
  candidateOf,
  groupOf,
  type Candidate,
  type CandidateGroup,
  type Reason,
} from '../engine/eligibility';
import type { PayoutTerms } from '../engine/payout';
import { route, type Choice, type Member, type RouteFacts } from '../engine/route';
import { openBooks, type Bill, type Owner, type Slot } from './ledger';
import { openCaps, type CapsOwner, type Pending } from './caps';
import {
  chancesOf,
  conversionsAt,
  outcomeOf,
  talkOf,
  type Chances,
  type Expectations,
  type PaidFor,
  type RealAttempt,
} from './outcome';
import { agenda } from './event-queue';

/** What is asked of a call when a buyer is looked for. */
export interface Looking {
  now: Date;
  seed: string;
  tried: ReadonlySet<number>;
  /** To whom the caller was connected before; null to nobody. */
  previous_buyer_id: number | null;
  /** Buyers that have paid for the caller, and from when they would again. */
  pays_again_at: ReadonlyMap<number, Date>;
}

/** A call that is replayed. */
export interface ReplayedCall {
  id: number;
  at: Date;
  /** Null when it is withheld: then it is nobody's. */
  caller_number: number | null;
  traffic_source_id: number | null;
  /** The facts that decide about it. */
  facts: (looking: Looking) => RouteFacts;
  /** Suppression lists of buyers that hold the caller's number. */
  suppressed: ReadonlyMap<number, Candidate['suppressed_by']>;
  previous_buyer_id: number | null;
  /** When buyers have last paid for the caller. */
  paid_at: ReadonlyMap<number, Date>;
  /** What its rounds were really drawn with. */
  seeds: readonly string[];
  attempts: readonly RealAttempt[];
  /** Seconds that it was connected; null when it never was. */
  talked: number | null;
  /** Seconds after which the caller hung up that nobody had answered; null when the caller waited. */
  gave_up_after: number | null;
}

export interface SimulatedBuyer {
  candidate: Candidate;
  caps: CapsOwner;
  conversions: readonly PaidFor[];
}

export interface SimulatedGroup {
  group: CandidateGroup;
  caps: CapsOwner;
}

/** A configuration under which calls are replayed. */
export interface Configuration {
  buyers: readonly SimulatedBuyer[];
  groups: readonly SimulatedGroup[];
  payouts: readonly PayoutTerms[];
}

export interface Replay {
  /** In the order in which they come. */
  calls: readonly ReplayedCall[];
  seed: string;
  start: Date;
  expected: Expectations;
}

/** What calls came to. */
export interface Figures {
  /** That were connected to it, or else last tried with it. */
  calls: number;
  attempts: number;
  connects: number;
  conversions: number;
  revenue: number;
  payout: number;
  /** How often it was passed over, by reason: once a decision. */
  skip_reasons: Partial<Record<Reason, number>>;
}

export const noFigures = (): Figures => ({
  calls: 0,
  attempts: 0,
  connects: 0,
  conversions: 0,
  revenue: 0,
  payout: 0,
  skip_reasons: {},
});

/** A call under way. */
interface Current {
  call: ReplayedCall;
  chances: Chances;
  round: number;
  tried: Set<number>;
  last: Owner | undefined;
}

interface Dialed {
  member: Member;
  owner: Owner;
  slot: Slot;
  at: Date;
}

/** How often a buyer is looked for, for one call. */
export const MOST_ROUNDS = 20;
const seconds = (count: number) => count * 1000;

/**
 * Has calls come in again, under a configuration, and answers what they come to by buyer. Decides as live routing does, by the same functions; caps are kept in
 * memory. Yields after each step, so that whoever runs it can do other things meanwhile. Pure: the same input gives the same answer.
 */
export function* replay(
  { buyers, groups, payouts }: Configuration,
  { calls, seed, start, expected }: Replay,
): Generator<void, Map<number, Figures>> {
  const { plan, next } = agenda();
  const ownerOf = (
    subject: Owner['subject'],
    caps: CapsOwner,
    conversions: readonly PaidFor[] = [],
  ): Owner => ({
    caps: openCaps(caps, start),
    subject,
    conversions,
    figures: noFigures(),
  });
  // Its own copies: what calls change is changed in place.
  const group_owners = new Map(
    groups.map(({ group, caps }) => [group.id, ownerOf(groupOf(group, null), caps)]),
  );
  const owners = new Map(
    buyers.map(({ candidate, caps, conversions }) => {
      const through = candidate.groups.map(
        ({ id }) => group_owners.get(id)!.subject as CandidateGroup,
      );
      return [
        candidate.id,
        ownerOf(candidateOf(candidate, { groups: through, last_call_at: null }), caps, conversions),
      ];
    }),
  );
  const candidates = [...owners.values()].map(({ subject }) => subject as Candidate);
  const previous = new Map<number, number>();
  const books = openBooks(payouts, seed);

  /** Every candidate as it stands for a call. */
  const refresh = ({ suppressed }: ReplayedCall, now: Date) => {
    for (const owner of group_owners.values()) owner.subject.used_up = owner.caps.usedUp(now, 0);
    for (const owner of owners.values()) {
      const buyer = owner.subject as Candidate;
      const open = conversionsAt(owner.conversions, buyer.zone, now);
      buyer.current_conversion_revenue = open[0]?.revenue ?? null;
      buyer.most_revenue = Math.max(0, ...open.map(({ revenue }) => revenue));
      buyer.suppressed_by = suppressed.get(buyer.id) ?? NO_LISTS;
      buyer.used_up = owner.caps.usedUp(now, buyer.most_revenue);
    }
  };

  const begin = (call: ReplayedCall) =>
    look(
      { call, chances: chancesOf(seed, call.id), round: 0, tried: new Set(), last: undefined },
      call.at,
    );

  const over = ({ last }: Current) => void (last && last.figures.calls++);

  const look = (current: Current, now: Date): void => {
    const { call, tried, round } = current;
    if (round >= MOST_ROUNDS) return over(current);
    const drawn = call.seeds[round] ?? `${seed}/${call.id}/${round}`;
    const previous_buyer_id =
      (call.caller_number === null ? undefined : previous.get(call.caller_number)) ??
      call.previous_buyer_id;
    const facts = call.facts({
      now,
      seed: drawn,
      tried,
      previous_buyer_id,
      pays_again_at: books.paysAgain(call, owners.values(), now),
    });
    refresh(call, now);
    for (;;) {
      const { choices, considered } = route(candidates, facts);
      const [choice] = choices;
      const dialed = choice ? take(choice, now) : [];
      if (choice && dialed.length === 0) continue;
      for (const { buyer_id, reason } of considered) {
        if (reason === null) continue;
        const { skip_reasons } = owners.get(buyer_id)!.figures;
        skip_reasons[reason] = (skip_reasons[reason] ?? 0) + 1;
      }
      current.round++;
      return dialed.length > 0 ? ring(current, dialed, now) : over(current);
    }
  };

  /** Takes up the caps of a choice, the group's first; of one that has no room it is noted, so that the others are looked at again. */
  const take = ({ members, group }: Choice, now: Date): Dialed[] => {
    const through = (group ?? members[0]!.group)?.id;
    const takeOne = (owner: Owner, pending: Pending): Slot | undefined => {
      if (owner.caps.reserve({ usage: { attempt: 1 }, concurrency: 1, pending }, now))
        return { owner, pending };
      owner.subject.used_up = owner.caps.usedUp(now, pending.revenue);
      return undefined;
    };
    const of_group =
      through === undefined ? undefined : takeOne(group_owners.get(through)!, mostOf(members));
    if (through !== undefined && !of_group) return [];
    const dialed = members.flatMap((member): Dialed[] => {
      const owner = owners.get(member.buyer.id)!;
      const slot = takeOne(owner, mostOf([member]));
      return slot ? [{ member, owner, slot, at: now }] : [];
    });
    if (of_group && dialed.length === 0)
      of_group.owner.caps.record(
        { usage: { attempt: -1 }, concurrency: -1, pending: negative(of_group.pending) },
        now,
      );
    if (of_group) for (const one of dialed) group_slots.set(one, of_group);
    return dialed;
  };
  const group_slots = new WeakMap<Dialed, Slot>();

  const free = (slot: Slot, now: Date) => {
    slot.owner.caps.record({ usage: {}, concurrency: -1, pending: negative(slot.pending) }, now);
    slot.pending = { connections: 0, conversions: 0, revenue: 0 };
  };

  const ring = (current: Current, dialed: readonly Dialed[], now: Date): void => {
    const { call, chances, tried } = current;
    current.last = dialed[0]!.owner;
    const outcomes = dialed.map((one) => {
      const { buyer } = one.member;
      tried.add(buyer.id);
      one.owner.figures.attempts++;
      (one.owner.subject as Candidate).last_call_at = now;
      const real = call.attempts.find(({ buyer_id }) => buyer_id === buyer.id);
      if (
        conversionsAt(one.owner.conversions, buyer.zone, now).some(
          ({ conversion_type, duration }) => conversion_type === 'duration' && duration === 0,
        )
      )
        books.bill(billOf(current, one), { talked: 0, is_told: false, now });
      return { one, real, ...outcomeOf({ buyer, real, chances, expected }) };
    });
    // Of two that answer at the same time the one that really took the call does.
    const [first] = outcomes
      .filter(({ answers }) => answers)
      .toSorted(
        (a, b) =>
          a.after - b.after ||
          Number(b.real?.status === 'connected') - Number(a.real?.status === 'connected'),
      );
    const gives_up =
      call.gave_up_after === null ? Infinity : call.at.getTime() + seconds(call.gave_up_after);
    const settled =
      now.getTime() + seconds(first?.after ?? Math.max(...outcomes.map(({ after }) => after)));
    const until = Math.min(settled, gives_up);
    for (const { one, after } of outcomes) {
      if (one === first?.one && until === settled) continue;
      const at = Math.min(now.getTime() + seconds(after), until);
      plan(at, () => free(one.slot, new Date(at)));
    }
    const of_group = group_slots.get(dialed[0]!);
    plan(until, () => {
      const at = new Date(until);
      if (first && until === settled) return connect(current, first.one, at);
      if (of_group) free(of_group, at);
      if (until === settled && until < gives_up) look(current, at);
      else over(current);
    });
  };

  const connect = (current: Current, one: Dialed, now: Date): void => {
    const { call, chances } = current;
    const { owner } = one;
    owner.figures.connects++;
    current.last = owner;
    if (call.caller_number !== null) previous.set(call.caller_number, owner.subject.id);
    for (const slot of slotsOf(one)) {
      slot.owner.caps.record(
        {
          usage: { connection: 1 },
          pending: { connections: -slot.pending.connections, conversions: 0, revenue: 0 },
        },
        now,
      );
      slot.pending = { ...slot.pending, connections: 0 };
    }
    const talked = talkOf(call.talked, chances, expected);
    const ends = now.getTime() + seconds(talked);
    plan(ends, () => {
      const at = new Date(ends);
      const rate = expected.rates.get(owner.subject.id)!.conversion.rate;
      books.bill(billOf(current, one), {
        talked,
        is_told: chances(owner.subject.id, 'conversion') < rate,
        now: at,
      });
      for (const slot of slotsOf(one)) free(slot, at);
      over(current);
    });
  };

  const billOf = ({ call }: Current, one: Dialed): Bill => ({
    call,
    owner: one.owner,
    slots: slotsOf(one),
    dialed_at: one.at,
  });
  const slotsOf = (one: Dialed): Slot[] =>
    [group_slots.get(one), one.slot].filter((slot) => slot !== undefined);
  for (const call of calls) {
    while (next(call.at.getTime())) yield;
    begin(call);
    yield;
  }
  while (next(Infinity)) yield;
  return new Map([...owners].map(([id, { figures }]) => [id, figures]));
}

const NO_LISTS: Candidate['suppressed_by'] = [];
const negative = ({ connections, conversions, revenue }: Pending): Pending => ({
  connections: -connections,
  conversions: -conversions,
  revenue: -revenue,
});

const mostOf = (members: readonly Member[]): Pending => ({
  connections: 1,
  conversions: members.some(({ buyer }) => buyer.current_conversion_revenue !== null) ? 1 : 0,
  revenue: Math.max(...members.map(({ buyer }) => buyer.most_revenue)),
});
