import type { Client } from 'pg';
import { HostsClient } from '../../data/postgres/hosts-client';
import { migrate, pendingMigrations, type RunScript } from '../../data/postgres/migrate';
import { splitStatements } from '../../data/postgres/split-statements';
import { sqlOn } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import { buildNodeUrl } from './address';
import { detachCell } from './attach';
import { changeCells, saveState, settleCell, type CellSession } from './change-cells';
import { buildSchemaUrl, type Cell } from './create-cell';
import { CELL_STATES, isInUse } from './directory';
import { isDistributed } from './is-distributed';
import { CellsAreChanging } from './lock';
import { requireNode } from './nodes';
import { LIST_CELLS } from './queries/directory';

/**
 * Brings the cells of a distributed database up to this version, one after the other. Requests for
 * the cell being changed are answered 503. Also finishes what a command that died has left. Does
 * nothing in any other database.
 */
export async function migrateCells(coordinator: string): Promise<void> {
  if (!(await onClient(coordinator, (client) => isDistributed(sqlOn(client))))) return;
  if ((await listOutdatedCells(coordinator)).length === 0) {
    const cells = await listCells(coordinator);
    if (cells.some(({ state }) => state === CELL_STATES.moving))
      await repairUnlessInWork(coordinator);
    return;
  }
  await changeCells(
    coordinator,
    async (changing) => {
      for (const cell of await listOutdatedCells(coordinator)) await migrateCell(changing, cell);
    },
    { waits: true },
  );
}

/** If a command is moving a cell now, it continues. */
const repairUnlessInWork = (coordinator: string): Promise<void> =>
  changeCells(coordinator, async () => {}).catch((error: unknown) => {
    if (!(error instanceof CellsAreChanging)) throw error;
  });

const listCells = (coordinator: string) =>
  onClient(coordinator, (client) => sqlOn(client)(LIST_CELLS, {}));

async function migrateCell(changing: CellSession, cell: Omit<Cell, 'node'>): Promise<void> {
  const { coordinator, sql } = changing;
  const { schema } = cell;
  const node = await requireNode(sql, schema);
  await saveState(sql, cell, CELL_STATES.moving);
  await detachCell(buildNodeUrl(coordinator, node), schema);
  await migrate(buildSchemaUrl(coordinator, schema), undefined, runOneByOne);
  await settleCell(changing, cell);
}

/** Citus accepts a change of tables only as a query of its own. */
const runOneByOne: RunScript = async (client, script) => {
  await client.query('BEGIN');
  for (const statement of splitStatements(script)) await client.query(statement);
  await client.query('COMMIT');
};

/** The cells in use that lack a migration or have other functions. */
async function listOutdatedCells(coordinator: string): Promise<Omit<Cell, 'node'>[]> {
  const cells = await listCells(coordinator);
  const outdatedCells: Omit<Cell, 'node'>[] = [];
  for (const { id, name: schema, state } of cells) {
    if (!isInUse(state)) continue;
    const pending = await onClient(buildSchemaUrl(coordinator, schema), pendingMigrations);
    if (pending.length > 0) outdatedCells.push({ id, schema });
  }
  return outdatedCells;
}

const onClient = <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(new HostsClient({ connectionString: url }), work);
