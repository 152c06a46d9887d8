import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { createSorter } from '../../../../src/domain/suppression/csv/external-sort';
import { folder } from '../../../support/csv';

test('numbers that do not fit into memory are sorted too, and leave no file behind', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(10_000), { maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(320),
      (numbers, run, skip) => {
        const sorter = createSorter(folder, run);
        numbers.forEach(sorter.add);
        const sorted: number[] = [];
        for (const window of sorter.sorted(skip)) sorted.push(...window);
        expect(sorted).toEqual(numbers.toSorted((a, b) => a - b).slice(skip));
        sorter.close();
      },
    ),
    { numRuns: 200 },
  );
  const many = createSorter(folder, 50_000);
  for (let i = 0; i < 200_001; i++) many.add((i * 7_919) % 200_003);
  let [last, numberCount, ascending] = [-1, 0, true];
  for (const window of many.sorted())
    for (const number of window) {
      ascending &&= number > last;
      last = number;
      numberCount++;
    }
  many.close();
  expect([
    ascending,
    numberCount,
    readdirSync(folder).filter((name) => name.endsWith('.sort')),
  ]).toEqual([true, 200_001, []]);
});
