import { loadClientModule } from '../support/client-module';

// A chart of the console cuts no text: the names below it fit, and its axis has round numbers.

interface Scale {
  findTicks: (values: readonly number[], count: number) => number[];
  arrangeLabels: (
    widths: readonly number[],
    sides: { left: number; right: number },
  ) => { index: number; x: number }[];
}
const { findTicks, arrangeLabels } = loadClientModule<Scale>('parts/scale.ts');

test.each<[number[], number[]]>([
  [[], [0, 1]],
  [
    [0, 0],
    [0, 1],
  ],
  [
    [3, 38],
    [0, 10, 20, 30, 40],
  ],
  [
    [0.3, 0.1],
    [0, 0.1, 0.2, 0.3],
  ],
  [
    [2, 1],
    [0, 1, 2],
  ],
  [
    [-12, 30],
    [-20, 0, 20, 40],
  ],
  [
    [1000, 4000],
    [0, 1000, 2000, 3000, 4000],
  ],
])('the axis for %p', (values, ticks) => {
  expect(findTicks(values, 4)).toEqual(ticks);
});

test.each([200, 320, 700, 1600])('in %p px no name is cut and none touches another', (right) => {
  for (const count of [1, 2, 7, 31, 90])
    for (const width of [20, 70, 120]) {
      const labels = arrangeLabels(Array<number>(count).fill(width), { left: 40, right });
      expect(labels[0]).toMatchObject({ index: 0 });
      for (const [n, { x }] of labels.entries()) {
        expect(x - width / 2).toBeGreaterThanOrEqual(0);
        expect(x + width / 2).toBeLessThanOrEqual(right);
        if (n > 0) expect(x - labels[n - 1]!.x).toBeGreaterThan(width);
      }
    }
});
