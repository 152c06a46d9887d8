import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { functionsSource } from '../../data/postgres/migrate';
import { sqlOn } from '../../data/sql';
import { prepareQueue } from '../../data/jobs/queue';
import { withSettings, type Node } from './address';
import { idsSchema, localSchema, ON_NODE, runOnNode } from './on-node';
import { LIST_VIEWS } from './queries/attach';
import { makeSequences, type UsedSequences } from './sequences';

// The tables of a cell are distributed tables of Citus, which live on one node. If Citus plans a
// statement, planning costs several times as much as running it, because Citus keeps only the
// simplest plans. So the service connects to the node itself and uses the tables there directly,
// through views with their names: PostgreSQL then plans and keeps plans as in any database.
//
// Citus must not move tables that are written without its knowledge. A cell is moved by detaching
// it, which waits for the transactions that use the views (src/operate/cells/manage.ts).

export interface AttachedCell {
  id: number;
  schema: string;
  node: Node;
}

/** Makes the views and functions of a cell on the node with its tables, all or none. */
export async function attachCell(
  url: string,
  { id, schema }: AttachedCell,
  used: UsedSequences,
): Promise<void> {
  await runOnNode(url, schema, (client) =>
    retryWhileLocked(client, async () => {
      await client.query('BEGIN');
      await dropViews(client, schema);
      await client.query(`CREATE SCHEMA ${localSchema(schema)}`);
      await makeSequences(client, { id, schema }, used);
      await makeViews(client, schema);
      await client.query(functionsSource());
      await client.query('COMMIT');
    }),
  );
}

/** Makes the job queue of a node. All of its cells share it, and it stays there. */
export const prepareNode = (url: string): Promise<void> => prepareQueue(withSettings(url, ON_NODE));

/** Makes the views of a cell, without the rows of a company that leaves. */
async function makeViews(client: Client, schema: string, leaving = 0n): Promise<void> {
  const names = { schema, local: localSchema(schema), ids: idsSchema(schema) };
  const views = await sqlOn(client)(LIST_VIEWS, { ...names, leaving: String(leaving) });
  for (const { command } of views) await client.query(command!);
}

const dropViews = (client: Client, schema: string) =>
  client.query(`DROP SCHEMA IF EXISTS ${localSchema(schema)} CASCADE`);

/**
 * Removes the views and functions of a cell, after the transactions that use them. Later statements
 * go through Citus, or fail.
 */
export const detachCell = (url: string, schema: string): Promise<void> =>
  runOnNode(url, schema, (client) => retryWhileLocked(client, () => dropViews(client, schema)));

/**
 * Hides a company from the views of a cell, after the transactions that use them, and refuses its
 * rows (44000). Attaching the cell again ends this.
 */
export const hideCompany = (url: string, schema: string, companyId: bigint): Promise<void> =>
  runOnNode(url, schema, (client) =>
    retryWhileLocked(client, async () => {
      await client.query('BEGIN');
      await makeViews(client, schema, companyId);
      await client.query('COMMIT');
    }),
  );

/** How long requests wait for a command that itself waits for a transaction. */
const MAX_WAIT = '1s';
const PAUSE_MS = 1_000;

/**
 * Does work that needs the views exclusively. While a long transaction uses them, it retries: a
 * session that waits for a lock makes all others wait too.
 */
async function retryWhileLocked(client: Client, work: () => Promise<unknown>): Promise<void> {
  await client.query(`SET lock_timeout = '${MAX_WAIT}'`);
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!['55P03', '40P01'].includes((error as { code?: string }).code ?? '')) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}
