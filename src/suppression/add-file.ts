import { randomUUID } from 'node:crypto';
import type { Schemas } from '../contract';
import { identify, resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Caller } from '../http/auth/caller';
import type { Upload } from '../http/upload';
import type { Storage } from '../storage/directory';
import { queueFile } from './file-queue';
import { moveCount } from '../db/counters';

type Fields = Omit<Schemas['BuyerSuppressionFileFields'], 'serializer'>;

interface NewFile {
  fields: Fields;
  upload: Upload | undefined;
  caller: Caller;
  /** The list, where the caller has just made it; else `fields` may name one. */
  list?: bigint;
}

/** Makes a suppression file, and queues it when it has both its content and its list. */
export async function addSuppressionFile(
  db: Db,
  { fields, upload, caller, list }: NewFile,
  { storage, queue, clock }: Pick<Deps, 'storage' | 'queue' | 'clock'>,
): Promise<bigint> {
  const now = clock();
  const owner = list ?? (await listOf(db, fields));
  const file = await db.prisma.buyerSuppressionFile.create({
    data: {
      ...columnsOf(fields),
      apply_block_or_unblock: fields.apply_block_or_unblock ?? 'block',
      ...(await keptAs(storage, upload)),
      name: fields.name ?? upload?.name ?? null,
      company_id: db.company_id,
      buyer_suppression_id: owner ?? null,
      user_id: caller.user_id,
      status: 'pending',
      user_updated_at: now,
      created_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  await moveCount(db, 'buyer_suppression_files', 1);
  if (upload && owner) await queueFile(db, queue, file.id, now);
  return file.id;
}

/**
 * The id of the list that `fields` name, locked: its queue is about to change. With it the list the file was on, in the order of their ids, so that
 * two that move files to and fro do not wait for each other. Null for none, undefined when nothing is said.
 */
export async function listOf(
  db: Db,
  { buyer_suppression_id: list }: Fields,
  was: bigint | null = null,
): Promise<bigint | null | undefined> {
  if (list === undefined || list === null) return list;
  const named = identify(list);
  if (was !== null && named) {
    await db.query({
      text: `SELECT FROM buyer_suppressions WHERE ${named.sql} OR (company_id = $1 AND id = $3) ORDER BY id FOR UPDATE`,
      values: [db.company_id, named.value, was],
    });
  }
  const [id] = await resolveReferences(db, 'buyer_suppressions', [list], {
    field: 'buyer_suppression_id',
    lock: 'UPDATE',
  });
  return id;
}

/** The fields that are columns of the file's row under the same name. */
export function columnsOf({
  name,
  caller_id_column_name,
  headers,
  apply_block_or_unblock,
  external_record_id,
}: Fields) {
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

/** Takes the upload into keeping. When the transaction does not commit, the sweep finds that no record holds it. */
export async function keptAs(storage: Storage, upload: Upload | undefined) {
  if (!upload) return {};
  const key = randomUUID();
  await storage.keep(upload.path, key);
  return { import_file_key: key, import_file_name: upload.name, import_file_bytes: upload.bytes };
}
