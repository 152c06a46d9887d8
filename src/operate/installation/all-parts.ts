import type { Database } from '../../data/client';
import type { Deps } from '../../domain/deps';

/** Runs `look` in each database of an installation, and returns all rows together. */
export async function collectFromParts<Found>(
  { parts }: Pick<Deps, 'parts'>,
  look: (database: Database) => Promise<Found[]>,
): Promise<Found[]> {
  return (await Promise.all(parts().map(({ database }) => look(database)))).flat();
}
