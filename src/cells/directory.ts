import type { Client } from 'pg';
import { sqlOn } from '../db/sql';
import { LIST_LOCAL_DIRECTORY, MAKE_DIRECTORY } from './queries/directory';

/** Makes the tables of the directory, which every node then has. */
export async function makeDirectory(coordinator: Client): Promise<void> {
  for (const { text } of MAKE_DIRECTORY) await coordinator.query(text);
  for (const { command } of await sqlOn(coordinator)(LIST_LOCAL_DIRECTORY, {}))
    await coordinator.query(command!);
}
