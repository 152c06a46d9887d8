import fc from 'fast-check';
import type { Candidate } from '../../../../src/domain/routing/engine/candidate';
import type { RouteFacts } from '../../../../src/domain/routing/engine/evaluate';
import { buyer, group, route, tokens } from '../../../support/candidates';

const facts = (more: Partial<RouteFacts> = {}): RouteFacts => ({
  now: new Date('2026-06-01T12:30:00Z'),
  tokens,
  seed: 'seed',
  ...more,
});
/** Ids of the buyers that are tried, grouped by round. */
const listTried = (candidates: Candidate[], more: Partial<RouteFacts> = {}) =>
  route(candidates, facts(more)).choices.map(({ members }) =>
    members.map(({ buyer: { id } }) => id),
  );

describe('a carrier that rings few at once', () => {
  const all = group({ id: 9, dial_buyers_type: 'simultaneously' });
  const members = (count: number, changes: (n: number) => Partial<Candidate> = () => ({})) =>
    Array.from({ length: count }, (_, n) =>
      buyer({ id: n + 1, direct: false, groups: [all], ...changes(n) }),
    );

  test('rings as many, and every buyer is either rung or not_rung', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.integer({ min: 1, max: 12 }), fc.string(), (count, legs, seed) => {
        const { choices, considered } = route(members(count), facts({ max_legs: legs, seed }));
        const rung = choices.flatMap((choice) => choice.members.map(({ buyer: { id } }) => id));
        expect(rung).toHaveLength(Math.min(count, legs));
        const left = considered.filter(({ reason }) => reason === 'not_rung');
        expect(
          [...rung, ...left.map(({ buyer_id }) => buyer_id)].toSorted((a, b) => a - b),
        ).toEqual(members(count).map(({ id }) => id));
        expect(left.every(({ rank }) => rank === null)).toBe(true);
      }),
    );
  });

  test('rings the next ones when the first were tried, until none is left', () => {
    const rounds: number[][] = [];
    const before = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const [ids = []] = listTried(members(25), { max_legs: 10, tried: before, seed: `${round}` });
      rounds.push(ids);
      ids.forEach((id) => before.add(id));
    }
    expect(rounds.map(({ length }) => length)).toEqual([10, 10, 5, 0]);
    expect(before.size).toBe(25);
  });

  test('prefers the previous buyer, reserved ones, low tiers, then the draw by weight', () => {
    const ofTiers = members(12, (n) => ({ tier: n < 2 ? 1 : 2 }));
    const more = { max_legs: 3, first_buyer_id: 12, reserved: new Set([11]) };
    expect(listTried(ofTiers, { ...more, max_legs: 4 })).toEqual([[1, 2, 11, 12]]);
    const counts = new Map<number, number>();
    const weighted = members(4, (n) => ({ weight: n === 0 ? 9 : 1 }));
    for (let n = 0; n < 300; n++)
      for (const id of listTried(weighted, { max_legs: 1, seed: `${n}` })[0]!)
        counts.set(id, (counts.get(id) ?? 0) + 1);
    // 75 % is expected.
    expect(counts.get(1)! / 300).toBeGreaterThan(0.6);
  });

  test('leaves a smaller group, and single buyers, as they are', () => {
    const alone = buyer({ id: 40 });
    expect(
      listTried([...members(3), alone], { max_legs: 3 })
        .map(({ length }) => length)
        .toSorted(),
    ).toEqual([1, 3]);
  });
});
