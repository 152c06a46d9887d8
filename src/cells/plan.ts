/** What is known of a company before it is given to a cell. */
export interface CompanyToPlace {
  id: string;
  records: number;
}

export interface PlannedCell {
  id: number;
  companies: string[];
  records: number;
}

/**
 * Gives companies to new cells so that these have about as many records each: the largest company
 * first, always to the cell with the fewest records. A company with more records than a cell's
 * share has a cell of its own.
 */
export function planCells(companies: readonly CompanyToPlace[], cells: number): PlannedCell[] {
  const planned = Array.from({ length: cells }, (_, n) => ({
    id: n + 1,
    companies: [] as string[],
    records: 0,
  }));
  for (const { id, records } of companies.toSorted((a, b) => b.records - a.records)) {
    const cell = planned.reduce((least, each) =>
      each.records < least.records ||
      (each.records === least.records && each.companies.length < least.companies.length)
        ? each
        : least,
    );
    cell.companies.push(id);
    cell.records += records;
  }
  return planned;
}
