import { setTimeout } from 'node:timers/promises';
import { StartError } from '../start-error';
import { urlOfNode, type Node } from './address';
import { hideCompany } from './attach';
import { cellOf, removeFrom, saveState, type Changing } from './change-cells';
import { copyCompanies } from './copy-companies';
import { createCell, schemaOf, type Cell } from './create-cell';
import { CELL_STATES } from './directory';
import { moveJobs, restartJobs } from './move-jobs';
import { dataNodes, listNodes } from './nodes';
import { fewestCells } from './plan';
import {
  CLOSE_CELL,
  FIND_COMPANY,
  LIST_CELLS,
  NEXT_CELL,
  PLACE_COMPANY,
} from './queries/directory';
import { LIST_PLACES } from './queries/open';

/** Makes an empty cell, by default on the node with the fewest cells. */
export async function addCell(
  changing: Changing,
  { on, takes_companies = true }: { on?: Node | undefined; takes_companies?: boolean } = {},
): Promise<Cell> {
  const cell = await makeCell(changing, { on, takes_companies });
  await saveState(changing.sql, cell, CELL_STATES.open);
  return cell;
}

/** Makes a cell that is not in use yet. */
async function makeCell(
  { coordinator, sql }: Changing,
  { on, takes_companies }: { on?: Node | undefined; takes_companies: boolean },
): Promise<Cell> {
  const [next] = await sql(NEXT_CELL, {});
  const id = next!.id!;
  const node = on ?? fewestCells(await dataNodes(sql), await sql(LIST_PLACES, {}));
  const filling = { id, schema: schemaOf(id), takes_companies };
  await saveState(sql, filling, CELL_STATES.filling);
  return createCell(coordinator, { id, on: node });
}

/**
 * Time until every process knows that a company moves, and requests that did not know have ended.
 */
const KNOWN_AFTER_MS = 3_000;

/**
 * Gives a company a cell of its own. While its rows are copied, its requests are answered 503 and
 * its jobs wait; other companies are not affected. If this process dies, the next command that
 * changes cells leaves the company where it was, or completes the move.
 */
export async function isolateCompany(
  changing: Changing,
  company_id: string,
  { on }: { on?: Node | undefined } = {},
): Promise<Cell> {
  const { coordinator, sql } = changing;
  const [found] = await sql(FIND_COMPANY, { company_id });
  if (!found) throw new StartError(`There is no company ${company_id}.`);
  const { cell_id } = found;
  const of_cell = (await sql(LIST_CELLS, {})).find(({ id }) => id === cell_id)!;
  const source = await cellOf(sql, cell_id);
  if (of_cell.companies === 1) {
    await sql(CLOSE_CELL, { id: cell_id });
    return source;
  }
  const target = await makeCell(changing, { on, takes_companies: false });
  const place = (to: { cell_id: number; moves_to: number | null; left_cell: number | null }) =>
    sql(PLACE_COMPANY, { company_id, ...to });
  await place({ cell_id, moves_to: target.id, left_cell: null });
  await setTimeout(KNOWN_AFTER_MS);
  await restartJobs(coordinator, source, company_id);
  await hideCompany(urlOfNode(coordinator, source.node), source.schema, BigInt(company_id));
  await copyCompanies(coordinator, { source, target }, [company_id]);
  const nodes = await listNodes(sql);
  const { schema, node } = target;
  await moveJobs(coordinator, { nodes, node, schema }, [company_id]);
  await changing.client.query('BEGIN');
  await saveState(sql, target, CELL_STATES.open);
  await place({ cell_id: target.id, moves_to: null, left_cell: cell_id });
  await changing.client.query('COMMIT');
  await removeFrom(changing, company_id, cell_id);
  await place({ cell_id: target.id, moves_to: null, left_cell: null });
  return target;
}
