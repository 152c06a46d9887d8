import { sourceKey, type Context, type Count } from './context';
import { HISTORY, moveHistory } from './history';
import { moveDestinations, moveNumbers } from './numbers';
import { DELETE_POSITIONS } from './queries/positions';
import { NotOffered } from './reader';
import { REMARKS, RESOURCES } from './resources';
import { moveSetup } from './setup';

// Moves an account from another service. A run can be ended at any time and begun again: what is
// here already stays as it is.

/** What happened to the records, by resource. */
export type Counts = Record<string, Count>;

/** The reports of `context` say what was not moved as it was. */
export async function migrate(context: Context): Promise<Counts> {
  const counts: Counts = {};
  const move = async (resource: string, work: () => Promise<Count>): Promise<void> => {
    try {
      counts[resource] = await work();
      if (resource === 'contacts') context.known.set(resource, new Set());
    } catch (error) {
      if (!(error instanceof NotOffered)) throw error;
      const done = `not moved: ${error.message}`;
      context.report({ resource, old_id: '', field: '', done });
    }
  };
  await move('phone_numbers', () => moveNumbers(context));
  for (const resource of RESOURCES) await move(resource, () => moveSetup(resource, context));
  if (counts.phone_numbers) await moveDestinations(context);
  for (const resource of HISTORY) await move(resource, () => moveHistory(resource, context));
  for (const [resource, done] of Object.entries(REMARKS))
    if (!counts[resource] || counts[resource].read > 0)
      context.report({ resource, old_id: '', field: '', done });
  if (!context.dry_run) await context.db.sql(DELETE_POSITIONS, { source: sourceKey(context) });
  return counts;
}
