import fc from 'fast-check';
import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import type { UsedUpCap } from '../../../../src/domain/caps/caps';
import { REASONS, type Reason } from '../../../../src/domain/routing/engine/reasons';
import { route, type RouteFacts } from '../../../../src/domain/routing/engine/route';
import { openMinutes } from '../../../../src/platform/time/opening-hours';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buyer, group } from '../../../support/candidates';
import { repetitions } from '../../../support/repetitions';

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');

/** Faults of a buyer, each independent of the others. */
const faults = fc.record({
  paused: fc.boolean(),
  closed: fc.boolean(),
  suppressed: fc.boolean(),
  filtered: fc.boolean(),
  cap: fc.constantFrom(null, 'attempt_daily' as const, 'concurrency' as const),
  just_called: fc.boolean(),
  paid: fc.boolean(),
  no_number: fc.boolean(),
  tried: fc.boolean(),
});
/** Most have nothing wrong, or little. */
const few = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: faults.chain((all) =>
      fc
        .subarray(Object.keys(all) as (keyof typeof all)[], { maxLength: 2 })
        .map((chosen) => Object.fromEntries(chosen.map((name) => [name, all[name]]))),
    ),
  },
  { weight: 1, arbitrary: faults },
);
const groups = fc.array(
  fc.record({
    at_once: fc.boolean(),
    paused: fc.boolean(),
    cap: fc.constantFrom(null, null, 'attempt_daily' as const, 'concurrency' as const),
    tier: fc.nat(2),
    weight: fc.nat(3),
  }),
  { maxLength: 3 },
);
const buyers = fc.array(
  fc.record({
    faults: few as fc.Arbitrary<Partial<typeof faults extends fc.Arbitrary<infer T> ? T : never>>,
    tier: fc.nat(2),
    weight: fc.nat(3),
    direct: fc.boolean(),
    in_groups: fc.uniqueArray(fc.nat(2)),
  }),
  { minLength: 1, maxLength: 12 },
);
const refusals = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  undefined,
  ...(['blacklisted', 'offer_paused', 'offer_suppressed'] as const),
);

const usedUp = (cap: UsedUpCap['cap'] | null | undefined): UsedUpCap | null =>
  cap ? { cap, used: 5, limit: 5, resets_at: null } : null;
const toReason = (cap: UsedUpCap['cap']): Reason =>
  cap === 'concurrency' ? 'concurrency_full' : 'cap_reached';

/** Everything that keeps a call from a buyer, in any order. */
function collectReasons(
  candidate: Candidate,
  { refused, tried, only_buyer_id, pays_again_at, spacing_seconds }: RouteFacts,
  isClosed: boolean,
): Set<Reason> {
  const reasons = new Set<Reason>();
  const add = (reason: Reason, holds: unknown) => void (holds && reasons.add(reason));
  if (refused) reasons.add(refused.reason);
  add('already_tried', tried?.has(candidate.id));
  add('not_previous_buyer', only_buyer_id !== undefined && only_buyer_id !== candidate.id);
  add('paused', candidate.paused);
  add('closed', isClosed);
  add('suppressed', candidate.suppressed_by.length > 0);
  add('filter_unmet', candidate.record_token_filter_list.length > 0);
  if (candidate.used_up) reasons.add(toReason(candidate.used_up.cap));
  add('duplicate_caller', pays_again_at?.has(candidate.id));
  add('spacing', spacing_seconds && candidate.last_call_at);
  add('no_number', candidate.number === null);
  const blocked = candidate.groups.map(({ paused, used_up }) => {
    if (paused) return 'group_paused';
    return used_up ? toReason(used_up.cap) : null;
  });
  if (!candidate.direct && blocked.every((reason) => reason !== null))
    reasons.add(REASONS.find((reason) => blocked.includes(reason))!);
  return reasons;
}

test('a route has every candidate once, with the first reason against it or a place', () => {
  fc.assert(
    fc.property(
      buyers,
      groups,
      fc.record({ refused: refusals, only: fc.option(fc.nat(11)), seed: fc.string() }),
      (drawn, drawnGroups, { refused, only, seed }) => {
        const builtGroups = drawnGroups.map(({ at_once, cap, ...fields }, n): CandidateGroup =>
          group({
            ...fields,
            id: n + 1,
            used_up: usedUp(cap),
            dial_buyers_type: at_once ? 'simultaneously' : 'sequentially',
          }),
        );
        const closed = new Set<number>();
        const candidates = drawn.map(
          ({ faults: has, tier, weight, direct, in_groups }, n): Candidate => {
            const through = in_groups.flatMap((index) => builtGroups[index] ?? []);
            if (has.closed) closed.add(n + 1);
            return buyer({
              id: n + 1,
              tier,
              weight,
              direct: direct || through.length === 0,
              groups: through,
              paused: has.paused ?? false,
              used_up: usedUp(has.cap),
              number: has.no_number ? null : '+12125550100',
              business_hours: [openMinutes([{ day: has.closed ? 2 : 1, times: ['08:00..09:00'] }])],
              suppressed_by: has.suppressed ? [{ id: 4, name: 'DNC' }] : [],
              record_token_filter_list: has.filtered ? ['state:CA'] : [],
              last_call_at: has.just_called ? NOW : null,
            });
          },
        );
        const having = (fault: keyof (typeof drawn)[number]['faults']) =>
          drawn.flatMap((entry, n) => (entry.faults[fault] ? [n + 1] : []));
        const facts: RouteFacts = {
          now: NOW,
          seed,
          tokens: ownTokens({ state: 'TX' }),
          refused: refused && { reason: refused, message: 'no' },
          tried: new Set(having('tried')),
          spacing_seconds: 30,
          only_buyer_id: only === null ? undefined : only + 1,
          pays_again_at: new Map(
            having('paid').map((id) => [id, new Date(NOW.getTime() + 60_000)]),
          ),
        };
        const { choices, considered } = route(candidates, facts);
        const consideredById = new Map(considered.map((entry) => [entry.buyer_id, entry]));
        expect([considered.length, consideredById.size]).toEqual([
          candidates.length,
          candidates.length,
        ]);
        for (const candidate of candidates) {
          const against = collectReasons(candidate, facts, closed.has(candidate.id));
          const { reason, rank, available } = consideredById.get(candidate.id)!;
          expect([candidate.id, reason]).toEqual([
            candidate.id,
            REASONS.find((code) => against.has(code)) ?? null,
          ]);
          expect([rank !== null, available]).toEqual([against.size === 0, against.size === 0]);
        }
        // A buyer comes by the best of its open ways: none has a lower tier.
        for (const { tier, members, group: atOnce } of choices)
          for (const { buyer: candidate, group: viaGroup } of members) {
            expect([
              consideredById.get(candidate.id)!.reason,
              viaGroup?.paused ?? false,
              viaGroup?.used_up ?? null,
            ]).toEqual([null, false, null]);
            const open = candidate.groups.filter(({ paused, used_up }) => !paused && !used_up);
            const tiers = open.map((openGroup) =>
              openGroup.dial_buyers_type === 'simultaneously' ? openGroup.tier : candidate.tier,
            );
            expect([viaGroup === null ? candidate.direct : open.includes(viaGroup), tier]).toEqual([
              true,
              Math.min(...(candidate.direct ? [candidate.tier] : []), ...tiers),
            ]);
            expect(atOnce === null || atOnce === viaGroup).toBe(true);
          }
        const order = choices.map(({ tier }) => tier);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: repetitions(200, 1_000) * Number(process.env.FUZZ_TIMES ?? 1) },
  );
});

const CALLS = repetitions(10_000, 100_000);

test(`choices of the lowest tier share ${CALLS} calls by weight, a ringing group as one`, () => {
  const atOnce = group({ id: 3, dial_buyers_type: 'simultaneously', tier: 1, weight: 4 });
  const member = { direct: false, groups: [atOnce], weight: 100 };
  const candidates = [
    buyer({ id: 1, weight: 1 }),
    buyer({ id: 2, weight: 2 }),
    buyer({ id: 3, weight: 5 }),
    buyer({ id: 4, ...member }),
    buyer({ id: 5, ...member }),
  ];
  const counts = new Map<number, number>();
  const tokens = ownTokens({});
  for (let n = 0; n < CALLS; n++) {
    const [first] = route(candidates, { now: NOW, seed: `call ${n}`, tokens }).choices;
    const id = first!.members[0]!.buyer.id;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted()).toEqual([1, 2, 3, 4]);
  const expected = [1, 2, 5, 4].map((weight) => (CALLS * weight) / 12);
  const chiSquare = expected.reduce(
    (sum, share, n) => sum + (counts.get(n + 1)! - share) ** 2 / share,
    0,
  );
  // Three degrees of freedom.
  expect(chiSquare).toBeLessThan(16.27);
});
