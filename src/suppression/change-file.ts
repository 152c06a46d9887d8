import type { Schemas } from '../contract';
import { lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Upload } from '../http/upload';
import { HttpProblem } from '../errors';
import { columnsOf, keptAs, listOf } from './add-file';
import { queueFile, wakeList } from './file-queue';

type Fields = Omit<Schemas['BuyerSuppressionFileFields'], 'serializer'>;

interface Changes {
  fields: Fields;
  upload: Upload | undefined;
  /** Looks at the locked record before anything is changed; throws to refuse. */
  check?: () => Promise<void>;
}

/** What an import depends on. */
const DECISIVE = [
  'caller_id_column_name',
  'headers',
  'apply_block_or_unblock',
  'buyer_suppression_id',
] as const;

const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a, text) === JSON.stringify(b, text);
const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/**
 * Changes a suppression file. One that has ended starts again when what its import depends on is sent (after a failure or a stop) or has changed
 * (after a success); one that runs is refused. Refuses with 404 and 422.
 */
export async function changeSuppressionFile(
  db: Db,
  reference: Reference,
  { fields, upload, check }: Changes,
  deps: Pick<Deps, 'storage' | 'queue' | 'clock'>,
): Promise<bigint> {
  const now = deps.clock();
  const { id, status } = await lockRecord(db, 'buyer_suppression_files', reference, ['status']);
  await check?.();
  const sent = DECISIVE.filter((name) => fields[name] !== undefined);
  if (status === 'running' && (upload || sent.length > 0)) {
    throw HttpProblem.field(
      sent[0] ?? 'import_file',
      'cannot be changed while the import runs; stop it first',
    );
  }
  const row = { company_id_id: { company_id: db.company_id, id } };
  const before = await db.prisma.buyerSuppressionFile.findUniqueOrThrow({ where: row });
  const list = await listOf(db, fields, before.buyer_suppression_id);
  const after = await db.prisma.buyerSuppressionFile.update({
    where: row,
    data: {
      ...columnsOf(fields),
      ...(list !== undefined && { buyer_suppression_id: list }),
      ...(await keptAs(deps.storage, upload)),
      user_updated_at: now,
      updated_at: now,
    },
  });
  // What the record shows may be sent back as it was.
  const shown: Partial<typeof before> = {
    caller_id_column_name: before.found_column_name,
    headers: before.found_headers,
  };
  const moved = after.buyer_suppression_id !== before.buyer_suppression_id;
  const changed =
    upload !== undefined ||
    moved ||
    sent.some((name) => !same(after[name], before[name]) && !same(after[name], shown[name]));
  const waits_in_place = status === 'pending' && before.queue_position !== null && !moved;
  const again = status === 'succeeded' ? changed : upload !== undefined || sent.length > 0;
  if (again && !waits_in_place) await queueFile(db, deps.queue, id, now);
  if (moved && before.buyer_suppression_id !== null)
    await wakeList(db, deps.queue, before.buyer_suppression_id);
  return id;
}
