import { drawBy } from '../../../../src/domain/routing/engine/draw';
import type { Candidate } from '../../../../src/domain/routing/engine/candidate';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buyer, route } from '../../../support/candidates';

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');
/** Ids of the buyers in the order in which they are tried. */
const listTried = (candidates: Candidate[]) =>
  route(candidates, { now: NOW, tokens: ownTokens({}), seed: 'seed' }).choices.map(({ members }) =>
    members.map(({ buyer: { id } }) => id),
  );

/** Keys in the order in which they come up. */
const drawOrder = (seed: string, entries: readonly { key: number; weight: number }[]): number[] => {
  const draw = drawBy(seed);
  const drawn = entries.map(({ key, weight }) => ({ key, at: draw(key, weight) }));
  return drawn.toSorted((a, b) => a.at - b.at).map(({ key }) => key);
};

describe('a draw', () => {
  test('gives each entry its share of 100,000 first places', () => {
    const entries = [1, 2, 5, 12, 30, 50].map((weight, n) => ({ key: (n + 1) * 2, weight }));
    const counts = new Map(entries.map(({ key }) => [key, 0]));
    const total = 100_000;
    for (let n = 0; n < total; n++) {
      const first = drawOrder(`call ${n}`, entries)[0]!;
      counts.set(first, counts.get(first)! + 1);
    }
    const sum = entries.reduce((all, { weight }) => all + weight, 0);
    const chiSquare = entries.reduce(
      (all, { key, weight }) =>
        all + (counts.get(key)! - (total * weight) / sum) ** 2 / ((total * weight) / sum),
      0,
    );
    // Five degrees of freedom.
    expect(chiSquare).toBeLessThan(20.52);
  });

  test('is even among a hundred equal entries, in the first place and in the second', () => {
    const entries = Array.from({ length: 100 }, (_, n) => ({ key: n * 2, weight: 1 }));
    const positionCounts = [new Map<number, number>(), new Map<number, number>()];
    for (let n = 0; n < 10_000; n++) {
      const sorted = drawOrder(String(n), entries);
      positionCounts.forEach((counts, index) =>
        counts.set(sorted[index]!, (counts.get(sorted[index]!) ?? 0) + 1),
      );
    }
    // 99 degrees of freedom, once in ten thousand times.
    for (const counts of positionCounts)
      expect(
        entries.reduce((all, { key }) => all + ((counts.get(key) ?? 0) - 100) ** 2 / 100, 0),
      ).toBeLessThan(161);
  });

  test('puts entries without weight last, and does not depend on the other entries', () => {
    const draw = drawBy('x');
    expect(draw(2, 0)).toBe(Infinity);
    expect(listTried([buyer({ id: 1, weight: 0 }), buyer({ id: 2, weight: 0.001 })])).toEqual([
      [2],
      [1],
    ]);
    const many = Array.from({ length: 20 }, (_, n) => buyer({ id: n + 1 }));
    const all = listTried(many).flat();
    expect(listTried(many.filter(({ id }) => id % 3 > 0)).flat()).toEqual(
      all.filter((id) => id % 3 > 0),
    );
  });
});
