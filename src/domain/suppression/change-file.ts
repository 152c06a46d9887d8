import type { Db } from '../../data/db';
import { toKey } from '../../data/references';
import { changedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Upload } from '../../api/request/upload';
import { toFileColumns, toUploadColumns, resolveList, type FileFields } from './add-file';
import { queueFile, enqueueNextFile } from './file-queue';

interface Changes {
  fields: FileFields;
  upload: Upload | undefined;
}

const IMPORT_FIELDS = [
  'caller_id_column_name',
  'headers',
  'apply_block_or_unblock',
  'buyer_suppression_id',
] as const;

const isSame = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a, bigintAsText) === JSON.stringify(b, bigintAsText);
const bigintAsText = (_: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value;

/**
 * Changes a locked suppression file. Its import starts again when the request has a field it
 * depends on (after a failure or a stop) or changes one (after a success). Throws 422 while the
 * import runs, or when the list does not exist.
 */
export async function changeSuppressionFile(
  tx: Db,
  id: bigint,
  { fields, upload }: Changes,
  { queue, clock }: Pick<Deps, 'queue' | 'clock'>,
): Promise<void> {
  const now = clock();
  const where = toKey(tx, id);
  const before = await tx.prisma.buyerSuppressionFile.findUniqueOrThrow({ where });
  const { status, buyer_suppression_id: listBefore } = before;
  const sentNames = IMPORT_FIELDS.filter((name) => fields[name] !== undefined);
  if (status === 'running' && (upload || sentNames.length > 0))
    throw HttpProblem.field(
      sentNames[0] ?? 'import_file',
      'wrong_state',
      'cannot be changed while the import runs; stop it first',
    );
  const list = await resolveList(tx, fields, listBefore);
  const after = await tx.prisma.buyerSuppressionFile.update({
    where,
    data: {
      ...toFileColumns(fields),
      ...(list !== undefined && { buyer_suppression_id: list }),
      ...toUploadColumns(upload),
      ...changedAt(now),
    },
  });
  // A client may send back the values that the record showed, which the import has detected.
  const shown: Partial<typeof before> = {
    caller_id_column_name: before.found_column_name,
    headers: before.found_headers,
  };
  const isMoved = after.buyer_suppression_id !== listBefore;
  const hasChanged =
    upload !== undefined ||
    isMoved ||
    sentNames.some(
      (column) => !isSame(after[column], before[column]) && !isSame(after[column], shown[column]),
    );
  const hasBeenSent = upload !== undefined || sentNames.length > 0;
  const startsAgain = status === 'succeeded' ? hasChanged : hasBeenSent;
  const keepsPosition = status === 'pending' && before.queue_position !== null && !isMoved;
  if (startsAgain && !keepsPosition) await queueFile(tx, queue, id, now);
  if (isMoved && listBefore !== null) await enqueueNextFile(tx, queue, listBefore);
}
