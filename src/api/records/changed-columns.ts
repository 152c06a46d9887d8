import { isDeepStrictEqual } from 'node:util';
import { contract, facets, type Schema } from '../../platform/contract/contract';
import { auditedColumns, type Projection } from '../../data/projection/projection';
import type { ChangedColumns } from './record-change';
import type { Operation } from '../../platform/contract/contract';
import type { Caller } from '../auth/caller';
import type { LeadOwner } from '../auth/scheme';

export interface Write {
  operation: Operation;
  caller: Caller;
  owner?: LeadOwner | undefined;
  params: Record<string, unknown>;
  body: unknown;
  request_id: string;
  client_request_id: string | null;
  ip: string;
}

// The content of the change log: a write column by column, without secrets.

export type Fields = Record<string, unknown>;

/** A record in full, and the part of it that the caller may read. */
export interface Versions {
  whole: Fields;
  shown: Fields;
}

/** Columns that only say which record it is, or when it was written. */
const IGNORED = new Set([
  'id',
  'legacy_id',
  'type',
  'uuid',
  'company_id',
  'created_at',
  'updated_at',
  'user_updated_at',
  'routes_show_path',
  'routes_edit_path',
  'context_menu_name',
]);
const HIDDEN = '[hidden]';

interface Marks {
  /** Columns that change without a write to them. */
  volatile: Set<string>;
  secret: Set<string>;
}

const marksByType = new Map<string, Marks>();

function findMarks(type: string): Marks {
  let marks = marksByType.get(type);
  if (!marks) marksByType.set(type, (marks = readMarks(type)));
  return marks;
}

function readMarks(type: string): Marks {
  const schema = Object.values(contract.document.components.schemas).find(
    ({ properties }) => properties?.type?.['x-const'] === type,
  );
  const columns = Object.entries(schema?.properties ?? {});
  const having = (mark: 'x-volatile' | 'x-secret') =>
    new Set(columns.flatMap(([name, column]) => (column[mark] ? name : [])));
  return { volatile: having('x-volatile'), secret: having('x-secret') };
}

/** The columns that the database compares for the change log (src/data/projection/write.ts). */
export interface ComparedColumns {
  type: string;
  columns: readonly string[];
  /** Columns whose values are masked: only this file knows how. */
  hidden: ReadonlySet<string>;
}

const comparedByType = new Map<string, ComparedColumns>();

/** Equals the columns of a resource that `listChangedColumns` compares. */
export function listComparedColumns(projection: Projection): ComparedColumns {
  const { schema } = projection;
  let compared = comparedByType.get(schema);
  if (!compared) {
    const columns = auditedColumns(projection).filter((name) => !IGNORED.has(name));
    const declared = contract.document.components.schemas[schema]!.properties!;
    const type = String(declared.type!['x-const']);
    const { secret } = findMarks(type);
    const isHidden = (name: string) => secret.has(name) || name === 'body' || /url$/.test(name);
    compared = { type, columns, hidden: new Set(columns.filter(isHidden)) };
    comparedByType.set(schema, compared);
  }
  return compared;
}

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * The columns of a record that changed; for a new record, those that have a value. With `shown`,
 * the values are those that the caller may read: hidden ones keep only their names.
 */
export function listChangedColumns(
  earlier: Versions | undefined,
  current: Versions,
  as: keyof Versions = 'whole',
): ChangedColumns {
  const [before, after] = [earlier?.whole, current.whole];
  const { volatile, secret } = findMarks(String(after.type));
  const changed = Object.entries(after).filter(([name, to]) => {
    if (IGNORED.has(name) || volatile.has(name)) return false;
    if (!before) return !isEmpty(to);
    return name in before && JSON.stringify(before[name]) !== JSON.stringify(to);
  });
  // The body of a webhook, which has a url, may have a key in it.
  const isWebhook = 'url' in after && after.url !== null;
  const isSecret = (name: string) => secret.has(name) || (name === 'body' && isWebhook);
  const shown = (name: string, value: unknown) =>
    isSecret(name) && !isEmpty(value) ? HIDDEN : maskUrlPath(name, value);
  return Object.fromEntries(
    changed.map(([name]) => [
      name,
      {
        from: shown(name, earlier?.[as][name] ?? null),
        to: shown(name, current[as][name] ?? null),
      },
    ]),
  );
}

/** Columns that every update writes. */
const TIMES = new Set(['updated_at', 'user_updated_at']);

/**
 * The update left the record as it was, and requested nothing else: each of its fields is a column
 * of the record.
 */
export function isSame(body: unknown, earlier: Fields, current: Fields, schema: Schema): boolean {
  const { properties } = facets(schema);
  const isShown = ([name, value]: [string, unknown]) =>
    name === 'serializer' ||
    value === false ||
    [name, ...(properties[name]?.['x-other-names'] ?? [])].some((column) => column in earlier);
  return (
    Object.entries((body ?? {}) as Fields).every(isShown) &&
    Object.entries(earlier).every(
      ([name, value]) => TIMES.has(name) || isDeepStrictEqual(value, current[name]),
    )
  );
}

/** URLs are shown up to their host: what follows is often a key. */
const maskUrlPath = (name: string, value: unknown) =>
  /url$/.test(name) && typeof value === 'string' && URL.canParse(value)
    ? `${new URL(value).origin}/${HIDDEN}`
    : value;

/** A longer list is shown with its first entries and the number of the others. */
const MAX_ENTRIES = 100;

/**
 * The requested fields: all of them where many records were changed or none is returned; otherwise,
 * with the `columns` of the record in the reply, only those that it has no column for.
 */
export function listRequestedChanges(
  { body, params, operation }: Pick<Write, 'body' | 'params' | 'operation'>,
  columns?: ReadonlySet<string>,
): ChangedColumns {
  const schema = operation.body ?? operation.multipart;
  const declared = schema ? facets(schema).properties : {};
  const isShown = ([name, value]: [string, unknown]) =>
    name !== 'serializer' &&
    value !== undefined &&
    (!columns || (declared[name] !== undefined && !columns.has(name)));
  const shown = (name: string, value: unknown) => {
    if (declared[name]?.['x-secret'] || /token$|secret|password|private_key/.test(name))
      return HIDDEN;
    return shortenList(maskUrlPath(name, value));
  };
  return Object.fromEntries(
    Object.entries(requestedFields(params, body))
      .filter(isShown)
      .map(([name, value]) => [name, { from: null, to: shown(name, value) }]),
  );
}

/** Fields of path and body. The record in the path is not one: record_id names it. */
function requestedFields(params: Fields, body: unknown): Fields {
  const { id, uuid, ...rest } = params;
  void [id, uuid];
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return { ...rest, ...(isObject && (body as Fields)) };
}

const shortenList = (value: unknown): unknown =>
  Array.isArray(value) && value.length > MAX_ENTRIES
    ? [...value.slice(0, MAX_ENTRIES), `and ${value.length - MAX_ENTRIES} more`]
    : value;
