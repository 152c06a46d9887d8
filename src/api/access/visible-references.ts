import { contract, type Operation, type Schema } from '../../platform/contract/contract';
import {
  findFilterRecord,
  buildReferenceProblem,
  resolveOwnKeys,
  type Reference,
  type Table,
} from '../../data/records';
import { buildAccessScope, findHidden, findNotWhole, mayReportOn } from '../../data/access/scope';
import { isRemoval, parseTelephone } from '../../data/references';
import { withContext } from '../../data/tenant';
import { type Db } from '../../data/db';
import { HttpProblem, notFound } from '../../platform/errors';
import { COMPANY_WIDE, type Caller } from '../auth/caller';
import { isReport, readBodyFields } from './body-fields';

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

interface NamedReference {
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
  const inPath = recordsInPath(operation.path, params);
  const schema = operation.body ?? operation.multipart;
  for (const record of inPath) {
    const references = await findHidden(db, record.table, record.references, record.key);
    if (references.length === 0) continue;
    const reports = schema && hasReport(schema, body);
    if (!reports || !(await mayReportOn(db, { ...record, references }))) throw notFound();
  }
  const inBody = schema ? listReferencesIn(schema, body) : [];
  for (const reference of inBody) {
    const { field, table, key, references: sentReferences } = reference;
    if (isRemoval(field)) continue;
    const references =
      key === 'id' ? await resolveOwnKeys(db, table, sentReferences) : sentReferences;
    reference.references = references;
    const missing = await findHidden(db, table, references, key);
    if (missing.length > 0) throw buildReferenceProblem(field, missing.map(String));
  }
  for (const reference of [...inPath, ...inBody])
    if (operation.shared.includes(reference.field)) await requireWhole(db, caller, reference);
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
  const filters = listReferenceFilters(parameters).filter(
    ({ field }) => typeof query[field] === 'string',
  );
  if (filters.length === 0) return query;
  const resolved = { ...query };
  for (const { field, table } of filters)
    resolved[field] = await findFilterRecord(db, table, {
      reference: query[field] as string,
      field,
    });
  return resolved;
}

const filtersByParameters = new WeakMap<
  Operation['parameters'],
  { field: string; table: Table }[]
>();

function listReferenceFilters(
  parameters: Operation['parameters'],
): { field: string; table: Table }[] {
  let filters = filtersByParameters.get(parameters);
  if (!filters) {
    filters = parameters.flatMap(({ name: field, in: requestPart, schema }) => {
      const table = contract.resolve(schema)['x-reference'] as Table | undefined;
      return table && requestPart === 'query' ? [{ field, table }] : [];
    });
    filtersByParameters.set(parameters, filters);
  }
  return filters;
}

export const tableOfPath = (path: string): Table => {
  const resource = path.split('/')[3]!;
  return TABLES[resource] ?? (resource as Table);
};

export function recordsInPath(path: string, params: Record<string, unknown>): NamedReference[] {
  const table = tableOfPath(path);
  return Object.entries(IN_PATH).flatMap(([field, key]) => {
    if (params[field] === undefined) return [];
    const reference = params[field] as Reference;
    const number = table === 'numbers' ? parseTelephone(String(reference)) : undefined;
    return number
      ? [{ field, table, key: 'phone_number', references: [number] }]
      : [{ field, table, key, references: [reference] }];
  });
}

async function requireWhole(
  db: Db,
  caller: Caller,
  { table, key, references }: NamedReference,
): Promise<void> {
  const partial = await findNotWhole(db, table, references, key);
  if (partial.length === 0) return;
  // The permission is checked first: a message is visible to a person, whatever the person's teams
  // allow.
  if (caller.permissions.has(COMPANY_WIDE)) {
    const permitted = withContext(db, { accessScope: buildAccessScope(caller, COMPANY_WIDE) });
    if ((await findHidden(permitted, table, partial, key)).length === 0) return;
  }
  throw new HttpProblem(
    'access_limited',
    "This record is not your teams' alone: others use it too. Changing it needs" +
      ` the permission ${COMPANY_WIDE} of a team that is granted the record.`,
  );
}

/** The records that a body names in fields with x-reference. */
const listReferencesIn = (schema: Schema, body: unknown): NamedReference[] =>
  readBodyFields(schema, body, ({ field, property, value, siblings }) => {
    if (value === null || value === '') return [];
    const target = findTarget(property, siblings);
    return target ? [toNamedReference(field, target, [value].flat() as Reference[])] : undefined;
  });

const hasReport = (schema: Schema, body: unknown): boolean =>
  readBodyFields(schema, body, (bodyField) => (isReport(bodyField) ? [true] : [])).length > 0;

/** Undefined where the type is not sent: then only the handler knows the target, and checks it. */
function findTarget(property: Schema, fields: object): string | undefined {
  const by = property['x-reference-by'];
  if (!by) return property['x-reference'];
  const type = (fields as Record<string, unknown>)[by.field];
  return typeof type === 'string' && Object.hasOwn(by.tables, type) ? by.tables[type] : undefined;
}

function toNamedReference(field: string, target: string, references: Reference[]): NamedReference {
  const [table, key = 'id'] = target.split('.') as [Table, string?];
  return { field, table, key, references };
}
