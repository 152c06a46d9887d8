import { listSequences, listTables } from '../db/whole-tables';
import type { Sql } from '../db/sql';
import { StartError } from '../start-error';
import { quoteName } from './archive';
import { JOBS, type Manifest } from './manifest';
import { JOB_COLUMNS } from './queries/snapshot';

/** A table that an archive has, as this database calls it and its columns. */
export interface MatchedTable {
  target: string;
  /** In the order of the archive. */
  columns: string;
}

export interface MatchedSchema {
  /** By their names in the archive. */
  tables: Map<string, MatchedTable>;
  /** Sequences of this database, and the last value that the archive has of each. */
  sequences: { name: string; value: string }[];
}

/** Where the rows of jobs wait until it is clear which of them have a queue here. */
export const LOADED_JOBS = 'backup_jobs';

/**
 * Finds what an archive names among the tables, columns and sequences of the database: only names
 * of the database become SQL. Throws StartError for a name that it does not have.
 */
export async function matchSchema(
  sql: Sql,
  manifest: Manifest,
  file: string,
): Promise<MatchedSchema> {
  const tables = new Map((await listTables(sql)).map(({ name, columns }) => [name, columns]));
  const [jobs] = await sql(JOB_COLUMNS, {});
  const sequences = new Map(
    (await listSequences(sql, 'public')).map(({ name, sql: id }) => [name, id]),
  );
  const refuse = (kind: string, name: string): never => {
    throw new StartError(
      `${file} is no backup of Trunkline: there is no ${kind} ${quoteName(name)}.`,
    );
  };
  const matchTable = (name: string, list: string): MatchedTable => {
    const own = name === JOBS ? jobs!.columns! : tables.get(name.replace(/^public\./, ''));
    if (own === undefined || (name !== JOBS && !name.startsWith('public.')))
      return refuse('table', name);
    const target = name === JOBS ? LOADED_JOBS : name;
    const columns = matchColumns(own, list);
    // The queue's own version may have added columns, which have defaults.
    if (!columns || (name !== JOBS && columns.length !== own.split(', ').length))
      return refuse('table with the columns of', name);
    return { target, columns: columns.join(', ') };
  };
  return {
    tables: new Map(
      Object.entries(manifest.columns).map(([name, list]) => [name, matchTable(name, list)]),
    ),
    sequences: Object.entries(manifest.sequences).map(([name, value]) => ({
      name: sequences.get(name) ?? refuse('sequence', name),
      value,
    })),
  };
}

/** Columns of a table in the order of a list; undefined where the list has others, or one twice. */
function matchColumns(own: string, list: string): string[] | undefined {
  const free = new Map(own.split(', ').map((column) => [column, column]));
  const columns = list.split(', ').map((name) => {
    const column = free.get(name);
    free.delete(name);
    return column;
  });
  return columns.every((column) => column !== undefined) ? columns : undefined;
}
