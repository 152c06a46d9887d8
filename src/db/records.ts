import { notFound, HttpProblem } from '../errors';
import { notVisible } from './access-scope';
import { identify, type Reference, type Table } from './references';
import type { Db } from './tenant';

export { identify, type Reference, type Table } from './references';

/**
 * Conditions of a list's filters that name records, by parameter, for those that the query has: `{parameter}` is what the caller sent, a number
 * or a uuid.
 */
export function byReference(query: object, tables: Record<string, Table>): Record<string, string> {
  const conditions = Object.entries(tables).flatMap(([name, table]) => {
    const sent = (query as Record<string, Reference | undefined>)[name];
    const named = sent === undefined ? undefined : identify(sent);
    if (!named) return [];
    if (named.key === 'id') return [[name, `t.${name} = {${name}}::bigint`]];
    return [
      [
        name,
        `t.${name} = (SELECT r.id FROM ${table} r WHERE r.company_id = {company_id} AND r.uuid = {${name}}::uuid)`,
      ],
    ];
  });
  return Object.fromEntries(conditions) as Record<string, string>;
}

/** What the columns read under a lock are. */
export interface Lockable {
  id: bigint;
  paused: boolean;
  time_zone: string;
  public_key: string;
  status: string;
}

/**
 * Locks a living record against other writers until the transaction ends and answers its id with the columns asked for. Refuses with 404
 * what does not exist, is deleted, or belongs to another company: the three look the same.
 */
export async function lockRecord<C extends keyof Lockable = never>(
  db: Db,
  table: Table,
  reference: Reference,
  columns: readonly C[] = [],
): Promise<Pick<Lockable, C | 'id'>> {
  const named = identify(reference);
  const rows = named
    ? await db.query<Pick<Lockable, C> & { id: bigint | string }>({
        text: `SELECT ${['id', ...columns].join(', ')} FROM ${table} WHERE ${named.sql} AND deleted_at IS NULL FOR UPDATE`,
        values: [db.company_id, named.value],
      })
    : [];
  if (!rows[0]) throw notFound();
  return { ...rows[0], id: BigInt(rows[0].id) } as Pick<Lockable, C | 'id'>;
}

/** The id of a living record, without a lock; refuses with 404. */
export async function findRecord(db: Db, table: Table, reference: Reference): Promise<bigint> {
  const named = identify(reference);
  const rows = named
    ? await db.query<{ id: bigint | string }>({
        text: `SELECT id FROM ${table} WHERE ${named.sql} AND deleted_at IS NULL`,
        values: [db.company_id, named.value],
      })
    : [];
  if (!rows[0] || (await notVisible(db, table, [reference])).length > 0) throw notFound();
  return BigInt(rows[0].id);
}

/** The id of the living record that a field names, without a lock. Refuses with 422 on the field what names none. */
export function findNamed(
  db: Db,
  table: Table,
  { reference, field }: { reference: Reference; field: string },
): Promise<bigint> {
  return findRecord(db, table, reference).catch((error: unknown) => {
    throw error instanceof HttpProblem ? unknownReferences(field, [String(reference)]) : error;
  });
}

/**
 * The ids of living records named by `references`, each once, ascending. Refuses with 422 on `field`, naming each that does not exist;
 * another company's record is one of those. Found rows are locked against change while the transaction lasts; with UPDATE also against each other.
 */
export async function resolveReferences(
  db: Db,
  table: Table,
  references: readonly Reference[],
  { field, lock = 'SHARE' }: { field: string; lock?: 'SHARE' | 'UPDATE' },
): Promise<bigint[]> {
  if (references.length === 0) return [];
  const named = references.map((reference) => ({ reference, ...identify(reference) }));
  const ids = named.filter(({ key }) => key === 'id').map(({ value }) => value);
  const uuids = named.filter(({ key }) => key === 'uuid').map(({ value }) => value);
  const rows = await db.query<{ id: string; uuid: string }>({
    text: `SELECT id::text, uuid::text FROM ${table} WHERE company_id = $1 AND (id = ANY($2::bigint[]) OR uuid = ANY($3::uuid[])) AND deleted_at IS NULL ORDER BY id FOR ${lock}`,
    values: [db.company_id, ids, uuids],
  });
  const found = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  const hidden = new Set(await notVisible(db, table, references));
  const missing = named
    .filter(({ reference, value }) => !value || !found.has(value) || hidden.has(reference))
    .map(({ reference }) => String(reference));
  if (missing.length > 0) throw unknownReferences(field, missing);
  return rows.map(({ id }) => BigInt(id));
}

/** The ids of living buyers by their owner's identifiers; refuses with 422 on `field`, naming each that there is not. Locks as resolveReferences does. */
export async function resolveUserBuyerIds(
  db: Db,
  user_buyer_ids: readonly string[],
  field: string,
): Promise<bigint[]> {
  if (user_buyer_ids.length === 0) return [];
  const rows = await db.query<{ id: string; user_buyer_id: string }>({
    text: 'SELECT id::text, user_buyer_id FROM buyers WHERE company_id = $1 AND user_buyer_id = ANY($2::text[]) AND deleted_at IS NULL ORDER BY id FOR SHARE',
    values: [db.company_id, user_buyer_ids],
  });
  const found = new Set(rows.map(({ user_buyer_id }) => user_buyer_id));
  const missing = user_buyer_ids.filter((id) => !found.has(id));
  if (missing.length > 0) throw unknownReferences(field, missing);
  return rows.map(({ id }) => BigInt(id));
}

export function unknownReferences(field: string, missing: readonly string[]): HttpProblem {
  const shown =
    missing.slice(0, 10).join(', ') +
    (missing.length > 10 ? ` and ${missing.length - 10} more` : '');
  return HttpProblem.field(field, `names no record of yours: ${shown}`);
}

/** Rows of record_counts a count is spread over, so that parallel creates do not wait for one another. */
const SLOTS = 64;

/** Where a count is moved this time. */
export const countSlot = (): number => Math.floor(Math.random() * SLOTS);
