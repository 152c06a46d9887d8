import { Client } from 'pg';
import { migrate } from '../db/migrate';
import { sqlOn, type Sql } from '../db/sql';
import { urlOfNode, withSettings, type Node } from './address';
import { attachCell, EXTENSIONS } from './attach';
import { FIND_NODE_OF_SCHEMA } from './queries/cluster';
import { DISTRIBUTE_SCHEMA } from './queries/create';
import { LIST_CONSTRUCTION } from './queries/fill';

export interface Cell {
  id: number;
  schema: string;
  node: Node;
}

export const schemaOf = (id: number): string => `cell_${id}`;

/** A session at the coordinator whose unqualified names are those of a schema. */
export const urlOfSchema = (url: string, schema: string): string =>
  withSettings(url, {
    timezone: 'UTC',
    search_path: `${schema},${EXTENSIONS}`,
    client_min_messages: 'warning',
  });

/**
 * Makes a cell: all tables in a schema of their own, on the node that Citus chooses; then `fill`
 * writes rows; then indexes, foreign keys, and what the service needs on the node. What an earlier
 * try has left of it is removed first.
 */
export async function createCell(
  coordinator: string,
  id: number,
  fill: (cell: Cell) => Promise<void> = async () => {},
): Promise<Cell> {
  const schema = schemaOf(id);
  const url = urlOfSchema(coordinator, schema);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const sql = sqlOn(client);
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.query(`CREATE SCHEMA ${schema}`);
    await migrate(url);
    // What is not logged cannot be followed by a move.
    await client.query('ALTER TABLE rate_limits SET LOGGED');
    const construction = await sql(LIST_CONSTRUCTION, { schema });
    for (const { take } of construction) await client.query(take!);
    await sql(DISTRIBUTE_SCHEMA, { schema });
    const cell = { id, schema, node: (await nodeOf(sql, schema))! };
    await fill(cell);
    for (const { make } of construction.toReversed()) await client.query(make!);
    await attachCell(urlOfNode(coordinator, cell.node), cell);
    return cell;
  } finally {
    await client.end();
  }
}

/** The node that has the tables of a schema. */
export async function nodeOf(sql: Sql, schema: string): Promise<Node | undefined> {
  const [node] = await sql(FIND_NODE_OF_SCHEMA, { schema });
  return node;
}
