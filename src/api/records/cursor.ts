import { HttpProblem } from '../../platform/errors';
import { buildVisibleCondition } from '../../data/access/scope';
import { positionTemplate, type SortKey } from '../../data/projection/list-statements';
import type { Projection } from '../../data/projection/projection';
import type { Db } from '../../data/db';

// A cursor is the id of the record after which a page begins. In another order than that of ids,
// the record's sort key is looked up for the next page.

/** Starts from the first page. */
export const START = -1;
/** The cursor of a last page: nothing follows it. */
export const END = 0;

/** False for the first page, and after the last. */
export const beginsPage = (cursor: number | undefined): cursor is number =>
  cursor !== undefined && cursor !== START && cursor !== END;

/** The sort key and the id of the record before a page. */
export interface Position {
  key: string | null;
  id: number;
}

interface ListOrder {
  db: Db;
  now: Date;
  projection: Projection;
  sort: SortKey | 'key';
}

/**
 * The position before a page; undefined for the first page. Throws 422 if the order needs the
 * record of the cursor, and the caller can see no such record.
 */
export async function findPosition(
  cursor: number | undefined,
  { db, now, projection, sort }: ListOrder,
): Promise<Position | undefined> {
  if (!beginsPage(cursor)) return undefined;
  if (sort === 'key') return { key: '', id: cursor };
  const scope = db.accessScope;
  const find = positionTemplate(
    projection,
    sort,
    scope && buildVisibleCondition(projection.plural),
  );
  const [row] = await db.query<{ key: string | null }>(
    find({ company_id: db.company_id, now: now.toISOString(), after_id: cursor, ...scope }),
  );
  if (row) return { key: row.key, id: cursor };
  throw HttpProblem.field(
    'cursor',
    'invalid_cursor',
    'must be -1 or the metadata.next_cursor of a page',
  );
}
