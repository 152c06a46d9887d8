import { Client } from 'pg';
import { sqlOn, type Sql } from '../db/sql';
import { withClient } from '../db/with-client';
import { cellOf, changeCells, requireDistributed } from './change-cells';
import type { Cell } from './create-cell';
import { addCell, isolateCompany } from './isolate';
import { moveCell } from './move-cell';
import { dataNodes, namedNode, nameOf } from './nodes';
import { planMoves } from './plan';
import { LIST_SIZES } from './queries/cluster';
import { LIST_CELLS } from './queries/directory';
import { LIST_PLACES } from './queries/open';

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
  const places = new Map((await sql(LIST_PLACES, {})).map((place) => [place.id, place]));
  return (await sql(LIST_CELLS, {})).map(({ id, state, companies, takes_companies }) => {
    const { host, port } = places.get(id)!;
    const node = host && port ? nameOf({ host, port }) : 'none';
    return { cell: id, state, node, companies: companies!, takes_companies };
  });
}

/** Makes an empty cell on the node HOST:PORT, or on the one with the fewest cells. */
export const addCellOn = (coordinator: string, named?: string): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    return listed(sql, await addCell(changing, { on: await nodeNamed(sql, named) }));
  });

export const moveCellTo = (coordinator: string, id: number, named: string): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    const cell = await cellOf(sql, id);
    await moveCell(changing, cell, await namedNode(sql, named));
    return listed(sql, cell);
  });

/** Gives a company a cell of its own, on the node HOST:PORT or on the one with the fewest cells. */
export const isolate = (
  coordinator: string,
  company_id: string,
  named?: string,
): Promise<ListedCell> =>
  changeCells(coordinator, async (changing) => {
    const { sql } = changing;
    const on = await nodeNamed(sql, named);
    return listed(sql, await isolateCompany(changing, company_id, { on }));
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
        const planned = await plannedMoves(changing.sql);
        for (const { cell, to } of planned) {
          await moveCell(changing, await cellOf(changing.sql, cell), to);
          moved(named(cell, to));
        }
        return planned.map(({ cell, to }) => named(cell, to));
      })
    : atCoordinator(coordinator, async (sql) =>
        (await plannedMoves(sql)).map(({ cell, to }) => named(cell, to)),
      );

const plannedMoves = async (sql: Sql) => planMoves(await sql(LIST_SIZES, {}), await dataNodes(sql));

const named = (cell: number, { host, port }: { host: string; port: number }): ListedMove => ({
  cell,
  to: nameOf({ host, port }),
});

const nodeNamed = async (sql: Sql, name: string | undefined) =>
  name === undefined ? undefined : namedNode(sql, name);

const listed = async (sql: Sql, { id }: Cell): Promise<ListedCell> =>
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
