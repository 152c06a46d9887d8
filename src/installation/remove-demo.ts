import { setTimeout } from 'node:timers/promises';
import type { Database } from '../db/client';
import { sqlOn } from '../db/sql';
import { inTransaction, isDeadlock } from '../db/transaction';
import type { Deps } from '../deps';
import { sqlStateOf } from '../http/database-errors';
import { deleteJobs } from '../jobs/delete-jobs';
import { StartError } from '../start-error';
import { fromAllParts } from './all-parts';
import {
  BILLED_NUMBERS,
  CLOSE_COMPANY,
  DELETE_COMPANY,
  FIND_DEMOS,
  REOPEN_COMPANY,
  UPLOADED_FILES,
} from './queries/companies';

/**
 * Removes a demo company with everything that belongs to it: the one named, or the only one. A
 * company that was not made as a demo is refused.
 */
export async function removeDemo(
  { parts, storage }: Pick<Deps, 'parts' | 'storage'>,
  id: number | undefined,
): Promise<{ id: number; name: string }> {
  const demos = await fromAllParts({ parts }, async (database) => {
    const found = await database.sql(FIND_DEMOS, { id: id ?? null });
    return found.map((demo) => ({ ...demo, database }));
  });
  if (demos.length > 1)
    throw new StartError('There are several demo companies: name one with --company ID.');
  const [demo] = demos;
  if (!demo)
    throw new StartError(
      id === undefined
        ? 'There is no demo company.'
        : `Company ${id} is not a demo company: only those can be removed.`,
    );
  const company_id = BigInt(demo.id);
  await demo.database.sql(CLOSE_COMPANY, { company_id });
  const keys = await untilUndisturbed(() => deleteAll(demo.database, company_id)).catch(
    async (error: unknown) => {
      await demo.database.sql(REOPEN_COMPANY, { company_id }).catch(() => undefined);
      throw error;
    },
  );
  // What cannot be removed now is removed by housekeeping.
  await Promise.allSettled(keys.map((key) => storage.remove(key)));
  return { id: Number(demo.id), name: demo.name };
}

/** Deletes the company with all that is its own; returns the keys of its uploaded files. */
const deleteAll = ({ bulk }: Database, company_id: bigint): Promise<string[]> =>
  inTransaction(bulk, async (client) => {
    const sql = sqlOn(client);
    const billed = await sql(BILLED_NUMBERS, { company_id });
    if (billed.length > 0) throw stillBilled(billed.map(({ number }) => number));
    const files = await sql(UPLOADED_FILES, { company_id });
    await sql(DELETE_COMPANY, { company_id });
    // Last: until the company was locked, requests could add some.
    await deleteJobs(sql, company_id);
    return files.flatMap(({ key }) => key ?? []);
  });

const PAUSE_MS = 250;
/** Requests that were let in before the company was closed are over by then. */
const MAX_ATTEMPTS = 120;

/** Does the work again while requests that are still running get in its way. */
async function untilUndisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isDisturbed(error)) throw error;
      await setTimeout(PAUSE_MS);
    }
}

/** A deadlock, or a row that refers to what was just deleted. */
const isDisturbed = (error: unknown): boolean =>
  isDeadlock(error) || sqlStateOf(error) === FOREIGN_KEY_VIOLATION;
const FOREIGN_KEY_VIOLATION = '23503';

const stillBilled = (numbers: string[]) =>
  new StartError(
    `The carrier bills the company for ${numbers.join(', ')}: release each first, by ` +
      'DELETE /api/v1/phone_numbers/ID.',
  );
