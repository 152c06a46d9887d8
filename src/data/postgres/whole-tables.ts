import type { Client } from 'pg';
import {
  LIST_CONSTRUCTION,
  LIST_SEQUENCES,
  LIST_TABLES,
  LIST_USED_SEQUENCES,
  SET_SEQUENCE,
} from './queries/whole-tables';
import { sqlOn, type Row, type Sql } from '../sql';

// Tables, constraints and sequences, for copies of whole databases.

/** A table of the schema `public`; `columns` is an SQL list. */
export type Table = Row<'db.list_tables'> & { name: string; columns: string };

/** All tables except that of the migrations, the largest first. */
export const listTables = (sql: Sql): Promise<Table[]> => sql(LIST_TABLES, {});

/**
 * Drops foreign keys and all indexes without a constraint from the tables of a schema: filling them
 * is faster then, and needs no order. Returns a function that creates them again.
 */
export async function dropConstraints(
  client: Pick<Client, 'query'>,
  schema: string,
): Promise<() => Promise<void>> {
  const construction = await sqlOn(client)(LIST_CONSTRUCTION, { schema });
  for (const { take } of construction) await client.query(take!);
  return async () => {
    for (const { make } of construction.toReversed()) await client.query(make!);
  };
}

/** Sequences of a schema that were used, with their last values. */
export const listUsedSequences = async (
  sql: Sql,
  schema: string,
): Promise<{ name: string; last_value: string }[]> =>
  (await sql(LIST_USED_SEQUENCES, { schema })).map(({ name, last_value }) => ({
    name: name!,
    last_value: last_value!,
  }));

/** The sequences of a schema, with their quoted SQL names. */
export const listSequences = (sql: Sql, schema: string): Promise<{ name: string; sql: string }[]> =>
  sql(LIST_SEQUENCES, { schema });

/** Continues a sequence after a value, unless it is already further. */
export async function continueSequence(sql: Sql, sequence: string, value: string): Promise<void> {
  await sql(SET_SEQUENCE, { sequence, value });
}
