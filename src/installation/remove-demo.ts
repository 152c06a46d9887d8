import { sqlOn } from '../db/sql';
import { inTransaction, retryOnDeadlock } from '../db/transaction';
import type { Deps } from '../deps';
import { deleteJobs } from '../jobs/delete-jobs';
import { StartError } from '../start-error';
import { fromAllParts } from './all-parts';
import { BILLED_NUMBERS, DELETE_COMPANY, FIND_DEMOS, UPLOADED_FILES } from './queries/companies';

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
  const keys = await retryOnDeadlock(() =>
    inTransaction(demo.database.bulk, async (client) => {
      const sql = sqlOn(client);
      const billed = await sql(BILLED_NUMBERS, { company_id });
      if (billed.length > 0) throw stillBilled(billed.map(({ number }) => number));
      const files = await sql(UPLOADED_FILES, { company_id });
      await deleteJobs(sql, company_id);
      await sql(DELETE_COMPANY, { company_id });
      return files.flatMap(({ key }) => key ?? []);
    }),
  );
  // What cannot be removed now is removed by housekeeping.
  await Promise.allSettled(keys.map((key) => storage.remove(key)));
  return { id: Number(demo.id), name: demo.name };
}

const stillBilled = (numbers: string[]) =>
  new StartError(
    `The carrier bills the company for ${numbers.join(', ')}: release each first, by ` +
      'DELETE /api/v1/phone_numbers/ID.',
  );
