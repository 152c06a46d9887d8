import { Client } from 'pg';
import { sqlOn, type Sql } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import {
  requireCell,
  changeCells,
  requireDistributed,
  saveState,
  settleCell,
  type CellSession,
} from './change-cells';
import type { Cell } from './create-cell';
import { addCell, isolateCompany } from './isolate';
import { listDataNodes, requireDataNode, formatNodeName } from './nodes';
import { planMoves } from './plan';
import { LIST_SIZES } from './queries/cluster';
import { LIST_CELLS } from './queries/directory';
import { LIST_PLACES } from './queries/open';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl, withSettings, type Node } from './address';
import { detachCell, prepareNode } from './attach';
import { CELL_STATES } from './directory';
import { closeGate, endMoves, waitForGate, MOVER, openGate } from './gate';
import { MOVE_SCHEMA } from './queries/gate';

export interface ListedCell {
  cell: number;
  state: string;
  node: string;
  companies: number;
  takes_companies: boolean;
}

export const listCells = (coordinator: string): Promise<ListedCell[]> =>
  atCoordinator(coordinator, list);

async function list(sql: Sql): Promise<ListedCell[]> {
  const locations = new Map((await sql(LIST_PLACES, {})).map((cell) => [cell.id, cell]));
  return (await sql(LIST_CELLS, {})).map(({ id, state, companies, takes_companies }) => {
    const { host, port } = locations.get(id)!;
    const node = host && port ? formatNodeName({ host, port }) : 'none';
    return { cell: id, state, node, companies: companies!, takes_companies };
  });
}

/** Makes an empty cell on the node HOST:PORT, or on the one with the fewest cells. */
export const addCellOn = (coordinator: string, nodeName?: string): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    return findListedCell(
      sql,
      await addCell(changing, { on: await findChosenNode(sql, nodeName) }),
    );
  });

export const moveCellTo = (
  coordinator: string,
  id: number,
  nodeName: string,
): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    const cell = await requireCell(sql, id);
    await moveCell(changing, cell, await requireDataNode(sql, nodeName));
    return findListedCell(sql, cell);
  });

/** Gives a company a cell of its own, on the node HOST:PORT or on the one with the fewest cells. */
export const isolate = (
  coordinator: string,
  companyId: string,
  nodeName?: string,
): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    const on = await findChosenNode(sql, nodeName);
    return findListedCell(sql, await isolateCompany(changing, companyId, { on }));
  });

export interface ListedMove {
  cell: number;
  to: string;
}

/** Plans moves after which all nodes have about as many bytes. With `apply`, does them. */
export const rebalance = (
  coordinator: string,
  { apply, moved }: { apply: boolean; moved: (move: ListedMove) => void },
): Promise<ListedMove[]> =>
  apply
    ? changeCells(coordinator, async (changing) => {
        const planned = await loadPlannedMoves(changing.sql);
        for (const { cell, to } of planned) {
          await moveCell(changing, await requireCell(changing.sql, cell), to);
          moved(toListedMove(cell, to));
        }
        return planned.map(({ cell, to }) => toListedMove(cell, to));
      })
    : atCoordinator(coordinator, async (sql) =>
        (await loadPlannedMoves(sql)).map(({ cell, to }) => toListedMove(cell, to)),
      );

const loadPlannedMoves = async (sql: Sql) =>
  planMoves(await sql(LIST_SIZES, {}), await listDataNodes(sql));

const toListedMove = (
  cell: number,
  { host, port }: { host: string; port: number },
): ListedMove => ({
  cell,
  to: formatNodeName({ host, port }),
});

const findChosenNode = async (sql: Sql, name: string | undefined) =>
  name === undefined ? undefined : requireDataNode(sql, name);

const findListedCell = async (sql: Sql, { id }: Cell): Promise<ListedCell> =>
  (await list(sql)).find(({ cell }) => cell === id)!;

async function atCoordinator<T>(
  connectionString: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const client = new Client(connectionString);
  return withClient(client, async () => {
    const sql = sqlOn(client);
    await requireDistributed(sql);
    return work(sql);
  });
}

/**
 * Moves a cell to another node while it is used. Citus copies the tables and follows their changes.
 * Requests are answered 503 for about a second, from the end of the copy until the cell is attached
 * to its new node. If anything fails, the cell is attached where its tables are; if this process
 * dies, the next command that changes cells does so.
 */
async function moveCell(changing: CellSession, cell: Cell, target: Node): Promise<void> {
  const { coordinator, client, sql } = changing;
  const { schema, node: source } = cell;
  if (source.groupid === target.groupid)
    throw new StartError(`Cell ${cell.id} is on ${formatNodeName(target)} already.`);
  const mover = new Client({
    connectionString: withSettings(coordinator, { client_min_messages: 'warning' }),
    application_name: MOVER,
  });
  await mover.connect();
  try {
    await saveState(sql, cell, CELL_STATES.moving);
    await prepareNode(buildNodeUrl(coordinator, target));
    await closeGate(client, schema);
    const { host, port } = target;
    const move = sqlOn(mover)(MOVE_SCHEMA, { schema, host, port });
    await waitForGate(client, mover, move);
    await detachCell(buildNodeUrl(coordinator, source), schema);
    await openGate(client, schema);
    await move;
  } finally {
    await mover.end();
    await endMoves(client);
    await settleCell(changing, cell);
  }
}
