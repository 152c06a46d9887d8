import { isDeepStrictEqual } from 'node:util';
import { contract, facets, type Operation, type Schema } from '../../platform/contract/contract';
import { staleChecksum } from '../../platform/errors';
import { Faults } from '../request/faults';
import { compileValue, isObject } from '../request/read-value';
import { Json } from '../reply/reply';

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

const recordsByOperation = new WeakMap<Operation, { record: StoredRecord | undefined }>();

/** The record that a PUT changes; undefined for other operations. */
export function findStoredRecord(operation: Operation): StoredRecord | undefined {
  let entry = recordsByOperation.get(operation);
  if (!entry) recordsByOperation.set(operation, (entry = { record: describe(operation) }));
  return entry.record;
}

function describe({ method, path, body }: Operation): StoredRecord | undefined {
  if (method !== 'put' || !body) return undefined;
  const show = contract.operations.find(
    (candidate) => candidate.method === 'get' && !candidate.effect && candidate.path === path,
  );
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

let movingByRoot: Map<string, string[]> | undefined;

/** Columns that a PUT writes though they change by themselves, by the name of the record. */
export function listWrittenVolatileColumns(root: string): string[] {
  movingByRoot ??= new Map(
    contract.operations.flatMap((operation) => {
      const record = findStoredRecord(operation);
      return record ? [[record.root, listVolatileColumns(record)] as const] : [];
    }),
  );
  return movingByRoot.get(root) ?? [];
}

const listVolatileColumns = ({ columns, writable }: StoredRecord): string[] =>
  Object.entries(columns).flatMap(([name, column]) =>
    column['x-volatile'] && writable.has(name) ? name : [],
  );

function widest({ parameters }: Operation): string | undefined {
  const serializer = parameters.find(({ name }) => name === 'serializer');
  const values = serializer ? (contract.resolve(serializer.schema).enum ?? []) : [];
  return values.find((value): value is string => String(value).endsWith('_grid'));
}

/** Only a body with a column that cannot be written is compared with the record. */
export const hasReadOnlyColumn = ({ columns, writable }: StoredRecord, body: Fields): boolean =>
  Object.keys(body).some((name) => Object.hasOwn(columns, name) && !writable.has(name));

/**
 * The body without the values that equal the stored record. Throws 422 for columns that differ and
 * cannot be written; columns that change by themselves may have changed since they were read.
 */
export function removeStored(
  { columns, writable }: StoredRecord,
  body: Fields,
  storedFields: Fields,
): Fields {
  const faults = new Faults();
  const changed = Object.entries(body).filter(([name, sentValue]) => {
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (
      !column ||
      (Object.hasOwn(storedFields, name) && isSame(sentValue, storedFields[name], column))
    )
      return !column;
    if (!writable.has(name) && !column['x-volatile'])
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

function isSame(sentValue: unknown, storedValue: unknown, schema: Schema): boolean {
  if (isDeepStrictEqual(plain(sentValue), storedValue)) return true;
  const [a, b] = [read(sentValue, schema), read(storedValue, schema)];
  return a !== undefined && b !== undefined && isDeepStrictEqual(plain(a), plain(b));
}

/** Objects of forms have no prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A value in the type of its column; undefined for one that is longer than a request may send. */
function read(value: unknown, schema: Schema): unknown {
  const context = { faults: new Faults(), zone: 'UTC', unknown_fields: 0 };
  return compileValue(schema)(value, 'value', { ...context, requestPart: 'body' });
}

export function requireReplyRecord(reply: unknown, { root }: StoredRecord): Fields {
  const record = reply instanceof Json ? (JSON.parse(reply.text) as Fields)[root] : undefined;
  if (!isObject(record)) throw new Error(`the reply has no ${root}`);
  return record;
}

/** The reply of GET as that of a PUT that changes nothing. Throws 412 for a stale checksum. */
export function unchangedReply(reply: unknown, ifMatch: string | undefined): unknown {
  const etag = reply instanceof Json ? reply.headers?.ETag : undefined;
  if (ifMatch === undefined || ifMatch === '*' || etag === `"${ifMatch}"`) return reply;
  throw staleChecksum();
}
