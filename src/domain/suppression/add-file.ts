import type { Schemas } from '../../platform/contract/contract';
import { identify, resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { createdAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import type { Caller } from '../../api/auth/caller';
import type { Upload } from '../../api/request/upload';
import { queueFile } from './file-queue';
import { LOCK_LISTS } from './queries/files';

export type FileFields = Omit<Schemas['BuyerSuppressionFileFields'], 'serializer'>;

interface NewFile {
  fields: FileFields;
  upload: Upload | undefined;
  caller: Caller;
  /** A list that has just been created; without it, `fields` may contain one. */
  list?: bigint;
}

/**
 * Creates a suppression file and returns its id. Queues its import when it has both its content and
 * its list.
 */
export async function addSuppressionFile(
  tx: Db,
  { fields, upload, caller, list }: NewFile,
  { queue, clock }: Pick<Deps, 'queue' | 'clock'>,
): Promise<bigint> {
  const now = clock();
  const owner = list ?? (await resolveList(tx, fields));
  const { id } = await tx.prisma.buyerSuppressionFile.create({
    data: {
      ...toFileColumns(fields),
      apply_block_or_unblock: fields.apply_block_or_unblock ?? 'block',
      ...toUploadColumns(upload),
      name: fields.name ?? upload?.name ?? null,
      company_id: tx.company_id,
      buyer_suppression_id: owner ?? null,
      user_id: caller.user_id,
      status: 'pending',
      ...createdAt(now),
    },
    select: { id: true },
  });
  if (upload && owner) await queueFile(tx, queue, id, now);
  return id;
}

/**
 * The id of the list in `fields`, locked, because its queue will change: null for no list,
 * undefined when the field is absent. Also locks the list that the file belonged to until now.
 * Lists are locked in the order of their ids, so that two requests that move files in opposite
 * directions do not wait for each other.
 */
export async function resolveList(
  tx: Db,
  { buyer_suppression_id: reference }: FileFields,
  current: bigint | null = null,
): Promise<bigint | null | undefined> {
  if (reference === undefined || reference === null) return reference;
  const identifier = identify(reference);
  if (current !== null && identifier)
    await tx.sql(LOCK_LISTS, {
      named_id: identifier.key === 'id' ? identifier.value : null,
      named_uuid: identifier.key === 'uuid' ? identifier.value : null,
      id: current,
    });
  const [id] = await resolveReferences(tx, 'buyer_suppressions', [reference], {
    field: 'buyer_suppression_id',
    lock: 'UPDATE',
  });
  return id;
}

export function toFileColumns(fields: FileFields) {
  const { name, caller_id_column_name, headers, apply_block_or_unblock, external_record_id } =
    fields;
  return {
    ...(name !== undefined && { name }),
    ...(caller_id_column_name !== undefined && { caller_id_column_name }),
    ...(headers !== undefined && { headers: headers ?? [] }),
    ...(apply_block_or_unblock !== undefined && {
      apply_block_or_unblock: apply_block_or_unblock ?? 'block',
    }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

/**
 * The columns that refer to an upload, which is stored already. If the transaction is rolled back,
 * housekeeping removes the file, because no record refers to it.
 */
export function toUploadColumns(upload: Upload | undefined) {
  if (!upload) return {};
  const { storedFile, name, bytes } = upload;
  if (!storedFile) throw new Error('the handler does not say that it keeps the file');
  storedFile.is_used = true;
  return { import_file_key: storedFile.key, import_file_name: name, import_file_bytes: bytes };
}
