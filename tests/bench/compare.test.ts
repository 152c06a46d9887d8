import { compareLine } from '../../scripts/bench/compare';
import type { Line } from '../../scripts/bench/lines';
import { memoryTrend } from '../../scripts/bench/soak-memory';

// Conclusions that the benches draw from their figures.

const turns = (better: Line['better'], values: number[]): Line[][] =>
  values.map((value) => [{ line: 'show', value, unit: '/s', better }]);
const compare = (better: Line['better'], before: number[], after: number[]) =>
  compareLine('show', turns(better, before), turns(better, after));

test('a line that is worse by more than the tolerance in every turn is slower', () => {
  expect(compare('higher', [100, 110, 90], [70, 80, 75])).toMatchObject({
    before: 100,
    after: 75,
    ratio: 0.75,
    turns: [0.7, 0.73, 0.83],
    is_slower: true,
  });
  expect(compare('lower', [10, 11, 9], [14, 13, 15])).toMatchObject({
    ratio: 0.71,
    is_slower: true,
  });
});

test('one slow turn is noise, and so is a difference within the tolerance', () => {
  expect(compare('higher', [100, 100, 100], [101, 20, 99]).is_slower).toBe(false);
  expect(compare('higher', [100, 100, 100], [70, 70, 130]).is_slower).toBe(false);
  expect(compare('higher', [100, 100, 100], [90, 90, 90]).is_slower).toBe(false);
});

test('what is faster is not slower, whether more or less is better', () => {
  expect(compare('higher', [100, 100, 100], [200, 210, 190])).toMatchObject({
    ratio: 2,
    is_slower: false,
  });
  expect(compare('lower', [10, 10, 10], [5, 4, 6])).toMatchObject({ ratio: 2, is_slower: false });
});

test('memory that grows after the warm-up has a slope, and caches that fill before have none', () => {
  const points = (mb: (minute: number) => number) =>
    Array.from({ length: 101 }, (_, n) => ({ minutes: n / 10, mb: mb(n / 10) }));
  expect(memoryTrend(points((minute) => 100 + 5 * minute)).mb_a_minute).toBeCloseTo(5);
  expect(memoryTrend(points((minute) => Math.min(300, 100 + 150 * minute)))).toEqual({
    first_mb: 300,
    last_mb: 300,
    peak_mb: 300,
    mb_a_minute: 0,
  });
});
