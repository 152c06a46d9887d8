import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../data/client';
import { sqlOn } from '../../data/sql';
import { runInTransaction, isDeadlock } from '../../data/transaction';
import type { Deps } from '../../domain/deps';
import { readSqlState } from '../../api/reply/database-errors';
import { deleteJobs } from '../../data/jobs/delete-jobs';
import { StartError } from '../../platform/start-error';
import { deleteCompany } from '../privacy/delete-company';
import { collectFromParts } from './all-parts';
import { listStoredFiles } from './stored-files';

/**
 * Removes a demo company with everything that belongs to it: the given one, or the only one.
 * Refuses a company that is not a demo.
 */
export async function removeDemo(
  { parts, storage }: Pick<Deps, 'parts' | 'storage'>,
  id: number | undefined,
): Promise<{ id: number; name: string }> {
  const demos = await collectFromParts({ parts }, async (database) => {
    // Two: enough to see whether there is exactly one.
    const rows = await database.prisma.company.findMany({
      where: { demo: true, ...(id !== undefined && { id }) },
      orderBy: { id: 'asc' },
      take: 2,
    });
    return rows.map((demo) => ({ ...demo, database }));
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
  const companyId = demo.id;
  await markRemoved(demo.database, companyId, new Date());
  const keys = await retryWhileDisturbed(() => deleteAll(demo.database, companyId)).catch(
    async (error: unknown) => {
      await markRemoved(demo.database, companyId, null).catch(() => undefined);
      throw error;
    },
  );
  // Housekeeping removes files that cannot be removed now.
  await Promise.allSettled(keys.map((key) => storage.remove(key)));
  return { id: Number(demo.id), name: demo.name };
}

/** A removed company gets no further requests: credentials are looked up again within seconds. */
async function markRemoved({ prisma }: Database, id: bigint, at: Date | null): Promise<void> {
  await prisma.company.updateMany({ where: { id }, data: { removed_at: at } });
}

/** Deletes the company with all its records; returns the keys of its uploaded files. */
async function deleteAll({ prisma, bulk }: Database, companyId: bigint): Promise<string[]> {
  const billed = await prisma.number.findMany({
    where: {
      company_id: companyId,
      deleted_at: null,
      carrier: { not: 'sandbox' },
      carrier_number_id: { not: null },
    },
    orderBy: { id: 'asc' },
  });
  if (billed.length > 0)
    throw buildBilledError(billed.map(({ phone_number }) => `+${phone_number}`));
  return runInTransaction(bulk, async (client) => {
    const sql = sqlOn(client);
    const keys = await listStoredFiles(sql, { company_id: companyId });
    await deleteCompany(sql, companyId);
    // Last: until the company was locked, requests could add jobs.
    await deleteJobs(sql, companyId);
    return keys;
  });
}

const PAUSE_MS = 250;
/** By then, requests that began before the company was closed have ended. */
const MAX_ATTEMPTS = 120;

/** Repeats the work while running requests interfere with it. */
async function retryWhileDisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isDisturbed(error)) throw error;
      await setTimeout(PAUSE_MS);
    }
}

/** A deadlock, or a row that refers to a deleted one. */
const isDisturbed = (error: unknown): boolean =>
  isDeadlock(error) || readSqlState(error) === FOREIGN_KEY_VIOLATION;
const FOREIGN_KEY_VIOLATION = '23503';

const buildBilledError = (numbers: string[]) =>
  new StartError(
    `The carrier bills the company for ${numbers.join(', ')}: release each first, by ` +
      'DELETE /api/v1/phone_numbers/ID.',
  );
