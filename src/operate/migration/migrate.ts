import { sourceKey, type Context, type Count } from './context';
import { HISTORY, moveHistory } from './history';
import { moveDestinations, moveNumbers } from './numbers';
import { NotOffered } from './answer';
import { REMARKS, RESOURCES } from './resources';
import { moveSetup } from './setup';

// Moves an account from another service. A run can be interrupted at any time and repeated: records
// that exist here already stay unchanged.

export type Counts = Record<string, Count>;

const LISTS = ['phone_numbers', ...RESOURCES, ...HISTORY];

/** Lists that the other service did not offer. */
export const findMissingLists = (counts: Counts): string[] =>
  LISTS.filter((resource) => !Object.hasOwn(counts, resource));

/**
 * Reports to `context` everything that was not moved unchanged. Throws for a service that has none
 * of the lists: it is not the API of an account.
 */
export async function migrate(context: Context): Promise<Counts> {
  const counts: Counts = {};
  const statuses = new Set<number>();
  const move = async (resource: string, work: () => Promise<Count>): Promise<void> => {
    try {
      counts[resource] = await work();
      if (resource === 'contacts') context.existingIds.set(resource, new Set());
    } catch (error) {
      if (!(error instanceof NotOffered)) throw error;
      statuses.add(error.status);
      const done = `not moved: ${error.message}`;
      context.report({ resource, old_id: '', field: '', done });
    }
  };
  await move('phone_numbers', () => moveNumbers(context));
  for (const resource of RESOURCES) await move(resource, () => moveSetup(resource, context));
  if (counts.phone_numbers) await moveDestinations(context);
  for (const resource of HISTORY) await move(resource, () => moveHistory(resource, context));
  if (Object.keys(counts).length === 0)
    throw new Error(
      `${context.source.url} has none of the lists of an account: it answers ` +
        `${[...statuses].join(' and ')} to ${LISTS.join(', ')}. Give the address of its API, ` +
        'such as https://host/api/v1, and credentials that may read it.',
    );
  for (const [resource, done] of Object.entries(REMARKS))
    if (!counts[resource] || counts[resource].read > 0)
      context.report({ resource, old_id: '', field: '', done });
  const source = sourceKey(context);
  // The next run reads everything again, and thus finds new records.
  if (!context.dry_run) await context.db.prisma.migrationPosition.deleteMany({ where: { source } });
  return counts;
}
