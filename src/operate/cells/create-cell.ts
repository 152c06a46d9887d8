import { Client } from 'pg';
import { migrate } from '../../data/postgres/migrate';
import { sqlOn } from '../../data/sql';
import { dropConstraints } from '../../data/postgres/whole-tables';
import { withClient } from '../../data/postgres/with-client';
import { buildNodeUrl, withSettings, type Node } from './address';
import { attachCell, prepareNode } from './attach';
import { listNodes, findNode } from './nodes';
import { EXTENSIONS, idsSchema, localSchema, runOnNode } from './on-node';
import { DISTRIBUTE_SCHEMA, MOVE_EMPTY_SCHEMA } from './queries/create';

export interface Cell {
  id: number;
  schema: string;
  node: Node;
}

export const toSchemaName = (id: number): string => `cell_${id}`;

/** A session at the coordinator that looks up unqualified names in a schema. */
export const buildSchemaUrl = (url: string, schema: string): string =>
  withSettings(url, {
    timezone: 'UTC',
    search_path: `${schema},${EXTENSIONS}`,
    client_min_messages: 'warning',
  });

/**
 * Makes a cell on a node: first all tables in a schema of their own, then the rows that `fill`
 * writes, then indexes, foreign keys, and everything the service needs on the node. Leftovers of an
 * earlier attempt are removed first.
 */
export async function createCell(
  coordinator: string,
  { id, on }: { id: number; on: Node },
  fill: (cell: Cell) => Promise<void> = async () => {},
): Promise<Cell> {
  const schema = toSchemaName(id);
  const url = buildSchemaUrl(coordinator, schema);
  await dropCell(coordinator, schema);
  const client = new Client(url);
  return withClient(client, async () => {
    const sql = sqlOn(client);
    await client.query(`CREATE SCHEMA ${schema}`);
    await migrate(url);
    // A move cannot follow an unlogged table.
    await client.query('ALTER TABLE rate_limits SET LOGGED');
    const construct = await dropConstraints(client, schema);
    await sql(DISTRIBUTE_SCHEMA, { schema });
    const chosen = (await findNode(sql, schema))!;
    const { groupid, host, port } = on;
    if (chosen.groupid !== groupid) await sql(MOVE_EMPTY_SCHEMA, { schema, host, port });
    const cell = { id, schema, node: on };
    await fill(cell);
    await construct();
    const onNode = buildNodeUrl(coordinator, on);
    await prepareNode(onNode);
    await attachCell(onNode, cell, new Map());
    return cell;
  });
}

/** Removes a cell with all of its rows, and its leftovers on any node. */
export async function dropCell(coordinator: string, schema: string): Promise<void> {
  const client = new Client(buildSchemaUrl(coordinator, schema));
  await withClient(client, async () => {
    for (const node of await listNodes(sqlOn(client))) await dropOnNode(coordinator, node, schema);
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  });
}

/** Removes from a node the schemas of a cell that is not, or no longer, there. */
export const dropOnNode = (coordinator: string, node: Node, schema: string): Promise<void> =>
  runOnNode(buildNodeUrl(coordinator, node), schema, async (client) => {
    for (const nodeSchema of [localSchema(schema), idsSchema(schema)])
      await client.query(`DROP SCHEMA IF EXISTS ${nodeSchema} CASCADE`);
  });
