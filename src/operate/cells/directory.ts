import type { Client } from 'pg';
import { sqlOn, type Sql } from '../../data/sql';
import { LIST_COMPANIES_OF, LIST_LOCAL_DIRECTORY, MAKE_DIRECTORY } from './queries/directory';

export const CELL_STATES = {
  /** Its rows are being copied. */
  filling: 'filling',
  /** It is complete, but other cells of the distribution are not. */
  filled: 'filled',
  open: 'open',
  moving: 'moving',
} as const;

export type CellState = keyof typeof CELL_STATES;

/** True if a cell answers requests, or will in a moment. */
export const isInUse = (state: string): boolean =>
  state === CELL_STATES.open || state === CELL_STATES.moving;

/** The companies assigned to a cell. */
export const listCellCompanies = async (sql: Sql, cellId: number): Promise<string[]> =>
  (await sql(LIST_COMPANIES_OF, { cell_id: cellId })).map(({ company_id }) => company_id);

/** Makes the tables of the directory, which every node then has. */
export async function makeDirectory(coordinator: Client): Promise<void> {
  for (const { text } of MAKE_DIRECTORY) await coordinator.query(text);
  for (const { command } of await sqlOn(coordinator)(LIST_LOCAL_DIRECTORY, {}))
    await coordinator.query(command!);
}
