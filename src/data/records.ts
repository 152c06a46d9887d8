import { HttpProblem, notFound } from '../platform/errors';
import { findHidden } from './access/scope';
import { identify, OWN_KEYS, type Reference, type Table } from './references';
import type { Db } from './db';

// Finds records that requests name, or refuses the field that names them. The table is a parameter
// of every function, so these statements are composed.

export { identify, toKey, toWhere, type Reference, type Table } from './references';

export interface Lockable {
  id: bigint;
  paused: boolean;
  time_zone: string;
  public_key: string;
  status: string;
  kind: string;
}

/**
 * Locks a living record against other writers until the transaction ends, and returns its id and
 * the requested columns. Throws 404 if it does not exist, is deleted, or belongs to another
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
    return `SELECT ${select} FROM ${table} WHERE ${condition} AND deleted_at IS NULL
      FOR NO KEY UPDATE`;
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
  if ((await findHidden(db, table, [reference])).length > 0) throw notFound();
  return BigInt(id);
}

/**
 * Replaces each reference that matches a living record only by the customer's own identifier with
 * the id of that record.
 */
export async function resolveOwnKeys(
  db: Pick<Db, 'company_id' | 'query'>,
  table: Table,
  references: readonly Reference[],
): Promise<Reference[]> {
  const key = OWN_KEYS[table];
  if (!key || references.length === 0) return [...references];
  const texts = references.map(String);
  const identifiers = references.map((reference) => identify(reference));
  const listValues = (kind: 'id' | 'uuid') =>
    identifiers.flatMap((name) => (name?.key === kind ? name.value : []));
  const rows = await db.query<Record<'id' | 'uuid' | 'own', string>>({
    text: `SELECT id, uuid, ${key} AS own FROM ${table}
      WHERE company_id = $1 AND deleted_at IS NULL
        AND (${key} = ANY($2::text[]) OR id = ANY($3::bigint[]) OR uuid = ANY($4::uuid[]))`,
    values: [db.company_id, texts, listValues('id'), listValues('uuid')],
  });
  const existingKeys = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  const byOwn = new Map(rows.map(({ id, own: ownKey }) => [ownKey, id]));
  return references.map((reference, n) => {
    const isKnown = identifiers[n] && existingKeys.has(identifiers[n].value);
    return isKnown ? reference : (byOwn.get(texts[n]!) ?? reference);
  });
}

/**
 * Returns the id of the record that a filter names. It may be deleted: its former data are still
 * listed. Throws 422 on the field.
 */
export async function findFilterRecord(
  db: Db,
  table: Table,
  { reference, field }: { reference: Reference; field: string },
): Promise<string> {
  const [living] = await resolveOwnKeys(db, table, [reference]);
  const identifier = identify(living!);
  const [record] = identifier
    ? await db.query<{ id: string }>({
        text: `SELECT id FROM ${table} WHERE ${identifier.sql}`,
        values: [db.company_id, identifier.value],
      })
    : [];
  const hidden = record ? await findHidden(db, table, [record.id]) : [];
  if (!record || hidden.length > 0) throw buildReferenceProblem(field, [String(reference)]);
  return record.id;
}

async function findRow<Columns>(
  db: Db,
  reference: Reference,
  select: (condition: string) => string,
): Promise<Columns & { id: string }> {
  const identifier = identify(reference);
  if (!identifier) throw notFound();
  const [row] = await db.query<Columns & { id: string }>({
    text: select(identifier.sql),
    values: [db.company_id, identifier.value],
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
  const unless = (otherwise: () => Promise<bigint>) => (error: unknown) => {
    if (!(error instanceof HttpProblem)) throw error;
    return otherwise();
  };
  const refuse = () => Promise.reject(buildReferenceProblem(field, [String(reference)]));
  const byOwnKey = async () => {
    const [resolved] = await resolveOwnKeys(db, table, [reference]);
    return resolved === reference ? refuse() : findRecord(db, table, resolved!);
  };
  return findRecord(db, table, reference).catch(unless(byOwnKey)).catch(unless(refuse));
}

/**
 * Returns the ids of the living records that a field names, each once, ascending. Throws 422 on
 * `field`, naming each that does not exist or belongs to another company; with `lenient` these are
 * left out instead. The rows are locked until the transaction ends: against changes with SHARE,
 * also against each other with UPDATE.
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
  const resolvedReferences = await resolveOwnKeys(db, table, references);
  const { ids, missing } = await lockNamed(db, table, { references: resolvedReferences, lock });
  if (missing.size > 0 && !lenient)
    throw buildReferenceProblem(
      field,
      references.flatMap((reference, n) => (missing.has(n) ? String(reference) : [])),
    );
  return ids;
}

/** Locks living records by id and uuid; `missing` are the indexes of references that match none. */
async function lockNamed(
  db: Db,
  table: Table,
  { references, lock }: { references: readonly Reference[]; lock: 'SHARE' | 'UPDATE' },
): Promise<{ ids: bigint[]; missing: ReadonlySet<number> }> {
  const identifiers = references.map((reference) => identify(reference));
  const listValues = (kind: 'id' | 'uuid') =>
    identifiers.flatMap((name) => (name?.key === kind ? name.value : []));
  const rows = await db.query<{ id: string; uuid: string }>({
    text: `SELECT id, uuid FROM ${table}
      WHERE company_id = $1 AND (id = ANY($2::bigint[]) OR uuid = ANY($3::uuid[]))
        AND deleted_at IS NULL
      ORDER BY id FOR ${lock}`,
    values: [db.company_id, listValues('id'), listValues('uuid')],
  });
  const existingKeys = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  const hidden = new Set(await findHidden(db, table, references));
  const missing = new Set(
    references.flatMap((reference, n) =>
      !identifiers[n] || !existingKeys.has(identifiers[n].value) || hidden.has(reference) ? n : [],
    ),
  );
  const targetKeys = new Set(identifiers.flatMap((name, n) => (missing.has(n) ? [] : name!.value)));
  const ids = rows.flatMap(({ id, uuid }) =>
    targetKeys.has(id) || targetKeys.has(uuid) ? BigInt(id) : [],
  );
  return { ids, missing };
}

const MAX_NAMED = 10;

/** 422 on a field that names records that the company does not have. */
export function buildReferenceProblem(field: string, missing: readonly string[]): HttpProblem {
  const names = missing.slice(0, MAX_NAMED).join(', ');
  const more = missing.length - MAX_NAMED;
  return HttpProblem.field(
    field,
    'unknown_reference',
    `names no record of yours: ${names}${more > 0 ? ` and ${more} more` : ''}`,
  );
}
