import { SETTINGS } from './tables/settings';
import { RECORDS } from './tables/records';
import type { PersonalData, TableData } from './tables/table-data';

/**
 * The one declaration of what belongs to a person who calls or is called: every column of the
 * database that can hold text or a telephone number, with what erasing a person does to it.
 * tests/erasure/personal-data.test.ts compares it with the schema.
 */
export const PERSONAL_DATA: PersonalData = { ...RECORDS, ...SETTINGS };

const listColumns = (columns: string | undefined): string[] => columns?.split(' ') ?? [];

export interface SearchedTable {
  table: string;
  columns: string[];
}

const searchedTables = (pick: (data: TableData) => string[]): SearchedTable[] =>
  Object.entries(PERSONAL_DATA)
    .map(([table, data]) => ({ table, columns: pick(data) }))
    .filter(({ columns }) => columns.length > 0);

/** Text out of which the number and the addresses of a person are taken. */
export const REDACTED: readonly SearchedTable[] = searchedTables(({ redacted }) =>
  listColumns(redacted),
);

/** What stays, and is searched so that the receipt can say how many rows name the person. */
export const COUNTED: readonly SearchedTable[] = searchedTables(({ kept = [] }) =>
  kept.flatMap(({ columns, is_counted }) => (is_counted ? listColumns(columns) : [])),
);

export interface KeptColumns {
  table: string;
  columns: string[];
  why: string;
}

/** What stays of a person, or may name one, and why. */
export const KEPT: readonly KeptColumns[] = Object.entries(PERSONAL_DATA).flatMap(
  ([table, { kept = [] }]) =>
    kept.map(({ columns, why }) => ({ table, columns: listColumns(columns), why })),
);
