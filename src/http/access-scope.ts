import { contract, facets, type Operation, type Schema } from '../contract';
import { unknownReferences, type Reference, type Table } from '../db/records';
import { notVisible } from '../db/access-scope';
import { telephoneOf } from '../db/references';
import type { Db } from '../db/tenant';
import { notFound } from '../errors';

// A limited caller sees only the records of the caller's teams. The records that a request names
// are checked here, by the contract, before a handler runs: one that is not visible looks exactly
// like one that does not exist.

/** Tables that are not named like their resource. */
const TABLES: Record<string, Table> = { phone_numbers: 'numbers', call_sessions: 'calls' };
const IN_PATH: Record<string, string> = { id: 'id', uuid: 'id', user_buyer_id: 'user_buyer_id' };

/** Enough for every body of the contract that names records. */
const MAX_DEPTH = 3;

interface Named {
  field: string;
  table: Table;
  key: string;
  references: Reference[];
}

interface Request {
  operation: Pick<Operation, 'path' | 'body' | 'multipart'>;
  params: Record<string, unknown>;
  body: unknown;
}

/** Throws 404 for a record in the path that the caller cannot see, and 422 for one in a field. */
export async function requireVisibleReferences(
  db: Db,
  { operation, params, body }: Request,
): Promise<void> {
  if (!db.accessScope) return;
  await requireVisiblePath(db, operation.path.split('/')[3]!, params);
  const schema = operation.multipart && !operation.body ? operation.multipart : operation.body;
  for (const { field, table, key, references } of schema ? namedIn(schema, body) : []) {
    const missing = await notVisible(db, table, references, key);
    if (missing.length > 0) throw unknownReferences(field, missing.map(String));
  }
}

async function requireVisiblePath(
  db: Db,
  resource: string,
  params: Record<string, unknown>,
): Promise<void> {
  for (const [name, key] of Object.entries(IN_PATH)) {
    if (params[name] === undefined) continue;
    const reference = params[name] as Reference;
    const number = resource === 'phone_numbers' ? telephoneOf(String(reference)) : undefined;
    const hidden = number
      ? await notVisible(db, 'numbers', [number], 'phone_number')
      : await notVisible(db, TABLES[resource] ?? (resource as Table), [reference], key);
    if (hidden.length > 0) throw notFound();
  }
}

/** The records that a value names in fields with x-reference, at any depth. */
function namedIn(schema: Schema, value: unknown, prefix = '', depth = 0): Named[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  const { properties } = facets(schema);
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = properties[name];
    if (!property || inner === null || inner === '') return [];
    const field = prefix + name;
    const target = property['x-reference'];
    if (target) return [named(field, target, [inner].flat() as Reference[])];
    const { items } = facets(property);
    if (Array.isArray(inner))
      return items
        ? inner.flatMap((item, n) => namedIn(items, item, `${field}.${n}.`, depth + 1))
        : [];
    return namedIn(contract.resolve(property), inner, `${field}.`, depth + 1);
  });
}

function named(field: string, target: string, references: Reference[]): Named {
  const [table, key = 'id'] = target.split('.') as [Table, string?];
  return { field, table, key, references };
}
