import { contract, facets, type Schema } from '../../src/platform/contract/contract';
import type { Api } from './world';

export type Fields = Record<string, unknown>;

/** Records by their resource and a name; a field with ids of other records takes their names. */
type RecordTable = Record<string, Record<string, Fields>>;
type NameIn<Table extends RecordTable> = {
  [Resource in keyof Table]: keyof Table[Resource];
}[keyof Table] &
  string;

let numberCount = 1_000;
/** Another telephone number each time. */
export const nextNumber = (prefix = '+1212555') =>
  `${prefix}${String(numberCount++ % 10_000).padStart(4, '0')}`;

/** Creates a record, and returns it as the answer shows it. */
export async function createRecord(api: Api, path: string, fields: object = {}) {
  const res = await api('post', path, { body: fields });
  const faults = Object.keys(res.body.errors ?? {});
  if (res.status !== 201 || faults.length > 0) throw new Error(`${path}: ${res.text}`);
  return res.body[res.body.metadata.root];
}

/** Creates the records of a table, in its order, and returns their ids by their names. */
export async function createRecords<const Table extends RecordTable>(
  api: Api,
  table: Table,
): Promise<Record<NameIn<Table>, number>> {
  const ids: Record<string, number> = {};
  for (const [resource, records] of Object.entries(table)) {
    const { body } = contract.operations.find(
      ({ method, path }) => method === 'post' && path === `/api/v1/${resource}`,
    )!;
    for (const [name, fields] of Object.entries(records)) {
      if (name in ids) throw new Error(`two records are named ${name}`);
      const named = { ...buildDefaults(body!, name), ...fields };
      const record = await createRecord(api, resource, replaceNames(named, body!, ids) as Fields);
      ids[name] = record.id;
    }
  }
  return ids;
}

const DEFAULTS: Record<string, (name: string) => string> = {
  name: (name) => name,
  key: (name) => name,
  user_fleet_id: (name) => name,
  vanity_uri: (name) => `${name}-${numberCount++}`,
  email: (name) => `${name}@example.com`,
};

/** Fields that a record cannot be without, and the number of a buyer. */
function buildDefaults(body: Schema, name: string): Fields {
  const { required = [] } = contract.resolve(body);
  const { properties } = facets(body);
  const isBuyer = 'user_buyer_id' in properties;
  return {
    ...Object.fromEntries(
      Object.entries(DEFAULTS)
        .filter(([field]) => required.includes(field) || (field === 'name' && field in properties))
        .map(([field, build]) => [field, build(name)]),
    ),
    ...(isBuyer && { number: nextNumber() }),
  };
}

/** Replaces names by ids in the fields that the contract marks as references. */
function replaceNames(value: unknown, schema: Schema, ids: Record<string, number>): unknown {
  const { 'x-reference': target, 'x-reference-by': by } = contract.resolve(schema);
  const isReference = by !== undefined || (target !== undefined && !target.includes('.'));
  const { properties, items } = facets(schema);
  if (typeof value === 'string') return isReference ? (ids[value] ?? value) : value;
  if (Array.isArray(value))
    return value.map((entry) => replaceNames(entry, isReference ? schema : (items ?? {}), ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      replaceNames(inner, properties[field] ?? {}, ids),
    ]),
  );
}
