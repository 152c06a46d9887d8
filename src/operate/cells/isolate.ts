import { setTimeout } from 'node:timers/promises';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl, type Node } from './address';
import { hideCompany } from './attach';
import { requireCell, removeFrom, saveState, type CellSession } from './change-cells';
import { copyCompanies } from './copy-companies';
import { createCell, toSchemaName, type Cell } from './create-cell';
import { CELL_STATES } from './directory';
import { moveJobs, restartJobs } from './move-jobs';
import { listDataNodes, listNodes } from './nodes';
import { pickEmptiestNode } from './plan';
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
  changing: CellSession,
  { on, takes_companies = true }: { on?: Node | undefined; takes_companies?: boolean } = {},
): Promise<Cell> {
  const cell = await makeCell(changing, { on, takes_companies });
  await saveState(changing.sql, cell, CELL_STATES.open);
  return cell;
}

/** Makes a cell that is not in use yet. */
async function makeCell(
  { coordinator, sql }: CellSession,
  { on, takes_companies }: { on?: Node | undefined; takes_companies: boolean },
): Promise<Cell> {
  const [next] = await sql(NEXT_CELL, {});
  const id = next!.id!;
  const node = on ?? pickEmptiestNode(await listDataNodes(sql), await sql(LIST_PLACES, {}));
  const filling = { id, schema: toSchemaName(id), takes_companies };
  await saveState(sql, filling, CELL_STATES.filling);
  return createCell(coordinator, { id, on: node });
}

/**
 * Time until every process knows that a company moves, and requests that did not know have ended.
 */
const PROPAGATION_MS = 3_000;

/**
 * Gives a company a cell of its own. While its rows are copied, its requests are answered 503 and
 * its jobs wait; other companies are not affected. If this process dies, the next command that
 * changes cells leaves the company where it was, or completes the move.
 */
export async function isolateCompany(
  changing: CellSession,
  companyId: string,
  { on }: { on?: Node | undefined } = {},
): Promise<Cell> {
  const { coordinator, sql } = changing;
  const [assignment] = await sql(FIND_COMPANY, { company_id: companyId });
  if (!assignment) throw new StartError(`There is no company ${companyId}.`);
  const { cell_id } = assignment;
  const ofCell = (await sql(LIST_CELLS, {})).find(({ id }) => id === cell_id)!;
  const source = await requireCell(sql, cell_id);
  if (ofCell.companies === 1) {
    await sql(CLOSE_CELL, { id: cell_id });
    return source;
  }
  const target = await makeCell(changing, { on, takes_companies: false });
  const assignCompany = (to: {
    cell_id: number;
    moves_to: number | null;
    left_cell: number | null;
  }) => sql(PLACE_COMPANY, { company_id: companyId, ...to });
  await assignCompany({ cell_id, moves_to: target.id, left_cell: null });
  await setTimeout(PROPAGATION_MS);
  await restartJobs(coordinator, source, companyId);
  await hideCompany(buildNodeUrl(coordinator, source.node), source.schema, BigInt(companyId));
  await copyCompanies(coordinator, { source, target }, [companyId]);
  const nodes = await listNodes(sql);
  const { schema, node } = target;
  await moveJobs(coordinator, { nodes, node, schema }, [companyId]);
  await changing.client.query('BEGIN');
  await saveState(sql, target, CELL_STATES.open);
  await assignCompany({ cell_id: target.id, moves_to: null, left_cell: cell_id });
  await changing.client.query('COMMIT');
  await removeFrom(changing, companyId, cell_id);
  await assignCompany({ cell_id: target.id, moves_to: null, left_cell: null });
  return target;
}
