import { HostsClient } from '../db/hosts-client';
import { sqlOn, type Sql } from '../db/sql';
import { StartError } from '../start-error';
import { moveCell } from './move-cell';
import { LIST_NODES } from './queries/cluster';
import { LIST_CELLS } from './queries/directory';
import { IS_DISTRIBUTED, LIST_PLACES } from './queries/open';

// What an operator sees and does of the cells.

export interface ListedCell {
  cell: number;
  state: string;
  node: string;
  companies: number;
}

export const listCells = (coordinator: string): Promise<ListedCell[]> =>
  withDirectory(coordinator, async (sql) => {
    const places = new Map((await sql(LIST_PLACES, {})).map((place) => [place.id, place]));
    return (await sql(LIST_CELLS, {})).map(({ id, state, companies }) => {
      const place = places.get(id);
      const node = place ? `${place.host}:${place.port}` : 'none';
      return { cell: id, state, node, companies: companies! };
    });
  });

/** Moves a cell to the node HOST:PORT. */
export async function moveCellTo(
  coordinator: string,
  id: number,
  named: string,
): Promise<ListedCell> {
  const { cell, target } = await withDirectory(coordinator, async (sql) => {
    const nodes = await sql(LIST_NODES, {});
    return {
      cell: (await sql(LIST_CELLS, {})).find((each) => each.id === id),
      target: nodes.find(({ host, port }) => `${host}:${port}` === named),
      nodes,
    };
  });
  if (!cell) throw new StartError(`There is no cell ${id}.`);
  if (!target) throw new StartError(`The cluster has no node ${named} that holds data.`);
  await moveCell(coordinator, { id, schema: cell.name }, target);
  return (await listCells(coordinator)).find((each) => each.cell === id)!;
}

async function withDirectory<T>(
  connectionString: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const client = new HostsClient({ connectionString });
  await client.connect();
  try {
    const sql = sqlOn(client);
    const [found] = await sql(IS_DISTRIBUTED, {});
    if (!found!.is_distributed)
      throw new StartError('The database is not distributed: npx trunkline distribute');
    return await work(sql);
  } finally {
    await client.end();
  }
}
