import type { Client } from 'pg';
import { setTimeout } from 'node:timers/promises';
import { sqlOn } from '../../data/sql';
import {
  DELAY_SWITCH,
  END_MOVES,
  IS_WAITING,
  LIST_GATES,
  LIST_MOVES,
  RECOVER_TRANSACTIONS,
} from './queries/gate';

// A move of Citus copies tables and follows their changes; before it switches over, it waits for
// writes that go through Citus. Ours do not. So a lock like that of such a write delays the switch
// until the cell is no longer used. It belongs to a prepared transaction: if the command that moves
// the cell dies, the lock stays, and the move does not continue.

/** Application name of the session that moves a cell. */
export const MOVER = 'trunkline move';
const PREFIX = 'trunkline gate of';
const LOOK_MS = 200;

const buildGateName = (database: string, schema: string): string =>
  `${PREFIX} ${database} ${schema}`;

/** Keeps Citus from ending a move of the cell. */
export async function closeGate(client: Client, schema: string): Promise<void> {
  await client.query('BEGIN');
  await sqlOn(client)(DELAY_SWITCH, { schema });
  await client.query(`PREPARE TRANSACTION '${buildGateName(client.database!, schema)}'`);
}

export const openGate = (client: Client, schema: string): Promise<unknown> =>
  client.query(`ROLLBACK PREPARED '${buildGateName(client.database!, schema)}'`);

/** Resolves once the move has copied everything and waits for the gate, or has failed. */
export async function waitForGate(
  client: Client,
  mover: Client,
  move: Promise<unknown>,
): Promise<void> {
  const { processID: pid } = mover as unknown as { processID: number };
  let hasEnded = false;
  const end = () => void (hasEnded = true);
  move.then(end, end);
  while (!hasEnded) {
    const [session] = await sqlOn(client)(IS_WAITING, { pid });
    if (session!.is_waiting) return;
    await setTimeout(LOOK_MS);
  }
  await move;
}

/** Ends the moves that a command left when it died, and then opens their gates. */
export async function endMoves(client: Client): Promise<void> {
  const sql = sqlOn(client);
  await sql(END_MOVES, { mover: MOVER });
  while ((await sql(LIST_MOVES, { mover: MOVER })).length > 0) await setTimeout(LOOK_MS);
  await sql(RECOVER_TRANSACTIONS, {});
  for (const { gid } of await sql(LIST_GATES, { prefix: buildGateName(client.database!, '') }))
    await client.query(`ROLLBACK PREPARED '${gid}'`);
}
