import { findRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem, notFound } from '../../platform/errors';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { foldCase } from '../../platform/tokens/filter-values';
import { SHARE_LISTS } from './queries/value-lists';

/**
 * Requires that the value lists in filters exist, and keeps them from being renamed or deleted
 * until the transaction ends. Throws 422 on the field.
 */
export async function requireValueLists(
  tx: Pick<Db, 'sql'>,
  filters: readonly string[] | null | undefined,
  field: string,
): Promise<void> {
  const listNames = combineNeeds([filters ?? []]).lists.map(({ list }) => list);
  if (listNames.length === 0) return;
  const rows = await tx.sql(SHARE_LISTS, { keys: listNames.map(foldCase) });
  const existingKeys = new Set(rows.map(({ key }) => key));
  const unknown = listNames.filter((list) => !existingKeys.has(foldCase(list)));
  if (unknown.length > 0)
    throw HttpProblem.field(
      field,
      'unknown_reference',
      `names no value list of yours: ${unknown.join(', ')}; GET /value_lists shows them`,
    );
}

/** Returns the id of a visible list of ZIP codes. Throws 404. */
export async function findZipList(db: Db, reference: Reference): Promise<bigint> {
  const id = await findRecord(db, 'value_lists', reference);
  if (!(await isZipList(db, id))) throw notFound();
  return id;
}

export async function requireZipList(db: Db, id: bigint, field: string): Promise<void> {
  if (await isZipList(db, id)) return;
  throw HttpProblem.field(
    field,
    'unknown_reference',
    'must be a list of ZIP codes, of which GET /zip_lists has all; this list is of another kind',
  );
}

const isZipList = async (db: Db, id: bigint): Promise<boolean> =>
  (await db.prisma.valueList.findFirst({ where: { id } }))?.kind === 'zip_codes';
