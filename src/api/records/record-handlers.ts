import { moveCount } from '../../data/counts/counters';
import type { Projection } from '../../data/projection/projection';
import { lockRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt } from '../../data/timestamps';
import type { AuditEntry } from './change-log';
import { requireUnchanged, requireVisible, show, loadUnsavedReply, loadWriteReply } from './record';
import { writeInOneStatement, type SingleWrite } from './write-directly';

interface Request {
  db: Db;
  /** Not every resource has serializers. */
  query: { serializer?: string } | Record<never, never>;
}
interface RecordRequest extends Request {
  params: { id: Reference };
}
interface ShownRequest extends RecordRequest {
  query: { serializer?: string; columns?: string[] };
  if_none_match: string | undefined;
}
interface Change extends RecordRequest {
  if_match: string | undefined;
}
interface Body<F> {
  body: F & { serializer?: string };
}
type StatementCall<Call> = Call & { body: { serializer?: string } };
type Entry = AuditEntry | undefined;
/** Undefined for a request that writes more. */
type OptionalWrite = SingleWrite | undefined | Promise<SingleWrite | undefined>;
/** Fields of a reply in addition to the record; called after the write. */
type Extra = () => object;

/**
 * The handlers of records that people write: show, create, change and delete, each in one
 * transaction, with checksums (If-Match, ETag), counts and the change log. The work that is
 * specific to a resource is passed to them.
 */
export function recordHandlers<P extends Projection>(projection: P, clock: () => Date) {
  const resource = { projection, clock };
  return {
    show: (call: ShownRequest) => {
      const { if_none_match, params, query } = call;
      const { columns } = query;
      return show({ ...buildOptions(resource, call), columns, if_none_match }, params.id);
    },

    /** The record that `create` would make of `row`, not stored. */
    showUnsaved: (call: Request, row: Record<string, unknown>) =>
      loadUnsavedReply(buildOptions(resource, call), row),

    /**
     * `create` in one statement, where `write` is the whole work; undefined where it is not
     * (src/api/records/write-directly.ts).
     */
    createInStatement: (call: StatementCall<Request>, entry: Entry, write: OptionalWrite) =>
      writeInStatement(resource, call, { entry, write }),

    /** Like `createInStatement`, for an update. */
    updateInStatement: (call: StatementCall<Change>, entry: Entry, write: OptionalWrite) => {
      const { params, if_match } = call;
      return writeInStatement(resource, call, {
        entry,
        write,
        record: { reference: params.id, if_match },
      });
    },

    /** `work` inserts the record and returns its id. */
    create: <F>(
      call: Request & Body<F>,
      work: (tx: Db, fields: F, now: Date) => Promise<bigint>,
      extra?: Extra,
    ) => create(resource, call, { work, extra }),

    /** `work` changes the locked record. */
    update: <F>(
      call: Change & Body<F>,
      work: (tx: Db, id: bigint, change: { fields: F; now: Date }) => Promise<void>,
      extra?: Extra,
    ) => change(resource, call, { ahead: async () => undefined, work, extra }),

    /**
     * Like `update`, where other records must be locked before the record: `ahead` locks them, and
     * `work` gets its result.
     */
    updateLockingFirst: <F, A>(
      call: Change & Body<F>,
      ahead: (tx: Db, fields: F) => Promise<A>,
      work: (tx: Db, id: bigint, change: { fields: F; now: Date; ahead: A }) => Promise<void>,
      extra?: Extra,
    ) => change(resource, call, { ahead, work, extra }),

    /**
     * `work` marks the locked record as deleted, and detaches records that belong to it. `ahead`
     * locks other records that must be locked before it.
     */
    delete: (
      call: Change,
      work: (tx: Db, id: bigint, now: Date) => Promise<void>,
      ahead?: (tx: Db) => Promise<void>,
    ) => remove(resource, call, { work, ahead }),
  };
}

interface Resource<P extends Projection> {
  projection: P;
  clock: () => Date;
}

/** The serializer of the body comes before that of the query. */
const buildOptions = <P extends Projection>(
  { projection, clock }: Resource<P>,
  { db, query }: Request,
  serializer = 'serializer' in query ? query.serializer : undefined,
) => ({ db, now: clock(), projection, serializer });

interface StatementWrite {
  entry: Entry;
  write: OptionalWrite;
  /** The record to update; absent for a new one. */
  record?: { reference: Reference; if_match: string | undefined };
}

async function writeInStatement<P extends Projection>(
  resource: Resource<P>,
  call: StatementCall<Request>,
  { entry, write: planned, record }: StatementWrite,
) {
  const write = await planned;
  if (!write) return undefined;
  const options = buildOptions(resource, call, call.body.serializer);
  const times = (record ? changedAt : createdAt)(options.now);
  const row = { ...write.row, ...times };
  return writeInOneStatement(options, { ...write, row }, { ...record, entry });
}

/** Locks the record of a request. Throws 412 if the caller knew another state of it. */
async function lock<P extends Projection>(
  options: ReturnType<typeof buildOptions<P>>,
  { params, if_match }: Change,
): Promise<bigint> {
  const { id } = await lockRecord(options.db, options.projection.plural, params.id);
  await requireUnchanged({ ...options, if_match }, params.id);
  return id;
}

async function create<P extends Projection, F>(
  resource: Resource<P>,
  call: Request & Body<F>,
  steps: {
    work: (tx: Db, fields: F, now: Date) => Promise<bigint>;
    extra: Extra | undefined;
  },
) {
  const { serializer, ...fields } = call.body;
  const options = buildOptions(resource, call, serializer);
  const created = await call.db.transaction(async (tx) => {
    const id = await steps.work(tx, fields as F, options.now);
    await moveCount(tx, resource.projection.plural, 1);
    return id;
  });
  return loadWriteReply(options, created, { status: 201, extra: steps.extra?.() });
}

async function change<P extends Projection, F, A>(
  resource: Resource<P>,
  call: Change & Body<F>,
  steps: {
    ahead: (tx: Db, fields: F) => Promise<A>;
    work: (tx: Db, id: bigint, change: { fields: F; now: Date; ahead: A }) => Promise<void>;
    extra: Extra | undefined;
  },
) {
  const { serializer, ...rest } = call.body;
  const fields = rest as F;
  const options = buildOptions(resource, call, serializer);
  const changed = await call.db.transaction(async (tx) => {
    const ahead = await steps.ahead(tx, fields);
    const id = await lock({ ...options, db: tx }, call);
    await steps.work(tx, id, { fields, now: options.now, ahead });
    await requireVisible(tx, resource.projection, id);
    return id;
  });
  return loadWriteReply(options, changed, { extra: steps.extra?.() });
}

async function remove<P extends Projection>(
  resource: Resource<P>,
  call: Change,
  steps: {
    work: (tx: Db, id: bigint, now: Date) => Promise<void>;
    ahead: ((tx: Db) => Promise<void>) | undefined;
  },
) {
  const options = buildOptions(resource, call);
  const deleted = await call.db.transaction(async (tx) => {
    await steps.ahead?.(tx);
    const id = await lock({ ...options, db: tx }, call);
    await steps.work(tx, id, options.now);
    await moveCount(tx, resource.projection.plural, -1);
    return id;
  });
  return loadWriteReply(options, deleted);
}
