import type { Client } from 'pg';
import {
  LIST_CONSTRUCTION,
  LIST_SEQUENCES,
  LIST_TABLES,
  LIST_USED_SEQUENCES,
  SET_SEQUENCE,
} from './queries/whole-tables';
import { sqlOn, type Row, type Sql } from './sql';

// What copies of whole databases are made of.

/** A table of the schema `public`: its columns are a list as SQL has it. */
export type Table = Row<'db.list_tables'> & { name: string; columns: string };

/** All tables but that of the migrations, the largest first. */
export const listTables = (sql: Sql): Promise<Table[]> => sql(LIST_TABLES, {});

/**
 * Takes foreign keys and all indexes that belong to no constraint from the tables of a schema:
 * filling them is faster then, and needs no order. Returns what makes them again.
 */
export async function takeConstruction(
  client: Pick<Client, 'query'>,
  schema: string,
): Promise<() => Promise<void>> {
  const construction = await sqlOn(client)(LIST_CONSTRUCTION, { schema });
  for (const { take } of construction) await client.query(take!);
  return async () => {
    for (const { make } of construction.toReversed()) await client.query(make!);
  };
}

/** The sequences of a schema of which something was taken, and the last value that was. */
export const listUsedSequences = async (
  sql: Sql,
  schema: string,
): Promise<{ name: string; last_value: string }[]> =>
  (await sql(LIST_USED_SEQUENCES, { schema })).map(({ name, last_value }) => ({
    name: name!,
    last_value: last_value!,
  }));

/** The sequences of a schema: their names, and how SQL spells them. */
export const listSequences = (sql: Sql, schema: string): Promise<{ name: string; sql: string }[]> =>
  sql(LIST_SEQUENCES, { schema });

/** Continues a sequence after a value, unless it is further already. */
export async function continueSequence(sql: Sql, sequence: string, value: string): Promise<void> {
  await sql(SET_SEQUENCE, { sequence, value });
}
