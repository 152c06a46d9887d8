import fc from 'fast-check';
import {
  pickEmptiestNode,
  isOfOneCompany,
  planCells,
  planMoves,
} from '../../../src/operate/cells/plan';

// The cells to which companies go when a database is distributed.

const companies = (...records: number[]) =>
  records.map((count, n) => ({ id: String(n + 1), records: count }));

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
      const input = companies(...records);
      const planned = planCells(input, cells);
      const placed = planned.flatMap((cell) => cell.companies);
      expect(placed.toSorted()).toEqual(input.map(({ id }) => id).toSorted());
      const total = records.reduce((sum, count) => sum + count, 0);
      const most = Math.max(...planned.map((cell) => cell.records));
      expect(most).toBeLessThanOrEqual(total / cells + Math.max(0, ...records));
    }),
  );
});

const nodes = [1, 2, 3].map((groupid) => ({ groupid, host: `node-${groupid}`, port: 5432 }));

test('a cell is for one company if that has more than the share of a cell', () => {
  const planned = planCells(companies(1_000, 1, 1, 1), 2);
  expect(planned.map((cell) => isOfOneCompany(cell, planned))).toEqual([true, false]);
  const alone = planCells(companies(5, 5), 2);
  expect(alone.map((cell) => isOfOneCompany(cell, alone))).toEqual([false, false]);
});

test('a new cell goes to the node with the fewest', () => {
  const cells = [{ groupid: 1 }, { groupid: 1 }, { groupid: 3 }, { groupid: null }];
  expect(pickEmptiestNode(nodes, cells).groupid).toBe(2);
});

test('cells are moved from full nodes to empty ones, and not without need', () => {
  const cell = (id: number, groupid: number, bytes: number) => ({ id, groupid, bytes });
  const full = [cell(1, 1, 60), cell(2, 1, 30), cell(3, 1, 30), cell(4, 2, 10)];
  expect(planMoves(full, nodes).map(({ cell: id, to }) => [id, to.groupid])).toEqual([
    [1, 3],
    [2, 2],
  ]);
  expect(planMoves([cell(1, 1, 50), cell(2, 2, 52), cell(3, 3, 48)], nodes)).toEqual([]);
  expect(planMoves([cell(1, 1, 500)], nodes)).toEqual([]);
});

test('a plan of moves never makes the fullest node fuller, and moves a cell once at most', () => {
  const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(1_000)), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(sizes, (input) => {
      const cells = input.map(([groupid, bytes], n) => ({ id: n + 1, groupid, bytes }));
      const moves = planMoves(cells, nodes);
      expect(new Set(moves.map(({ cell }) => cell)).size).toBe(moves.length);
      const targetByCell = new Map(moves.map(({ cell, to }) => [cell, to.groupid]));
      const fullest = (of: (cell: (typeof cells)[number]) => number) =>
        Math.max(
          ...nodes.map(({ groupid }) =>
            cells.reduce((sum, cell) => sum + (of(cell) === groupid ? cell.bytes : 0), 0),
          ),
        );
      expect(fullest(({ id, groupid }) => targetByCell.get(id) ?? groupid)).toBeLessThanOrEqual(
        fullest(({ groupid }) => groupid),
      );
    }),
  );
});
