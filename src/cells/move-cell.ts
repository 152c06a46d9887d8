import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { sqlOn } from '../db/sql';
import { StartError } from '../start-error';
import { urlOfNode, type Node } from './address';
import { attachCell, detachCell } from './attach';
import { nodeOf, urlOfSchema, type Cell } from './create-cell';
import { SAVE_CELL } from './queries/directory';
import { DELAY_SWITCH, IS_WAITING, MOVE_SCHEMA } from './queries/move';

const LOOK_MS = 200;

/**
 * Moves a cell to another node while it is used. Citus copies the tables and follows their changes;
 * before it switches over, it would wait for writes that go through it. Ours do not, so a lock of
 * the same kind delays the switch until the cell is detached: then nobody writes behind Citus's
 * back. From there until the cell is attached to its new node, which takes about a second, requests
 * for it are answered 503. If anything fails, the cell is attached where its tables are.
 */
export async function moveCell(
  coordinator: string,
  { id, schema }: Omit<Cell, 'node'>,
  target: Node,
): Promise<Cell> {
  const url = urlOfSchema(coordinator, schema);
  const [gate, mover] = [new Client(url), new Client(url)];
  await Promise.all([gate.connect(), mover.connect()]);
  try {
    const source = await placeOf(gate, schema);
    if (source.groupid === target.groupid)
      throw new StartError(`${schema} is on ${target.host}:${target.port} already.`);
    await sqlOn(gate)(SAVE_CELL, { id, name: schema, state: 'moving' });
    await gate.query('BEGIN');
    await sqlOn(gate)(DELAY_SWITCH, { schema });
    const { host, port } = target;
    let moved = false;
    const move = sqlOn(mover)(MOVE_SCHEMA, { schema, host, port }).then(() => (moved = true));
    try {
      await Promise.race([move, isDelayed(gate, mover)]);
      if (!moved) await detachCell(urlOfNode(coordinator, source), schema);
      await gate.query('COMMIT');
      await move;
    } finally {
      await gate.query('ROLLBACK').catch(() => undefined);
      await move.catch(() => undefined);
      const node = await placeOf(gate, schema);
      await attachCell(urlOfNode(coordinator, node), { id, schema, node });
      await sqlOn(gate)(SAVE_CELL, { id, name: schema, state: 'open' });
    }
    return { id, schema, node: target };
  } finally {
    await Promise.all([gate.end(), mover.end()]);
  }
}

async function placeOf(client: Client, schema: string): Promise<Node> {
  const node = await nodeOf(sqlOn(client), schema);
  if (!node) throw new StartError(`There is no cell ${schema}.`);
  return node;
}

/** Resolves once the move has copied everything and waits to switch over. */
async function isDelayed(gate: Client, mover: Client): Promise<void> {
  const { processID: pid } = mover as unknown as { processID: number };
  for (;;) {
    const [found] = await sqlOn(gate)(IS_WAITING, { pid });
    if (found!.is_waiting) return;
    await setTimeout(LOOK_MS);
  }
}
