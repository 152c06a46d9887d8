import type { Projection } from '../db/projection';
import { lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { requireVisible, requireUnchanged, show, unsaved, written } from './record';
import { moveCount } from '../db/counters';

interface Request {
  db: Db;
  query: { serializer?: string };
}
interface OneRequest extends Request {
  params: { id: Reference };
}
interface Change extends OneRequest {
  if_match: string | undefined;
}
/** What is asked once the write is done. */
type Extra = () => object;

interface Body<F> {
  body: F & { serializer?: string };
}

/**
 * The ways of every record that people write: shown, made, changed, deleted, each in one transaction and under the rules of checksums and
 * counts. What is a resource's own is the work given to it.
 */
export function recordHandlers<P extends Projection>(projection: P, clock: () => Date) {
  const options = ({ db, query }: Request, serializer = query.serializer, now = clock()) => ({
    db,
    now,
    projection,
    serializer,
  });
  const change = async <F, A>(
    call: Change & Body<F>,
    ahead: (tx: Db, fields: F) => Promise<A>,
    work: (tx: Db, id: bigint, change: { fields: F; now: Date; ahead: A }) => Promise<void>,
    extra?: Extra,
  ) => {
    const { serializer, ...rest } = call.body;
    const fields = rest as F;
    const with_options = options(call, serializer);
    const id = await call.db.transaction(async (tx) => {
      const first = await ahead(tx, fields);
      const locked = await lockRecord(tx, projection.plural, call.params.id);
      await requireUnchanged({ ...with_options, db: tx, if_match: call.if_match }, call.params.id);
      await work(tx, locked.id, { fields, now: with_options.now, ahead: first });
      await requireVisible(tx, projection, locked.id);
      return locked.id;
    });
    return written(with_options, id, { extra: extra?.() });
  };
  return {
    show: (call: OneRequest & { if_none_match: string | undefined }) =>
      show({ ...options(call), if_none_match: call.if_none_match }, call.params.id),

    unsaved: (call: Request, row: Record<string, unknown>) => unsaved(options(call), row),

    /** `work` makes the record and answers its id; `extra` is what the answer has beside it. */
    create: async <F>(
      call: Request & Body<F>,
      work: (tx: Db, fields: F, now: Date) => Promise<bigint>,
      extra?: Extra,
    ) => {
      const { serializer, ...fields } = call.body;
      const with_options = options(call, serializer);
      const id = await call.db.transaction(async (tx) => {
        const made = await work(tx, fields as F, with_options.now);
        await moveCount(tx, projection.plural, 1);
        return made;
      });
      return written(with_options, id, { status: 201, extra: extra?.() });
    },

    /** `work` changes the locked record. */
    update: <F>(
      call: Change & Body<F>,
      work: (tx: Db, id: bigint, change: { fields: F; now: Date }) => Promise<void>,
      extra?: Extra,
    ) => change(call, async () => undefined, work, extra),

    /** The same, where something must be locked before the record is: `ahead` locks it, and `work` is told of it. */
    updateAfter: change,

    /**
     * `work` marks the locked record as deleted, and detaches what belongs to it. `ahead` locks
     * other records that must be locked before it.
     */
    delete: async (
      call: Change,
      work: (tx: Db, id: bigint, now: Date) => Promise<void>,
      ahead?: (tx: Db) => Promise<void>,
    ) => {
      const with_options = options(call);
      const id = await call.db.transaction(async (tx) => {
        await ahead?.(tx);
        const locked = await lockRecord(tx, projection.plural, call.params.id);
        await requireUnchanged(
          { ...with_options, db: tx, if_match: call.if_match },
          call.params.id,
        );
        await work(tx, locked.id, with_options.now);
        await moveCount(tx, projection.plural, -1);
        return locked.id;
      });
      return written(with_options, id);
    },
  };
}
