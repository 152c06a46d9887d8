import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { PRISMA_FOLDER } from '../db/migrate';
import { sqlOn } from '../db/sql';
import { prepareQueue } from '../jobs/queue';
import { withSettings, type Node } from './address';
import { HAS_QUEUE, LIST_VIEWS, MAKE_SEQUENCES, SET_SEQUENCES } from './queries/attach';

// The tables of a cell are distributed tables of Citus, which live on one node. Planned by Citus, a
// statement of ours costs several times as much as running it, because only the simplest plans are
// kept. So the service connects to the node itself and uses the tables there directly, through
// views with their names: PostgreSQL then plans and keeps plans as in any database.
//
// Citus must not move tables that are written behind its back. A cell is moved by detaching it,
// which waits for the transactions that use the views (move-cell.ts).

/** The schema with the views and functions of a cell, on the node that has it. */
export const localSchema = (schema: string): string => `${schema}_local`;

/** Where operator classes and functions of extensions are. */
export const EXTENSIONS = 'extensions';

/** In which schemas names are looked up on the node of a cell. */
export const searchPath = (schema: string): string =>
  [localSchema(schema), schema, EXTENSIONS].join();

export interface Attached {
  id: number;
  schema: string;
  node: Node;
}

/** Makes the views and functions of a cell on the node that has its tables, all or none. */
export async function attachCell(url: string, { id, schema, node }: Attached): Promise<void> {
  const local = localSchema(schema);
  await onNode(url, schema, async (client) => {
    const sql = sqlOn(client);
    const [queue] = await sql(HAS_QUEUE, {});
    // Citus copies types of the coordinator's queue to its nodes, and nothing else of it.
    if (!queue!.has_queue) await client.query('DROP SCHEMA IF EXISTS jobs CASCADE');
    await client.query('BEGIN');
    await client.query(`DROP SCHEMA IF EXISTS ${local} CASCADE`);
    await client.query(`CREATE SCHEMA ${local}`);
    for (const { command } of await sql(MAKE_SEQUENCES, { schema })) await client.query(command!);
    await sql(SET_SEQUENCES, { schema, groupid: node.groupid, cell: id });
    for (const { command } of await sql(LIST_VIEWS, { schema, local }))
      await client.query(command!);
    await client.query(readFileSync(join(PRISMA_FOLDER, 'functions.sql'), 'utf8'));
    await client.query('COMMIT');
  });
  // The queue of jobs is that of the node, and stays there.
  await prepareQueue(withSettings(url, { timezone: 'UTC', ...ON_NODE }));
}

/** How long a detaching cell makes requests wait for a transaction that uses it. */
const MAX_WAIT = '1s';
const PAUSE_MS = 1_000;

/**
 * Removes the views and functions of a cell, after the transactions that use them. From then on
 * statements there go through Citus, or fail. While a long transaction uses them, it tries again
 * and again: whoever waits for a lock makes all others wait too.
 */
export const detachCell = (url: string, schema: string): Promise<void> =>
  onNode(url, schema, async (client) => {
    await client.query(`SET lock_timeout = '${MAX_WAIT}'`);
    while (!(await dropped(client, localSchema(schema)))) await setTimeout(PAUSE_MS);
  });

const dropped = (client: Client, local: string): Promise<boolean> =>
  client.query(`DROP SCHEMA IF EXISTS ${local} CASCADE`).then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === '55P03') return false;
      throw error;
    },
  );

/** What is done concerns the node alone, and its shards can be seen. */
const ON_NODE = {
  'citus.enable_ddl_propagation': 'off',
  'citus.override_table_visibility': 'off',
};

/** Runs commands that concern a node alone. */
async function onNode(
  url: string,
  schema: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({
    connectionString: withSettings(url, {
      timezone: 'UTC',
      search_path: searchPath(schema),
      ...ON_NODE,
      client_min_messages: 'warning',
    }),
  });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
