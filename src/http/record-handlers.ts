import { moveCount } from '../db/counters';
import type { Projection } from '../db/projection';
import { lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { requireUnchanged, requireVisible, show, unsaved, written } from './record';

interface Request {
  db: Db;
  /** Not every resource has serializers. */
  query: { serializer?: string } | Record<never, never>;
}
interface OneRequest extends Request {
  params: { id: Reference };
}
interface Change extends OneRequest {
  if_match: string | undefined;
}
interface Body<F> {
  body: F & { serializer?: string };
}
/** What a reply has in addition to the record; called after the write. */
type Extra = () => object;

const serializerOf = ({ query }: Request): string | undefined =>
  'serializer' in query ? query.serializer : undefined;

/**
 * The handlers of records that people write: show, create, change and delete, each in one
 * transaction, with checksums (If-Match, ETag), counts and the change log. The work that is
 * specific to a resource is passed to them.
 */
export function recordHandlers<P extends Projection>(projection: P, clock: () => Date) {
  const optionsOf = (call: Request, serializer = serializerOf(call)) => ({
    db: call.db,
    now: clock(),
    projection,
    serializer,
  });

  /** Locks the record of a request, and refuses it if the caller knew another state of it. */
  const lock = async (tx: Db, call: Change, options: ReturnType<typeof optionsOf>) => {
    const { id } = await lockRecord(tx, projection.plural, call.params.id);
    await requireUnchanged({ ...options, db: tx, if_match: call.if_match }, call.params.id);
    return id;
  };

  const change = async <F, A>(
    call: Change & Body<F>,
    ahead: (tx: Db, fields: F) => Promise<A>,
    work: (tx: Db, id: bigint, change: { fields: F; now: Date; ahead: A }) => Promise<void>,
    extra?: Extra,
  ) => {
    const { serializer, ...rest } = call.body;
    const fields = rest as F;
    const options = optionsOf(call, serializer);
    const changed = await call.db.transaction(async (tx) => {
      const locked_ahead = await ahead(tx, fields);
      const id = await lock(tx, call, options);
      await work(tx, id, { fields, now: options.now, ahead: locked_ahead });
      await requireVisible(tx, projection, id);
      return id;
    });
    return written(options, changed, { extra: extra?.() });
  };

  return {
    show: (call: OneRequest & { if_none_match: string | undefined }) =>
      show({ ...optionsOf(call), if_none_match: call.if_none_match }, call.params.id),

    /** The record that `create` would make of `row`, not stored. */
    unsaved: (call: Request, row: Record<string, unknown>) => unsaved(optionsOf(call), row),

    /** `work` inserts the record and returns its id. */
    create: async <F>(
      call: Request & Body<F>,
      work: (tx: Db, fields: F, now: Date) => Promise<bigint>,
      extra?: Extra,
    ) => {
      const { serializer, ...fields } = call.body;
      const options = optionsOf(call, serializer);
      const created = await call.db.transaction(async (tx) => {
        const id = await work(tx, fields as F, options.now);
        await moveCount(tx, projection.plural, 1);
        return id;
      });
      return written(options, created, { status: 201, extra: extra?.() });
    },

    /** `work` changes the locked record. */
    update: <F>(
      call: Change & Body<F>,
      work: (tx: Db, id: bigint, change: { fields: F; now: Date }) => Promise<void>,
      extra?: Extra,
    ) => change(call, async () => undefined, work, extra),

    /**
     * The same where other records must be locked before the record is: `ahead` locks them, and
     * `work` gets what it returned.
     */
    updateAfter: change,

    /** `work` marks the locked record as deleted, and detaches what belongs to it. */
    delete: async (call: Change, work: (tx: Db, id: bigint, now: Date) => Promise<void>) => {
      const options = optionsOf(call);
      const deleted = await call.db.transaction(async (tx) => {
        const id = await lock(tx, call, options);
        await work(tx, id, options.now);
        await moveCount(tx, projection.plural, -1);
        return id;
      });
      return written(options, deleted);
    },
  };
}
