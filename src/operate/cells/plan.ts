import type { Node } from './address';

export interface SizedCompany {
  id: string;
  records: number;
}

export interface PlannedCell {
  id: number;
  companies: string[];
  records: number;
}

/**
 * Assigns companies to new cells so that these have about as many records each: the largest company
 * first, always to the cell with the fewest records. A company with more records than a cell's
 * share gets a cell of its own.
 */
export function planCells(companies: readonly SizedCompany[], cells: number): PlannedCell[] {
  const planned = Array.from({ length: cells }, (_, n) => ({
    id: n + 1,
    companies: [] as string[],
    records: 0,
  }));
  for (const { id, records } of companies.toSorted((a, b) => b.records - a.records)) {
    const cell = planned.reduce((least, candidate) =>
      candidate.records < least.records ||
      (candidate.records === least.records && candidate.companies.length < least.companies.length)
        ? candidate
        : least,
    );
    cell.companies.push(id);
    cell.records += records;
  }
  return planned;
}

/** True if a planned cell has a single company, because that has more than a share. */
export const isOfOneCompany = (cell: PlannedCell, all: readonly PlannedCell[]): boolean =>
  cell.companies.length === 1 &&
  cell.records * all.length > all.reduce((sum, { records }) => sum + records, 0);

/** The node with the fewest cells; of several, the first. */
export const pickEmptiestNode = (
  nodes: readonly Node[],
  cells: readonly { groupid: number | null }[],
): Node => {
  const count = ({ groupid }: Node) => cells.filter((cell) => cell.groupid === groupid).length;
  return nodes.reduce((least, node) => (count(node) < count(least) ? node : least));
};

export interface SizedCell {
  id: number;
  groupid: number;
  bytes: number;
}

export interface PlannedMove {
  cell: number;
  to: Node;
}

/** A move is planned only if it lowers the fuller of two nodes by this part of the mean. */
const MIN_GAIN = 0.1;

/**
 * Plans moves so that all nodes have about as many bytes: repeatedly from the fullest node to the
 * emptiest, the cell after which the fuller of the two has the least.
 */
export function planMoves(cells: readonly SizedCell[], nodes: readonly Node[]): PlannedMove[] {
  const groupByCell = new Map(cells.map((cell) => [cell.id, cell.groupid]));
  const ofNode = ({ groupid }: Node) => cells.filter(({ id }) => groupByCell.get(id) === groupid);
  const countBytes = (node: Node) => ofNode(node).reduce((sum, { bytes }) => sum + bytes, 0);
  const mean = cells.reduce((sum, { bytes }) => sum + bytes, 0) / nodes.length;
  const moves: PlannedMove[] = [];
  // Each cell moves at most once.
  for (const left = new Set(cells.map(({ id }) => id)); left.size > 0;) {
    const byBytes = nodes.toSorted((a, b) => countBytes(b) - countBytes(a));
    const [fullest, emptiest] = [byBytes[0]!, byBytes.at(-1)!];
    const [high, low] = [countBytes(fullest), countBytes(emptiest)];
    const after = ({ bytes }: SizedCell) => Math.max(high - bytes, low + bytes);
    const [best] = ofNode(fullest)
      .filter(({ id }) => left.has(id))
      .toSorted((a, b) => after(a) - after(b));
    if (!best || after(best) > high - MIN_GAIN * mean) break;
    left.delete(best.id);
    groupByCell.set(best.id, emptiest.groupid);
    moves.push({ cell: best.id, to: emptiest });
  }
  return moves;
}
