import { Client } from 'pg';
import { sqlOn } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl, withSettings, type Node } from './address';
import { detachCell, prepareNode } from './attach';
import { saveState, settleCell, type CellSession } from './change-cells';
import type { Cell } from './create-cell';
import { CELL_STATES } from './directory';
import { closeGate, endMoves, waitForGate, MOVER, openGate } from './gate';
import { formatNodeName } from './nodes';
import { MOVE_SCHEMA } from './queries/gate';

/**
 * Moves a cell to another node while it is used. Citus copies the tables and follows their changes.
 * Requests are answered 503 for about a second, from the end of the copy until the cell is attached
 * to its new node. If anything fails, the cell is attached where its tables are; if this process
 * dies, the next command that changes cells does so.
 */
export async function moveCell(changing: CellSession, cell: Cell, target: Node): Promise<void> {
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
    await prepareNode(buildNodeUrl(coordinator, target), schema);
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
