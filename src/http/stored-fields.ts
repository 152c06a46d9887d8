import { isDeepStrictEqual } from 'node:util';
import { contract, facets, type Operation, type Schema } from '../contract';
import { staleChecksum } from '../errors';
import { Faults } from './faults';
import { isObject, properties } from './normalize-value';
import { Json } from './reply';

// A PUT may send back what GET shows. Clients read a record, change a field and send all of it,
// with the columns that cannot be written. Values that equal the stored record are left out before
// the request is checked; a column that differs and cannot be written is refused.

type Fields = Record<string, unknown>;

/** The record that an operation changes, as the GET of its path shows it. */
export interface StoredRecord {
  show: Operation;
  /** The name of the record in the reply. */
  root: string;
  columns: Record<string, Schema>;
  writable: ReadonlySet<string>;
  /** The serializer with all columns, where there are several. */
  serializer: string | undefined;
}

const known = new WeakMap<Operation, { record: StoredRecord | undefined }>();

/** The record that a PUT changes; undefined for other operations. */
export function storedRecordOf(operation: Operation): StoredRecord | undefined {
  let found = known.get(operation);
  if (!found) known.set(operation, (found = { record: describe(operation) }));
  return found.record;
}

function describe({ method, path, body }: Operation): StoredRecord | undefined {
  if (method !== 'put' || !body) return undefined;
  const show = contract.operations.find((other) => other.method === 'get' && other.path === path);
  const reply = show?.responses[show.status]?.content?.['application/json'] as
    { schema: Schema } | undefined;
  if (!show || !reply) return undefined;
  const members = Object.entries(facets(reply.schema).properties);
  const [root, record] =
    members.find(([, schema]) => facets(schema).properties.type?.['x-const'] !== undefined) ?? [];
  if (root === undefined || !record) return undefined;
  const fields = Object.entries(facets(body).properties);
  const writable = fields.flatMap(([name, field]) => [name, ...(field['x-other-names'] ?? [])]);
  return {
    show,
    root,
    columns: facets(record).properties,
    writable: new Set(writable),
    serializer: widest(show),
  };
}

let moving_by_root: Map<string, string[]> | undefined;

/** Columns that a PUT writes though they change by themselves, by the name of the record. */
export function writtenMovingColumns(root: string): string[] {
  moving_by_root ??= new Map(
    contract.operations.flatMap((operation) => {
      const record = storedRecordOf(operation);
      return record ? [[record.root, movingIn(record)] as const] : [];
    }),
  );
  return moving_by_root.get(root) ?? [];
}

const movingIn = ({ columns, writable }: StoredRecord): string[] =>
  Object.entries(columns).flatMap(([name, column]) =>
    column['x-moving'] && writable.has(name) ? name : [],
  );

function widest({ parameters }: Operation): string | undefined {
  const serializer = parameters.find(({ name }) => name === 'serializer');
  const values = serializer ? (contract.resolve(serializer.schema).enum ?? []) : [];
  return values.find((value): value is string => String(value).endsWith('_grid'));
}

/** Only a body with a column that cannot be written is compared with the record. */
export const isAsShown = ({ columns, writable }: StoredRecord, body: Fields): boolean =>
  Object.keys(body).some((name) => Object.hasOwn(columns, name) && !writable.has(name));

/**
 * The body without the values that equal the stored record. Throws 422 for columns that differ and
 * cannot be written; columns that change by themselves may have changed since they were read.
 */
export function withoutStored(
  { columns, writable }: StoredRecord,
  body: Fields,
  stored: Fields,
): Fields {
  const faults = new Faults();
  const changed = Object.entries(body).filter(([name, sent]) => {
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (!column || (Object.hasOwn(stored, name) && isSame(sent, stored[name], column)))
      return !column;
    if (!writable.has(name) && !column['x-moving'])
      faults.add(
        name,
        'cannot be written, and is not what is stored: leave it out, or read the record again',
      );
    return writable.has(name);
  });
  const problem = faults.problem();
  if (problem) throw problem;
  return Object.fromEntries(changed);
}

function isSame(sent: unknown, stored: unknown, schema: Schema): boolean {
  if (isDeepStrictEqual(plain(sent), stored)) return true;
  const [a, b] = [read(sent, schema), read(stored, schema)];
  return a !== undefined && b !== undefined && isDeepStrictEqual(plain(a), plain(b));
}

/** Objects of forms have no prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A value in the type of its column; undefined for one that is longer than a request may send. */
function read(value: unknown, schema: Schema): unknown {
  const context = { faults: new Faults(), zone: 'UTC', unknown_fields: 0, place: 'body' } as const;
  const allowed = { schemas: { value: schema }, closed: false };
  return properties({ value }, allowed, '', { ...context }).value;
}

export function recordIn(reply: unknown, { root }: StoredRecord): Fields {
  const record = reply instanceof Json ? (JSON.parse(reply.text) as Fields)[root] : undefined;
  if (!isObject(record)) throw new Error(`the reply has no ${root}`);
  return record;
}

/** The reply of GET as that of a PUT that changes nothing. Throws 412 for a stale checksum. */
export function unchangedReply(reply: unknown, if_match: string | undefined): unknown {
  const etag = reply instanceof Json ? reply.headers?.ETag : undefined;
  if (if_match === undefined || if_match === '*' || etag === `"${if_match}"`) return reply;
  throw staleChecksum();
}
