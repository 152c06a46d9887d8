import { createHash } from 'node:crypto';
import { recordTemplate, stillColumns, type Projection } from '../db/projection';
import { identify, type Reference } from '../db/records';
import { notVisible } from '../db/access-scope';
import { withContext, type Db } from '../db/tenant';
import { notFound, HttpProblem } from '../errors';
import { Json, NotModified } from './reply';

/** Whether a serializer asks for the foreign keys too. */
export const isGrid = (serializer?: string): boolean => serializer?.endsWith('_grid') ?? false;
/** Whether it asks for no more than what outsiders may see. */
export const isExternal = (serializer?: string): boolean =>
  serializer?.endsWith('_external') ?? false;

interface RecordEnvelope {
  status: number;
  success: true;
  errors: Record<never, never>;
  checksum: string;
}
type RecordReply<P extends Projection, Extra = unknown> = Json<
  RecordEnvelope & { metadata: { root: string } } & { [R in P['singular']]: never } & Extra
>;

export interface RecordOptions<P extends Projection> {
  db: Db;
  now: Date;
  projection: P;
  serializer?: string | undefined;
  /** Only these; all when absent. */
  columns?: readonly string[];
}

const checksumOf = (record: string): string => createHash('md5').update(record).digest('hex');

/** A record's envelope around its JSON; `status` is the contract's for the operation. */
export function recordReply<P extends Projection, Extra extends object>(
  projection: P,
  record: string,
  { status, extra }: { status?: number; extra?: Extra } = {},
): RecordReply<P, Extra> {
  const checksum = checksumOf(record);
  const more = Object.entries(extra ?? {}).map(
    ([key, value]) => `"${key}":${JSON.stringify(value)},`,
  );
  const text = `{"status":${status ?? 200},"success":true,"errors":{},"${projection.singular}":${record},${more.join('')}"checksum":"${checksum}","metadata":{"root":"${projection.singular}"}}`;
  return new Json(text, { ETag: `"${checksum}"` }, status);
}

async function read<P extends Projection>(
  options: RecordOptions<P>,
  source: Parameters<typeof recordTemplate>[1],
  values: Record<string, unknown>,
): Promise<string> {
  const { db, now, projection, serializer, columns } = options;
  const make = recordTemplate(projection, source, {
    columns,
    grid: isGrid(serializer),
    external: isExternal(serializer),
    limited: db.accessScope !== undefined,
  });
  const rows = await db.direct<{ record: string }>(
    make({ company_id: db.company_id, now: now.toISOString(), ...db.accessScope, ...values }),
  );
  if (!rows[0]) throw notFound();
  return rows[0].record;
}

/** The JSON of a living record by number or uuid; refuses with 404. */
export async function readRecord<P extends Projection>(
  options: RecordOptions<P>,
  reference: Reference,
): Promise<string> {
  const named = identify(reference);
  if (!named) throw notFound();
  return read(options, named.key, { [named.key]: named.value });
}

/** The answer to show: the record, or 304 when the caller holds it. */
export async function show<P extends Projection>(
  options: RecordOptions<P> & { if_none_match: string | undefined },
  reference: Reference,
): Promise<RecordReply<P> | NotModified> {
  return unlessCurrent(options, await readRecord(options, reference));
}

/** The same by the caller's own identifier. */
export async function showBy<P extends Projection>(
  options: RecordOptions<P> & { if_none_match: string | undefined },
  key: 'user_buyer_id',
  value: string,
): Promise<RecordReply<P> | NotModified> {
  return unlessCurrent(options, await read(options, key, { [key]: value }));
}

function unlessCurrent<P extends Projection>(
  { projection, if_none_match }: { projection: P; if_none_match: string | undefined },
  record: string,
): RecordReply<P> | NotModified {
  const reply = recordReply(projection, record);
  return reply.headers.ETag === `"${if_none_match}"` ? new NotModified(reply.headers) : reply;
}

/** The answer to a write: the record as it now stands, deleted or not. Refuses with 403 a new one that its maker would not see. */
export async function written<P extends Projection, Extra extends object>(
  options: RecordOptions<P>,
  id: bigint,
  more: { status?: number; extra?: Extra } = {},
): Promise<RecordReply<P, Extra>> {
  const { db, projection } = options;
  if (more.status === 201) await requireVisible(db, projection, id);
  const record = await read(options, 'deleted', { id: String(id) });
  if (db.log)
    db.log.after(
      isWhole(options) ? record : await read(whole(options), 'deleted', { id: String(id) }),
    );
  return recordReply(projection, record, more);
}

/** Refuses with 403 a record that whoever has just written it would not see. */
export async function requireVisible(db: Db, { plural }: Projection, id: bigint): Promise<void> {
  if ((await notVisible(db, plural, [String(id)])).length === 0) return;
  throw new HttpProblem(
    403,
    'None of your teams would see this record. It must belong to an offer, a buyer or a group that is granted to one of them.',
  );
}

/** Whether a record is read as the change log compares it: with all that it has by default, whoever may see that. */
const isWhole = ({ db, serializer }: RecordOptions<Projection>): boolean =>
  !db.accessScope && !isExternal(serializer);
const whole = <P extends Projection>({
  db,
  now,
  projection,
}: RecordOptions<P>): RecordOptions<P> => ({
  db: withContext(db, { accessScope: undefined }),
  now,
  projection,
});

/** The answer to `new`: a record made of `row` that is not stored. */
export async function unsaved<P extends Projection>(
  options: RecordOptions<P>,
  row: Record<string, unknown>,
): Promise<RecordReply<P>> {
  const values = { ...row, company_id: Number(options.db.company_id) };
  return recordReply(
    options.projection,
    await read(options, 'unsaved', { row: JSON.stringify(values) }),
  );
}

/** Refuses with 412 when the caller knew another state of the record than the one now locked. The change log is told of the record as it is. */
export async function requireUnchanged<P extends Projection>(
  options: RecordOptions<P> & { if_match: string | undefined },
  reference: Reference,
): Promise<void> {
  const { if_match, db } = options;
  const is_free = if_match === undefined || if_match === '*';
  if (is_free && !db.log) return;
  if (db.log)
    db.log.before(
      await readRecord({ ...whole(options), columns: stillColumns(options.projection) }, reference),
    );
  if (is_free) return;
  const record = await readRecord(options, reference);
  if (checksumOf(record) !== if_match) {
    throw new HttpProblem(
      412,
      'The record has changed since the checksum in If-Match. Read it again and decide anew.',
    );
  }
}
