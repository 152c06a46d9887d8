import { contract, facets, type Operation, type Schema } from '../contract';
import { unknownReferences, type Reference, type Table } from '../db/records';
import { notVisible } from '../db/access-scope';
import { telephoneOf } from '../db/references';
import type { Db } from '../db/tenant';
import { notFound } from '../errors';

// A limited caller knows the records of the caller's teams and no others. What a request names is looked at here, by the contract, before any handler is
// asked: a record in the path is there or is not, one in the body is theirs or is none.

/** Tables that are not called as their resource is. */
const TABLES: Record<string, Table> = { phone_numbers: 'numbers', call_sessions: 'calls' };
const IN_PATH: Record<string, string> = { id: 'id', uuid: 'id', user_buyer_id: 'user_buyer_id' };

/** Deep enough for every body of the contract that names records. */
const DEPTH = 3;

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

/** Refuses, as if it were not there, what a limited caller's request names and the caller does not see: 404 for the path, 422 on a field. */
export async function requireVisibleReferences(
  db: Db,
  { operation, params, body }: Request,
): Promise<void> {
  if (!db.accessScope) return;
  const resource = operation.path.split('/')[3]!;
  for (const [name, key] of Object.entries(IN_PATH)) {
    if (params[name] === undefined) continue;
    const reference = params[name] as Reference;
    const number = resource === 'phone_numbers' ? telephoneOf(String(reference)) : undefined;
    const hidden = number
      ? notVisible(db, 'numbers', [number], 'phone_number')
      : notVisible(db, TABLES[resource] ?? (resource as Table), [reference], key);
    if ((await hidden).length > 0) throw notFound();
  }
  const schema = operation.multipart && !operation.body ? operation.multipart : operation.body;
  for (const { field, table, key, references } of schema ? namedIn(schema, body) : []) {
    const missing = await notVisible(db, table, references, key);
    if (missing.length > 0) throw unknownReferences(field, missing.map(String));
  }
}

/** The records that a value names by fields with x-reference, however deep. */
function namedIn(schema: Schema, value: unknown, prefix = '', depth = 0): Named[] {
  if (typeof value !== 'object' || value === null || depth > DEPTH) return [];
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
