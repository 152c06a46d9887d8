import { createHash } from 'node:crypto';
import { listFields, auditedColumns, type Projection } from '../../data/projection/projection';
import { identify, type Reference } from '../../data/records';
import { findHidden } from '../../data/access/scope';
import { withContext } from '../../data/tenant';
import { type Db, type LoggedRecord } from '../../data/db';
import { notFound, HttpProblem, staleChecksum } from '../../platform/errors';
import { Json, NotModified } from '../reply/reply';
import { listWrittenVolatileColumns } from './stored-fields';
import { suggestionFor } from './suggestion';
import { recordTemplate } from '../../data/projection/record-statements';

/** Serializers with foreign keys. */
export const isGrid = (serializer?: string): boolean => serializer?.endsWith('_grid') ?? false;
/** Serializers with only the columns that people outside the company may see. */
export const isExternal = (serializer?: string): boolean =>
  serializer?.endsWith('_external') ?? false;

interface RecordEnvelope {
  status: number;
  success: true;
  errors: Record<never, never>;
  checksum: string;
}
export type RecordReply<P extends Pick<Projection, 'singular'>, Extra = unknown> = Json<
  RecordEnvelope & { metadata: { root: string } } & { [R in P['singular']]: never } & Extra
>;

export interface RecordOptions<P extends Projection> {
  db: Db;
  now: Date;
  projection: P;
  serializer?: string | undefined;
  /** Only these; all when absent. */
  columns?: readonly string[] | undefined;
  /** The reader has nothing but a lead token, and has sent nothing of the record. */
  by_token?: boolean;
}

/** The fields of the record that the request of a reader by lead token has sent. */
const NOTHING_SENT = '{}';

/** The value of ETag and If-Match for a record. */
export const computeChecksum = (record: string): string =>
  createHash('md5').update(record).digest('hex');

/** A record's envelope around its JSON; `status` is the contract's for the operation. */
export function recordReply<P extends Pick<Projection, 'singular'>, Extra extends object>(
  projection: P,
  record: string,
  {
    status,
    extra,
    checksum = computeChecksum(record),
  }: { status?: number; extra?: Extra; checksum?: string } = {},
): RecordReply<P, Extra> {
  const more = Object.entries(extra ?? {}).map(
    ([key, value]) => `"${key}":${JSON.stringify(value)},`,
  );
  const root = projection.singular;
  const text =
    `{"status":${status ?? 200},"success":true,"errors":{},"${root}":${record},` +
    `${more.join('')}"checksum":"${checksum}","metadata":{"root":"${root}"}}`;
  return new Json(text, { ETag: `"${checksum}"` }, status);
}

async function read<P extends Projection>(
  options: RecordOptions<P>,
  source: Parameters<typeof recordTemplate>[1],
  values: Record<string, unknown>,
): Promise<string> {
  const { db, now, projection, serializer, columns } = options;
  const template = recordTemplate(projection, source, {
    columns,
    grid: isGrid(serializer),
    external: isExternal(serializer),
    limited: db.accessScope !== undefined,
    by_token: options.by_token ?? false,
  });
  const common = { company_id: db.company_id, now: now.toISOString(), request: NOTHING_SENT };
  const rows = await db.query<{ record: string }>(
    template({ ...common, ...db.accessScope, ...values }),
  );
  if (!rows[0]) throw notFound();
  return rows[0].record;
}

/** The JSON of a record by id or uuid. Throws 404 if there is none, or it is deleted. */
export async function readRecord<P extends Projection>(
  options: RecordOptions<P>,
  reference: Reference,
): Promise<string> {
  const identifier = identify(reference);
  if (!identifier) throw notFound();
  return read(options, identifier.key, { [identifier.key]: identifier.value });
}

type ShowOptions<P extends Projection> = RecordOptions<P> & { if_none_match: string | undefined };

/** The reply of show: the record, or 304 if the caller has its current state. */
export function show<P extends Projection>(
  options: ShowOptions<P>,
  reference: Reference,
): Promise<RecordReply<P> | NotModified> {
  return showRead(options, (readOptions) => readRecord(readOptions, reference));
}

/** Like `show`, by the identifier that the customer gave the record. */
export function showBy<P extends Projection>(
  options: ShowOptions<P>,
  key: 'user_buyer_id',
  value: string,
): Promise<RecordReply<P> | NotModified> {
  return showRead(options, (readOptions) => read(readOptions, key, { [key]: value }));
}

/**
 * The checksum is always that of the whole record, also where only some columns are returned:
 * If-Match compares the whole. It is read first, so that it is never newer than the columns.
 */
async function showRead<P extends Projection>(
  { columns, if_none_match, ...options }: ShowOptions<P>,
  readAs: (options: RecordOptions<P>) => Promise<string>,
): Promise<RecordReply<P> | NotModified> {
  const { projection } = options;
  requireColumns(options, columns);
  const removeLimits = await readAs(options);
  const checksum = computeChecksum(removeLimits);
  if (checksum === if_none_match) return new NotModified({ ETag: `"${checksum}"` });
  const record = columns?.length ? await readAs({ ...options, columns }) : removeLimits;
  return recordReply(projection, record, { checksum });
}

/** Throws 422 for columns that the record does not have, with those that it has. */
function requireColumns<P extends Projection>(
  { projection, serializer }: RecordOptions<P>,
  columns: readonly string[] = [],
): void {
  const external = isExternal(serializer);
  const names = listFields(projection).flatMap((field) =>
    external && !field.external ? [] : field.name,
  );
  const unknown = columns.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw HttpProblem.field(
    'columns',
    'unknown_column',
    `must be among ${names.join(', ')}; ${unknown} is not${suggestionFor(unknown, names)}`,
  );
}

/**
 * The reply of a write: the record as it is now, deleted or not. Throws 403 for a new record that
 * the caller could not see.
 */
export async function loadWriteReply<P extends Projection, Extra extends object>(
  options: RecordOptions<P>,
  id: bigint,
  more: { status?: number; extra?: Extra } = {},
): Promise<RecordReply<P, Extra>> {
  const { db, projection } = options;
  if (more.status === 201) await requireVisible(db, projection, id);
  const readAs = (readOptions: RecordOptions<P>) =>
    read(readOptions, 'deleted', { id: String(id) });
  const record = await readAs(options);
  if (db.log)
    db.log.after(
      isWhole(options) ? { record, shown: record } : await loadLoggedRecord(options, readAs),
    );
  return recordReply(projection, record, more);
}

/** Throws 403 if the caller could not see a record that the caller has just written. */
export async function requireVisible(db: Db, { plural }: Projection, id: bigint): Promise<void> {
  if ((await findHidden(db, plural, [String(id)])).length === 0) return;
  throw new HttpProblem(
    'access_limited',
    'None of your teams could see this record.' +
      ' It must belong to an offer, a buyer or a group that is granted to one of them.',
  );
}

/** True where a record is read as the change log compares it: all default columns, unrestricted. */
const isWhole = ({ db, serializer, by_token }: RecordOptions<Projection>): boolean =>
  !db.accessScope && !isExternal(serializer) && !by_token;
const removeLimits = <P extends Projection>({
  db,
  now,
  projection,
}: RecordOptions<P>): RecordOptions<P> => ({
  db: withContext(db, { accessScope: undefined }),
  now,
  projection,
});

/** A record for the change log: whole, and as a limited caller may read it. */
async function loadLoggedRecord<P extends Projection>(
  options: RecordOptions<P>,
  readAs: (options: RecordOptions<P>) => Promise<string>,
): Promise<LoggedRecord> {
  const { db, now, projection, by_token = false } = options;
  const record = await readAs(removeLimits(options));
  return {
    record,
    shown: db.accessScope ? await readAs({ db, now, projection, by_token }) : record,
  };
}

/**
 * Gives the change log a record after its change, where `loadWriteReply` does not make the reply.
 */
export async function logChanged<P extends Projection>(
  options: RecordOptions<P>,
  reference: Reference,
): Promise<void> {
  const { log } = options.db;
  log?.after(await loadLoggedRecord(options, (readOptions) => readRecord(readOptions, reference)));
}

/** The reply of `new`: a record made of `row`, not stored. */
export async function loadUnsavedReply<P extends Projection>(
  options: RecordOptions<P>,
  row: Record<string, unknown>,
): Promise<RecordReply<P>> {
  const values = { ...row, company_id: Number(options.db.company_id) };
  return recordReply(
    options.projection,
    await read(options, 'unsaved', { row: JSON.stringify(values) }),
  );
}

/**
 * Throws 412 if the caller knew another state of the record than the one that is now locked. Gives
 * the change log the record before it is changed.
 */
export async function requireUnchanged<P extends Projection>(
  options: RecordOptions<P> & { if_match: string | undefined },
  reference: Reference,
): Promise<void> {
  const { if_match, db } = options;
  if (db.log) {
    const { projection } = options;
    const columns = [
      ...auditedColumns(projection),
      ...listWrittenVolatileColumns(projection.singular),
    ];
    const readAs = (readOptions: RecordOptions<P>) =>
      readRecord({ ...readOptions, columns }, reference);
    db.log.before(await loadLoggedRecord(options, readAs));
  }
  if (if_match === undefined || if_match === '*') return;
  const record = await readRecord(options, reference);
  if (computeChecksum(record) !== if_match) throw staleChecksum();
}
