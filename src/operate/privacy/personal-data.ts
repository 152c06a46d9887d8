import { SETTINGS } from './tables/settings';
import { RECORDS } from './tables/records';
import type { PersonalData, TableData } from './tables/table-data';

/**
 * The one declaration of personal data of callers and called persons: every column of the database
 * that can hold text or a telephone number, with the effect of an erasure on it.
 * tests/operate/privacy/personal-data.test.ts compares it with the schema.
 */
export const PERSONAL_DATA: PersonalData = { ...RECORDS, ...SETTINGS };

const listColumns = (columns: string | undefined): string[] => columns?.split(' ') ?? [];

export interface SearchedTable {
  table: string;
  columns: string[];
}

const listSearchedTables = (pick: (data: TableData) => string[]): SearchedTable[] =>
  Object.entries(PERSONAL_DATA)
    .map(([table, data]) => ({ table, columns: pick(data) }))
    .filter(({ columns }) => columns.length > 0);

/** Text from which the number and the addresses of a person are removed. */
export const REDACTED_TABLES: readonly SearchedTable[] = listSearchedTables(({ redacted }) =>
  listColumns(redacted),
);

/**
 * Columns that stay and are searched, so that the receipt can count the rows that name the person.
 */
export const COUNTED_TABLES: readonly SearchedTable[] = listSearchedTables(({ keptColumns = [] }) =>
  keptColumns.flatMap(({ columns, is_counted }) => (is_counted ? listColumns(columns) : [])),
);

export interface KeptTableColumns {
  table: string;
  columns: string[];
  why: string;
}

/** Columns that stay and name a person, or may name one, and why. */
export const KEPT_TABLE_COLUMNS: readonly KeptTableColumns[] = Object.entries(
  PERSONAL_DATA,
).flatMap(([table, { keptColumns = [] }]) =>
  keptColumns.map(({ columns, why }) => ({ table, columns: listColumns(columns), why })),
);
