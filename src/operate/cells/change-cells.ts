import { Client } from 'pg';
import { sqlOn, type Sql } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl, withSettings } from './address';
import { attachCell } from './attach';
import { removeCompanies } from './copy-companies';
import { dropCell, dropOnNode, type Cell } from './create-cell';
import { CELL_STATES, listCellCompanies, isInUse, type CellState } from './directory';
import { endMoves } from './gate';
import { isDistributed } from './is-distributed';
import { takeLock } from './lock';
import { moveJobs } from './move-jobs';
import { listNodes, requireNode } from './nodes';
import {
  FORGET_CELL,
  LIST_CELLS,
  LIST_MOVING_COMPANIES,
  PLACE_COMPANY,
  SAVE_CELL,
} from './queries/directory';
import { readSequences } from './sequences';

/**
 * A session at the coordinator of a distributed database. Only one session changes cells at a time.
 */
export interface CellSession {
  coordinator: string;
  client: Client;
  sql: Sql;
}

/** Runs work that changes cells, after finishing what a command that died has left. */
export async function changeCells<T>(
  coordinator: string,
  work: (changing: CellSession) => Promise<T>,
  { waits = false } = {},
): Promise<T> {
  const client = new Client(
    withSettings(coordinator, { timezone: 'UTC', client_min_messages: 'warning' }),
  );
  return withClient(client, async () => {
    const changing = { coordinator, client, sql: sqlOn(client) };
    await requireDistributed(changing.sql);
    await takeLock(client, { waits });
    await repair(changing);
    return work(changing);
  });
}

/** Throws if the database is not distributed, or not completely. */
export async function requireDistributed(sql: Sql): Promise<void> {
  if (!(await isDistributed(sql)))
    throw new StartError('The database is not distributed: npx trunkline distribute');
  await requireComplete(sql);
}

/** Throws if the distribution of a database has begun, but no cell is in use yet. */
export async function requireComplete(sql: Sql): Promise<void> {
  const cells = await sql(LIST_CELLS, {});
  if (!cells.some(({ state }) => isInUse(state))) throw new UnfinishedDistribution();
}

/** The cells are being filled, or were when a command died. */
export class UnfinishedDistribution extends StartError {
  constructor() {
    super(
      'The database is not distributed completely. Go on with it: npx trunkline distribute --apply',
    );
  }
}

/** Finishes what a command that died has left: moves, new cells, companies between two cells. */
async function repair(changing: CellSession): Promise<void> {
  const { client, sql, coordinator } = changing;
  await endMoves(client);
  for (const { id, name, state } of await sql(LIST_CELLS, {}))
    if (state === CELL_STATES.moving) await settleCell(changing, { id, schema: name });
  for (const { company_id, ...between } of await sql(LIST_MOVING_COMPANIES, {})) {
    const { cell_id, left_cell } = between;
    if (left_cell !== null) await removeFrom(changing, company_id, left_cell);
    else await settleCell(changing, await requireCell(sql, cell_id));
    await sql(PLACE_COMPANY, { company_id, cell_id, moves_to: null, left_cell: null });
  }
  for (const { id, name, state } of await sql(LIST_CELLS, {}))
    if (state === CELL_STATES.filling) {
      await dropCell(coordinator, name);
      await sql(FORGET_CELL, { id });
    } else await gatherJobs(changing, await requireCell(sql, id));
}

/** Deletes the rows of a company from a cell that it has left, and shows all rows there again. */
export async function removeFrom(
  changing: CellSession,
  companyId: string,
  leftCell: number,
): Promise<void> {
  const cell = await requireCell(changing.sql, leftCell);
  await removeCompanies(changing.coordinator, cell, [companyId]);
  await settleCell(changing, cell);
}

/** Throws StartError if there is no such cell. */
export async function requireCell(sql: Sql, id: number): Promise<Cell> {
  const cell = (await sql(LIST_CELLS, {})).find((row) => row.id === id);
  if (!cell) throw new StartError(`There is no cell ${id}.`);
  return { id, schema: cell.name, node: await requireNode(sql, cell.name) };
}

export const saveState = (
  sql: Sql,
  { id, schema, takes_companies = true }: Omit<Cell, 'node'> & { takes_companies?: boolean },
  state: CellState,
): Promise<unknown> => sql(SAVE_CELL, { id, name: schema, state, takes_companies });

/**
 * Makes a cell usable where its tables are, with its ids and jobs, and removes leftovers from other
 * nodes.
 */
export async function settleCell(
  { coordinator, sql }: CellSession,
  { id, schema }: Omit<Cell, 'node'>,
): Promise<void> {
  const node = await requireNode(sql, schema);
  const nodes = await listNodes(sql);
  const urls = nodes.map((clusterNode) => buildNodeUrl(coordinator, clusterNode));
  const used = await readSequences(urls, schema);
  await attachCell(buildNodeUrl(coordinator, node), { id, schema, node }, used);
  await saveState(sql, { id, schema }, CELL_STATES.open);
  await gatherJobs({ coordinator, sql }, { id, schema, node });
  for (const otherNode of nodes)
    if (otherNode.groupid !== node.groupid) await dropOnNode(coordinator, otherNode, schema);
}

/** Moves the jobs of a cell's companies from any node to its own. */
async function gatherJobs(
  { coordinator, sql }: Pick<CellSession, 'coordinator' | 'sql'>,
  { id, ...cell }: Cell,
): Promise<void> {
  const companies = await listCellCompanies(sql, id);
  await moveJobs(coordinator, { nodes: await listNodes(sql), ...cell }, companies);
}
