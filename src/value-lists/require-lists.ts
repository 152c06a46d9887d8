import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { needsOf } from '../tokens/filter-needs';
import { folded } from '../tokens/filter-values';
import { SHARE_LISTS } from './queries/value-lists';

/**
 * Requires that the value lists exist that filters name, and keeps them from being renamed or
 * deleted until the transaction ends. Throws 422 on the field.
 */
export async function requireValueLists(
  tx: Pick<Db, 'sql'>,
  filters: readonly string[] | null | undefined,
  field: string,
): Promise<void> {
  const named = needsOf([filters ?? []]).lists.map(({ list }) => list);
  if (named.length === 0) return;
  const rows = await tx.sql(SHARE_LISTS, { keys: named.map(folded) });
  const known = new Set(rows.map(({ key }) => key));
  const unknown = named.filter((list) => !known.has(folded(list)));
  if (unknown.length > 0)
    throw HttpProblem.field(
      field,
      'unknown_reference',
      `names no value list of yours: ${unknown.join(', ')}; GET /value_lists shows them`,
    );
}
