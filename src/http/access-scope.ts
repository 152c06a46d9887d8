import { contract, facets, type Operation, type Schema } from '../contract';
import {
  findFiltered,
  unknownReferences,
  withoutOwnKeys,
  type Reference,
  type Table,
} from '../db/records';
import { notVisible, notWhole } from '../db/access-scope';
import { isRemoval, telephoneOf } from '../db/references';
import { withContext, type Db } from '../db/tenant';
import { HttpProblem, notFound } from '../errors';
import { accessScopeOf, COMPANY_WIDE, type Caller } from './auth/caller';

// A limited caller sees only the records of the caller's teams. The records that a request names
// are checked here, by the contract, before a handler runs: one that is not visible looks exactly
// like one that does not exist, and one that others use too is changed only with a permission.

/** Tables that are not named like their resource. */
const TABLES: Record<string, Table> = {
  phone_numbers: 'numbers',
  call_sessions: 'calls',
  zip_lists: 'value_lists',
};
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
  operation: Pick<Operation, 'path' | 'body' | 'multipart' | 'shared'>;
  params: Record<string, unknown>;
  body: unknown;
}

/**
 * Throws 404 for a record in the path that the caller cannot see, 422 for one in a field, and 403
 * for one that is not the caller's alone where the operation would change it.
 */
export async function requireVisibleReferences(
  db: Db,
  caller: Caller,
  { operation, params, body }: Request,
): Promise<void> {
  if (!db.accessScope) return;
  const in_path = recordsInPath(operation.path, params);
  for (const { table, key, references } of in_path)
    if ((await notVisible(db, table, references, key)).length > 0) throw notFound();
  const schema = operation.multipart && !operation.body ? operation.multipart : operation.body;
  const in_body = schema ? namedIn(schema, body) : [];
  for (const named of in_body) {
    const { field, table, key, references: sent } = named;
    if (isRemoval(field)) continue;
    const references = key === 'id' ? await withoutOwnKeys(db, table, sent) : sent;
    named.references = references;
    const missing = await notVisible(db, table, references, key);
    if (missing.length > 0) throw unknownReferences(field, missing.map(String));
  }
  for (const named of [...in_path, ...in_body])
    if (operation.shared.includes(named.field)) await requireWhole(db, caller, named);
}

/**
 * The query with the id in place of each reference of a filter. Throws 422 for one that names no
 * record that the caller may see: a list would only be empty.
 */
export async function resolveFilters(
  db: Db,
  { parameters }: Pick<Operation, 'parameters'>,
  query: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const named = referencesOf(parameters).filter(({ field }) => typeof query[field] === 'string');
  if (named.length === 0) return query;
  const resolved = { ...query };
  for (const { field, table } of named)
    resolved[field] = await findFiltered(db, table, { reference: query[field] as string, field });
  return resolved;
}

const known = new WeakMap<Operation['parameters'], { field: string; table: Table }[]>();

function referencesOf(parameters: Operation['parameters']): { field: string; table: Table }[] {
  let found = known.get(parameters);
  if (!found) {
    found = parameters.flatMap(({ name: field, in: place, schema }) => {
      const table = contract.resolve(schema)['x-reference'] as Table | undefined;
      return table && place === 'query' ? [{ field, table }] : [];
    });
    known.set(parameters, found);
  }
  return found;
}

export const tableOfPath = (path: string): Table => {
  const resource = path.split('/')[3]!;
  return TABLES[resource] ?? (resource as Table);
};

export function recordsInPath(path: string, params: Record<string, unknown>): Named[] {
  const table = tableOfPath(path);
  return Object.entries(IN_PATH).flatMap(([field, key]) => {
    if (params[field] === undefined) return [];
    const reference = params[field] as Reference;
    const number = table === 'numbers' ? telephoneOf(String(reference)) : undefined;
    return number
      ? [{ field, table, key: 'phone_number', references: [number] }]
      : [{ field, table, key, references: [reference] }];
  });
}

async function requireWhole(
  db: Db,
  caller: Caller,
  { table, key, references }: Named,
): Promise<void> {
  const partial = await notWhole(db, table, references, key);
  if (partial.length === 0) return;
  // The permission is checked first: a message is visible to a person, whatever the person's teams
  // allow.
  if (caller.permissions.has(COMPANY_WIDE)) {
    const permitted = withContext(db, { accessScope: accessScopeOf(caller, COMPANY_WIDE) });
    if ((await notVisible(permitted, table, partial, key)).length === 0) return;
  }
  throw new HttpProblem(
    'access_limited',
    "This record is not your teams' alone: others use it too. Changing it needs" +
      ` the permission ${COMPANY_WIDE} of a team that is granted the record.`,
  );
}

/** The records that a value names in fields with x-reference, at any depth. */
function namedIn(schema: Schema, value: unknown, prefix = '', depth = 0): Named[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  const { properties } = facets(schema);
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = properties[name];
    if (!property || inner === null || inner === '') return [];
    const field = prefix + name;
    const target = targetOf(property, value);
    if (target) return [named(field, target, [inner].flat() as Reference[])];
    const { items } = facets(property);
    if (Array.isArray(inner))
      return items
        ? inner.flatMap((item, n) => namedIn(items, item, `${field}.${n}.`, depth + 1))
        : [];
    return namedIn(contract.resolve(property), inner, `${field}.`, depth + 1);
  });
}

/** Undefined where the type is not sent: then only the handler knows the target, and checks it. */
function targetOf(property: Schema, sent: object): string | undefined {
  const by = property['x-reference-by'];
  if (!by) return property['x-reference'];
  const type = (sent as Record<string, unknown>)[by.field];
  return typeof type === 'string' && Object.hasOwn(by.tables, type) ? by.tables[type] : undefined;
}

function named(field: string, target: string, references: Reference[]): Named {
  const [table, key = 'id'] = target.split('.') as [Table, string?];
  return { field, table, key, references };
}
