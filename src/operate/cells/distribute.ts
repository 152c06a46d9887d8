import { Client } from 'pg';
import { sqlOn, type Sql } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import { listOtherProcesses } from '../installation/running-processes';
import { StartError } from '../../platform/start-error';
import { withSettings } from './address';
import { saveState } from './change-cells';
import { copyCompanies, listCompanyTables } from './copy-companies';
import { createCell, dropCell, toSchemaName } from './create-cell';
import { CELL_STATES, listCellCompanies, isInUse, makeDirectory } from './directory';
import { takeLock } from './lock';
import { copyJobs } from './move-jobs';
import { COORDINATOR, findCoordinator, listDataNodes, listNodes, requireNode } from './nodes';
import { EXTENSIONS } from './on-node';
import { isOfOneCompany, planCells, type PlannedCell } from './plan';
import { READ_CLUSTER } from './queries/cluster';
import {
  COPY_KEYS,
  FORGET_CELL,
  FORGET_COMPANIES,
  LIST_CELLS,
  SAVE_COMPANY,
} from './queries/directory';
import { DELETE_JOBS_OF } from './queries/move-jobs';
import { LIST_COMPANIES, LIST_OTHER_SESSIONS } from './queries/distribute';

export interface Distribution {
  nodes: number;
  cells: PlannedCell[];
}

interface Progress {
  filled(cell: PlannedCell, rows: number): void;
}

const MIN_VERSION = 13;
const CELLS_PER_NODE = 2;

/** Plans a distribution. Throws if it is not possible. */
export const planDistribution = (url: string, cells?: number): Promise<Distribution> =>
  atCoordinator(url, (client) => plan(sqlOn(client), cells));

/**
 * Turns the database into a distributed one: assigns companies to cells and cells to nodes, and
 * copies their rows. No one else may use the database meanwhile. If it is run again after a
 * failure, it keeps the cells that are complete; until the end, the database works as before.
 */
export const distribute = (
  url: string,
  { cells, progress }: { cells?: number | undefined; progress: Progress },
): Promise<Distribution> =>
  atCoordinator(url, async (client) => {
    const sql = sqlOn(client);
    await takeLock(client);
    const planned = await plan(sql, cells);
    await prepare(client);
    return await atCoordinator(url, async (holder) => {
      const tables = await holdTables(holder);
      await requireAlone(sqlOn(holder));
      await fillCells(url, { sql, planned, progress });
      await requireAlone(sqlOn(holder));
      await open(holder, planned, tables);
      return planned;
    });
  });

/**
 * Undoes an incomplete distribution: the database is as it was before. Throws if the cells are
 * already in use.
 */
export const cancelDistribution = (url: string): Promise<void> =>
  atCoordinator(url, async (client) => {
    const sql = sqlOn(client);
    await takeLock(client);
    const [cluster] = await sql(READ_CLUSTER, {});
    if (!cluster!.is_distributed) throw new StartError('No distribution was begun.');
    if (await isFinished(sql)) throw new StartError('The distribution is complete.');
    for (const { name } of await sql(LIST_CELLS, {})) await dropCell(url, name);
    await client.query('DROP SCHEMA directory CASCADE');
    await placeExtensions(client, 'public');
  });

/** Makes the cells that are not complete yet, and removes those of another plan. */
async function fillCells(
  url: string,
  { sql, planned, progress }: { sql: Sql; planned: Distribution; progress: Progress },
): Promise<void> {
  const complete = new Set<number>();
  for (const { id, name, state } of await sql(LIST_CELLS, {})) {
    const companies = await listCellCompanies(sql, id);
    const plannedCompanies = planned.cells.find((cell) => cell.id === id)?.companies ?? [];
    const isSame = String(companies.toSorted()) === String(plannedCompanies.toSorted());
    if (state === CELL_STATES.filled && isSame) complete.add(id);
    else {
      await dropCell(url, name);
      await sql(FORGET_COMPANIES, { cell_id: id });
      await sql(FORGET_CELL, { id });
    }
  }
  for (const plannedCell of planned.cells)
    if (!complete.has(plannedCell.id))
      progress.filled(plannedCell, await fillOne(url, { sql, plannedCell, all: planned.cells }));
}

async function fillOne(
  url: string,
  { sql, plannedCell, all }: { sql: Sql; plannedCell: PlannedCell; all: readonly PlannedCell[] },
): Promise<number> {
  const { id, companies } = plannedCell;
  const cell = { id, schema: toSchemaName(id), takes_companies: !isOfOneCompany(plannedCell, all) };
  await saveState(sql, cell, CELL_STATES.filling);
  let rows = 0;
  const nodes = await listDataNodes(sql);
  const on = nodes[(id - 1) % nodes.length]!;
  const target = await createCell(url, { id, on }, async (createdCell) => {
    rows = await copyCompanies(url, { target: createdCell }, companies);
  });
  await copyJobs(url, { from: await findCoordinator(sql), ...target }, companies);
  for (const companyId of companies)
    await sql(SAVE_COMPANY, { company_id: companyId, cell_id: id });
  await saveState(sql, cell, CELL_STATES.filled);
  return rows;
}

async function plan(sql: Sql, cells: number | undefined): Promise<Distribution> {
  const [cluster] = await sql(READ_CLUSTER, {});
  const { version, is_distributed } = cluster!;
  if (!version)
    throw new StartError(
      'The database has no Citus. On every node: CREATE EXTENSION citus; then add the nodes with ' +
        'citus_set_coordinator_host and citus_add_node (docs/scale.md).',
    );
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new StartError(`Citus ${version} is too old: ${MIN_VERSION}.0 or later is needed.`);
  if (is_distributed && (await isFinished(sql)))
    throw new StartError('The database is distributed already: see npx trunkline cells list');
  const nodes = await listDataNodes(sql);
  if (!(await listNodes(sql)).some(({ groupid }) => groupid === COORDINATOR))
    throw new StartError(
      "The coordinator is not one of the cluster's nodes: SELECT citus_set_coordinator_host(HOST).",
    );
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
  (await sql(LIST_CELLS, {})).some(({ state }) => isInUse(state));

/** Makes the parts of the database outside of the cells. From then on no process starts on it. */
async function prepare(client: Client): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${EXTENSIONS}`);
  await placeExtensions(client, EXTENSIONS);
  await makeDirectory(client);
}

async function placeExtensions(client: Client, schema: string): Promise<void> {
  for (const extension of ['pg_trgm', 'btree_gin'])
    await client.query(`ALTER EXTENSION ${extension} SET SCHEMA ${schema}`);
}

const WAIT_FOR_TABLES = '10s';

/** Blocks writes to the tables that fill the cells, until the transaction ends. */
async function holdTables(holder: Client): Promise<string[]> {
  const tables = (await listCompanyTables(sqlOn(holder))).map(({ name }) => `public.${name}`);
  await holder.query('SET idle_in_transaction_session_timeout = 0');
  await holder.query('BEGIN');
  await holder.query(`SET LOCAL lock_timeout = '${WAIT_FOR_TABLES}'`);
  await holder.query(`LOCK TABLE ${tables.join(', ')} IN SHARE MODE`);
  return tables;
}

async function requireAlone(sql: Sql): Promise<void> {
  const otherProcesses = await listOtherProcesses(sql);
  const [{ sessions } = { sessions: 0 }] = await sql(LIST_OTHER_SESSIONS, {});
  const otherCount = Math.max(otherProcesses.length, sessions!);
  if (otherCount > 0)
    throw new StartError(
      `Others use this database (${otherCount}): stop all servers and workers first, ` +
        'and close what else is connected to it.',
    );
}

/** Opens all cells, and empties their source tables, in one transaction. */
async function open(
  holder: Client,
  { cells }: Distribution,
  tables: readonly string[],
): Promise<void> {
  const sql = sqlOn(holder);
  await sql(COPY_KEYS, {});
  const { groupid } = await findCoordinator(sql);
  for (const { id, companies } of cells) {
    const schema = toSchemaName(id);
    const node = await requireNode(sql, schema);
    if (node.groupid !== groupid) await sql(DELETE_JOBS_OF, { companies });
    await saveState(sql, { id, schema }, CELL_STATES.open);
  }
  await holder.query(`TRUNCATE ${tables.join(', ')}`);
  await holder.query('COMMIT');
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
  return withClient(client, work);
}
