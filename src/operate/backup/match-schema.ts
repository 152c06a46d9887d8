import { listSequences, listTables } from '../../data/postgres/whole-tables';
import type { Sql } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { quoteName } from './archive';
import { JOBS, type Manifest } from './manifest';
import { JOB_COLUMNS } from './queries/snapshot';

/** A table of an archive, with the names of this database. */
export interface MatchedTable {
  target: string;
  /** In the order of the archive. */
  columns: string;
}

export interface MatchedSchema {
  /** By names in the archive. */
  tables: Map<string, MatchedTable>;
  /** Sequences of this database, with the last values from the archive. */
  sequences: { name: string; value: string }[];
}

/** Holds the rows of jobs until it is known which of them this version has. */
export const LOADED_JOBS = 'backup_jobs';

/**
 * Maps the names in an archive to tables, columns and sequences of the database: only names of the
 * database become SQL. Throws StartError for a name that it does not have.
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
    const tableColumns = name === JOBS ? jobs!.columns! : tables.get(name.replace(/^public\./, ''));
    if (tableColumns === undefined || (name !== JOBS && !name.startsWith('public.')))
      return refuse('table', name);
    const target = name === JOBS ? LOADED_JOBS : name;
    const columns = matchColumns(tableColumns, list);
    // The version of the queue here may have added columns, which have defaults.
    if (!columns || (name !== JOBS && columns.length !== tableColumns.split(', ').length))
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

/** Columns of a table in the order of a list; undefined if the list has others, or one twice. */
function matchColumns(tableColumns: string, list: string): string[] | undefined {
  const free = new Map(tableColumns.split(', ').map((column) => [column, column]));
  const columns = list.split(', ').map((name) => {
    const column = free.get(name);
    free.delete(name);
    return column;
  });
  return columns.every((column) => column !== undefined) ? columns : undefined;
}
