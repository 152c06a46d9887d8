import fc from 'fast-check';
import { planCells } from '../../src/cells/plan';

// Which company goes to which cell of a database that is distributed.

const companies = (...records: number[]) =>
  records.map((each, n) => ({ id: String(n + 1), records: each }));

test('the largest companies are apart, and small ones fill up the cells', () => {
  expect(planCells(companies(5, 100, 40, 50, 10), 2)).toEqual([
    { id: 1, companies: ['2', '1'], records: 105 },
    { id: 2, companies: ['4', '3', '5'], records: 100 },
  ]);
});

test('companies without records are spread by their number', () => {
  const planned = planCells(companies(0, 0, 0, 0, 0), 2);
  expect(planned.map((cell) => cell.companies.length)).toEqual([3, 2]);
});

test('a company with more than the share of a cell has one of its own', () => {
  expect(planCells(companies(1_000, 1, 1, 1), 2)[0]!.companies).toEqual(['1']);
});

test('each company is in one cell, and no cell has more than twice its share and the largest', () => {
  const sizes = fc.array(fc.nat(1_000), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 8 }), (records, cells) => {
      const given = companies(...records);
      const planned = planCells(given, cells);
      const placed = planned.flatMap((cell) => cell.companies);
      expect(placed.toSorted()).toEqual(given.map(({ id }) => id).toSorted());
      const total = records.reduce((sum, each) => sum + each, 0);
      const most = Math.max(...planned.map((cell) => cell.records));
      expect(most).toBeLessThanOrEqual(total / cells + Math.max(0, ...records));
    }),
  );
});
