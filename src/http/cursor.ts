import { HttpProblem } from '../errors';
import type { ListQuery } from './list';
import { type SortKey } from '../db/list-statements';

// A cursor is the position after which a page begins. In the order of ids it is the id itself; in
// another order it is opaque, and remembers that order.

/** The cursor of a last page: nothing follows it. */
export const END = '0';

/** The sort key and the id of the record before a page. */
interface Position {
  key: string | null;
  id: string;
}

type Ordered = Pick<ListQuery, 'order' | 'order_dir'>;

const orderName = ({ order = 'id', order_dir = 'asc' }: Ordered): string => `${order} ${order_dir}`;

/** The cursor of the page after a record. */
export const nextCursor = (
  { key, id }: { key: string | null; id: string | null },
  query: Ordered,
  sort: SortKey | 'id',
): number | string =>
  sort === 'id'
    ? Number(id)
    : Buffer.from(JSON.stringify([orderName(query), key, id])).toString('base64url');

/** How PostgreSQL writes a key of each type, in a session whose zone is UTC. */
const KEYS: Record<SortKey['type'], RegExp> = {
  text: /^[^\0]{0,5000}$/,
  bigint: /^-?\d{1,18}$/,
  numeric: /^-?\d{1,15}(\.\d{1,10})?$/,
  'double precision': /^-?\d{1,15}(\.\d{1,20})?(e[+-]\d{1,3})?$/,
  boolean: /^(true|false)$/,
  timestamptz: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00$/,
};

/** Where a page begins: undefined for the first. Throws 422 for a cursor of another order. */
export function positionOf(
  cursor: string,
  query: Ordered,
  sort: SortKey | 'id',
): Position | undefined {
  if (cursor === '-1' || cursor === END) return undefined;
  const by_id = (query.order ?? 'id') === 'id';
  const position = by_id ? parseId(cursor) : parseOpaque(cursor, orderName(query));
  const is_readable =
    position && (sort === 'id' || position.key === null || KEYS[sort.type].test(position.key));
  if (!is_readable)
    throw HttpProblem.field(
      'cursor',
      'invalid_cursor',
      'must be -1 or the metadata.next_cursor of a page in the same order',
    );
  return position;
}

const isId = (id: unknown): boolean => /^\d{1,15}$/.test(String(id));

const parseId = (cursor: string): Position | undefined =>
  isId(cursor) ? { key: '', id: cursor } : undefined;

function parseOpaque(cursor: string, order: string): Position | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [made_for, key, id] = parts as [unknown, unknown, unknown];
    const is_valid = made_for === order && (key === null || typeof key === 'string') && isId(id);
    return is_valid ? { key: key as string | null, id: String(id) } : undefined;
  } catch {
    return undefined;
  }
}
