import type { Client } from 'pg';
import { sqlOn } from '../db/sql';
import { continueSequence, listUsedSequences } from '../db/whole-tables';
import { idsSchema, onNode } from './on-node';
import { LIST_SEQUENCES } from './queries/sequences';

// Every cell has sequences of its own, on the node that has the cell, because Citus gives the
// sequences of a table another range on every node. A cell takes them along when it moves.

/** By sequence, the last value that was taken. */
export type UsedSequences = ReadonlyMap<string, bigint>;

/** A cell's ids are its number and 38 more bits: 16,384 cells stay below 2^52. */
export const CELL_BITS = 38;

/** What was taken of a cell's sequences, on all of the nodes that have some of them. */
export async function readSequences(
  urls: readonly string[],
  schema: string,
): Promise<UsedSequences> {
  const read = (url: string) =>
    onNode(url, schema, (client) => listUsedSequences(sqlOn(client), idsSchema(schema)));
  const used = new Map<string, bigint>();
  for (const { name, last_value } of (await Promise.all(urls.map(read))).flat()) {
    const value = BigInt(last_value);
    if (value > (used.get(name) ?? 0n)) used.set(name, value);
  }
  return used;
}

/** Makes the sequences of a cell that the node lacks, and continues them after what was taken. */
export async function makeSequences(
  client: Client,
  { id, schema }: { id: number; schema: string },
  used: UsedSequences,
): Promise<void> {
  const sql = sqlOn(client);
  const ids = idsSchema(schema);
  const first = (BigInt(id) << BigInt(CELL_BITS)) + 1n;
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${ids}`);
  for (const { name } of await sql(LIST_SEQUENCES, { schema })) {
    await client.query(
      `CREATE SEQUENCE IF NOT EXISTS ${ids}.${name} ` +
        `MINVALUE ${first} MAXVALUE ${first + (1n << BigInt(CELL_BITS)) - 2n} START ${first}`,
    );
    const value = used.get(name!);
    if (value !== undefined) await continueSequence(sql, `${ids}.${name}`, String(value));
  }
}
