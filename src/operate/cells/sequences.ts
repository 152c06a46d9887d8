import type { Client } from 'pg';
import { sqlOn } from '../../data/sql';
import { continueSequence, listUsedSequences } from '../../data/postgres/whole-tables';
import { idsSchema, runOnNode } from './on-node';
import { LIST_SEQUENCES } from './queries/create';

// Every cell has its own sequences on its node, because Citus gives the sequences of a table
// another range on every node. They move with the cell.

/** Last used value by sequence. */
export type UsedSequences = ReadonlyMap<string, bigint>;

/** An id of a cell is its number and 38 more bits: 16,384 cells stay below 2^52. */
export const CELL_BITS = 38;

/** Last values of a cell's sequences, over all nodes that have some of them. */
export async function readSequences(
  urls: readonly string[],
  schema: string,
): Promise<UsedSequences> {
  const read = (url: string) =>
    runOnNode(url, schema, (client) => listUsedSequences(sqlOn(client), idsSchema(schema)));
  const used = new Map<string, bigint>();
  for (const { name, last_value } of (await Promise.all(urls.map(read))).flat()) {
    const value = BigInt(last_value);
    if (value > (used.get(name) ?? 0n)) used.set(name, value);
  }
  return used;
}

/** Makes the sequences that the node lacks, and continues them after the used values. */
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
