import { HttpProblem, notFound } from '../errors';
import { notVisible } from './access-scope';
import { identify, type Reference, type Table } from './references';
import type { Db } from './tenant';

// Records named by requests: found, or refused on the field that names them. The table is a
// parameter of every function, so these statements are composed.

export { identify, type Reference, type Table } from './references';

/**
 * Conditions of a list's filters that name records, by parameter, for the parameters of the query:
 * `{parameter}` is what the caller sent, an id or a uuid.
 */
export function byReference(query: object, tables: Record<string, Table>): Record<string, string> {
  const sent = query as Record<string, Reference | undefined>;
  const conditions = Object.entries(tables).flatMap(([name, table]) => {
    const named = sent[name] === undefined ? undefined : identify(sent[name]);
    if (!named) return [];
    const id =
      named.key === 'id'
        ? `{${name}}::bigint`
        : `(SELECT r.id FROM ${table} r
            WHERE r.company_id = {company_id} AND r.uuid = {${name}}::uuid)`;
    return [[name, `t.${name} = ${id}`]];
  });
  return Object.fromEntries(conditions) as Record<string, string>;
}

/** Columns that can be read together with a lock, and their types. */
export interface Lockable {
  id: bigint;
  paused: boolean;
  time_zone: string;
  public_key: string;
  status: string;
}

/**
 * Locks a living record against other writers until the transaction ends, and returns its id and
 * the columns asked for. Throws 404 for what does not exist, is deleted, or belongs to another
 * company.
 */
export async function lockRecord<C extends keyof Lockable = never>(
  db: Db,
  table: Table,
  reference: Reference,
  columns: readonly C[] = [],
): Promise<Pick<Lockable, C | 'id'>> {
  const row = await findRow<Pick<Lockable, C>>(db, reference, (condition) => {
    const select = ['id', ...columns].join(', ');
    return `SELECT ${select} FROM ${table} WHERE ${condition} AND deleted_at IS NULL FOR UPDATE`;
  });
  return { ...row, id: BigInt(row.id) } as Pick<Lockable, C | 'id'>;
}

/** Returns the id of a living, visible record, without a lock. Throws 404. */
export async function findRecord(db: Db, table: Table, reference: Reference): Promise<bigint> {
  const { id } = await findRow(
    db,
    reference,
    (condition) => `SELECT id FROM ${table} WHERE ${condition} AND deleted_at IS NULL`,
  );
  if ((await notVisible(db, table, [reference])).length > 0) throw notFound();
  return BigInt(id);
}

async function findRow<Columns>(
  db: Db,
  reference: Reference,
  select: (condition: string) => string,
): Promise<Columns & { id: string }> {
  const named = identify(reference);
  if (!named) throw notFound();
  const [row] = await db.query<Columns & { id: string }>({
    text: select(named.sql),
    values: [db.company_id, named.value],
  });
  if (!row) throw notFound();
  return row;
}

/**
 * Returns the id of the living record that a field names, without a lock. Throws 422 on the field.
 */
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
 * Returns the ids of the living records that a field names, each once, ascending. Throws 422 on
 * `field`, naming each that does not exist or belongs to another company; with `lenient` those are
 * left out instead. The rows are locked while
 * the transaction lasts: against changes with SHARE, also against each other with UPDATE.
 */
export async function resolveReferences(
  db: Db,
  table: Table,
  references: readonly Reference[],
  {
    field,
    lock = 'SHARE',
    lenient = false,
  }: { field: string; lock?: 'SHARE' | 'UPDATE'; lenient?: boolean },
): Promise<bigint[]> {
  if (references.length === 0) return [];
  const named = references.map((reference) => ({ reference, ...identify(reference) }));
  const valuesOf = (kind: 'id' | 'uuid') =>
    named.filter(({ key }) => key === kind).map(({ value }) => value);
  const rows = await db.query<{ id: string; uuid: string }>({
    text: `SELECT id, uuid FROM ${table}
      WHERE company_id = $1 AND (id = ANY($2::bigint[]) OR uuid = ANY($3::uuid[]))
        AND deleted_at IS NULL
      ORDER BY id FOR ${lock}`,
    values: [db.company_id, valuesOf('id'), valuesOf('uuid')],
  });
  const found = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  const hidden = new Set(await notVisible(db, table, references));
  const isMissing = ({ reference, value }: (typeof named)[number]) =>
    !value || !found.has(value) || hidden.has(reference);
  const missing = named.filter(isMissing).map(({ reference }) => String(reference));
  if (missing.length > 0 && !lenient) throw unknownReferences(field, missing);
  const wanted = new Set(named.flatMap((one) => (isMissing(one) ? [] : one.value!)));
  return rows.flatMap(({ id, uuid }) => (wanted.has(id) || wanted.has(uuid) ? BigInt(id) : []));
}

const MAX_NAMED = 10;

/** 422 on a field that names records that the company does not have. */
export function unknownReferences(field: string, missing: readonly string[]): HttpProblem {
  const names = missing.slice(0, MAX_NAMED).join(', ');
  const more = missing.length - MAX_NAMED;
  return HttpProblem.field(
    field,
    'unknown_reference',
    `names no record of yours: ${names}${more > 0 ? ` and ${more} more` : ''}`,
  );
}
