import { Client } from 'pg';
import { sqlOn, type Sql } from '../db/sql';
import { StartError } from '../start-error';
import { withSettings } from './address';
import { EXTENSIONS } from './attach';
import { createCell, schemaOf } from './create-cell';
import { makeDirectory } from './directory';
import { fillCell } from './fill-cell';
import { planCells, type PlannedCell } from './plan';
import { LIST_NODES, READ_CLUSTER } from './queries/cluster';
import { COPY_KEYS, LIST_CELLS, SAVE_CELL, SAVE_COMPANY } from './queries/directory';
import { LIST_COMPANIES, LIST_OTHER_SESSIONS } from './queries/distribute';
import { LIST_TABLES } from './queries/fill';

export interface Distribution {
  nodes: number;
  cells: PlannedCell[];
}

interface Progress {
  filled(cell: PlannedCell, rows: number): void;
}

const MIN_VERSION = 13;
const CELLS_PER_NODE = 2;

/** What a distribution would do. Throws where it cannot be done. */
export const planDistribution = (url: string, cells?: number): Promise<Distribution> =>
  atCoordinator(url, (client) => plan(sqlOn(client), cells));

/**
 * Turns the database into a distributed one: gives the companies to cells, the cells to nodes, and
 * copies their rows. Nobody else may use the database meanwhile. Run again after a failure, it
 * keeps the cells that are complete; until the end, the database works as before.
 */
export const distribute = (
  url: string,
  { cells, progress }: { cells?: number | undefined; progress: Progress },
): Promise<Distribution> =>
  atCoordinator(url, async (client) => {
    const sql = sqlOn(client);
    const planned = await plan(sql, cells);
    await requireAlone(sql);
    await prepare(client);
    const complete = new Set(
      (await sql(LIST_CELLS, {})).flatMap(({ id, state }) => (state === 'filled' ? [id] : [])),
    );
    for (const cell of planned.cells) {
      if (complete.has(cell.id)) continue;
      await sql(SAVE_CELL, { id: cell.id, name: schemaOf(cell.id), state: 'filling' });
      let rows = 0;
      await createCell(url, cell.id, async (made) => {
        for (const copied of await fillCell(url, made, cell.companies)) rows += copied.rows;
      });
      await sql(SAVE_CELL, { id: cell.id, name: schemaOf(cell.id), state: 'filled' });
      progress.filled(cell, rows);
    }
    await open(client, planned);
    return planned;
  });

async function plan(sql: Sql, cells: number | undefined): Promise<Distribution> {
  const [cluster] = await sql(READ_CLUSTER, {});
  const { version, is_distributed } = cluster!;
  if (!version)
    throw new StartError(
      'The database has no Citus. On every node: CREATE EXTENSION citus; then add the nodes with ' +
        'citus_set_coordinator_host and citus_add_node (docs/scaling.md).',
    );
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new StartError(`Citus ${version} is too old: ${MIN_VERSION}.0 or later is needed.`);
  if (is_distributed && (await isFinished(sql)))
    throw new StartError('The database is distributed already: see npx trunkline cells list');
  const nodes = await sql(LIST_NODES, {});
  if (nodes.length === 0)
    throw new StartError(
      'The cluster has no node for data: add one with citus_add_node, or let the coordinator ' +
        "have some with citus_set_node_property(HOST, PORT, 'shouldhaveshards', true).",
    );
  const companies = await sql(LIST_COMPANIES, {});
  const count = cells ?? CELLS_PER_NODE * nodes.length;
  return { nodes: nodes.length, cells: planCells(companies, count) };
}

const isFinished = async (sql: Sql): Promise<boolean> =>
  (await sql(LIST_CELLS, {})).some(({ state }) => state === 'open' || state === 'moving');

async function requireAlone(sql: Sql): Promise<void> {
  const [{ sessions } = { sessions: 0 }] = await sql(LIST_OTHER_SESSIONS, {});
  if (sessions! > 0)
    throw new StartError(
      `There are ${sessions} other sessions in this database: stop all servers and workers first.`,
    );
}

/** What the database has once, outside of the cells. */
async function prepare(client: Client): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${EXTENSIONS}`);
  for (const extension of ['pg_trgm', 'btree_gin'])
    await client.query(`ALTER EXTENSION ${extension} SET SCHEMA ${EXTENSIONS}`);
  await makeDirectory(client);
}

/** Opens all cells, and empties the tables that they were filled from, in one transaction. */
async function open(client: Client, { cells }: Distribution): Promise<void> {
  const sql = sqlOn(client);
  const tables = (await sql(LIST_TABLES, {})).map(({ name }) => `public.${name}`);
  await client.query('BEGIN');
  await sql(COPY_KEYS, {});
  for (const { id, companies } of cells) {
    await sql(SAVE_CELL, { id, name: schemaOf(id), state: 'open' });
    for (const company_id of companies) await sql(SAVE_COMPANY, { company_id, cell_id: id });
  }
  await client.query(`TRUNCATE ${tables.join(', ')}`);
  await client.query('COMMIT');
}

async function atCoordinator<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: withSettings(url, {
      timezone: 'UTC',
      search_path: `public,${EXTENSIONS}`,
      client_min_messages: 'warning',
    }),
    application_name: 'trunkline distribute',
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
