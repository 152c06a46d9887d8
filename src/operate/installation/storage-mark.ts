import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sql } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { writeNewFile } from '../../platform/storage/new-file';
import { STORAGE_MARK, type Storage } from '../../platform/storage/storage';
import { READ_SHARED, SAVE_STORAGE } from './queries/settings';

// The storage of files has a mark that the database knows: a process with another storage would not
// find the files of the others, and would delete files of another installation.

export class OtherStorage extends StartError {
  constructor(name: string, mark: string | undefined) {
    const whose = mark === undefined ? 'it has no mark of one' : 'it is that of another one';
    super(
      `${name} is not the storage of this installation: ${whose}. Set the storage that the other ` +
        'processes have. If it is to be this one from now on, copy the files there and run: ' +
        'npx trunkline settings accept',
    );
  }
}

interface NamedStorage {
  storage: Storage;
  /** Name for operators, with its variable. */
  name: string;
}

/**
 * Throws if this is not the storage of the installation; the first start takes it over. Call it
 * under the lock of migrations.
 */
export async function claimStorage(sql: Sql, claimed: NamedStorage): Promise<void> {
  const recorded = await loadRecordedMark(sql);
  const mark = await readMark(claimed.storage);
  if (recorded === undefined && mark === undefined) await acceptStorage(sql, claimed.storage);
  else if (recorded !== mark) throw new OtherStorage(claimed.name, mark);
}

/**
 * The error if this is not the storage of the installation; before its first start, any storage is
 * right.
 */
export async function storageFault(
  sql: Sql,
  { storage, name }: NamedStorage,
): Promise<OtherStorage | undefined> {
  const [recorded, mark] = [await loadRecordedMark(sql), await readMark(storage)];
  return recorded === mark ? undefined : new OtherStorage(name, mark);
}

/** Makes this the storage of the installation, and of no other. */
export async function acceptStorage(sql: Sql, storage: Storage): Promise<void> {
  const mark = (await loadRecordedMark(sql)) ?? randomUUID();
  const draft = join(storage.incoming, randomUUID());
  await writeNewFile(draft, `${mark}\n`);
  try {
    await storage.remove(STORAGE_MARK);
    await storage.keep(draft, STORAGE_MARK);
  } finally {
    await rm(draft, { force: true });
  }
  await sql(SAVE_STORAGE, { storage_id: mark });
}

/** The mark that the storage must have; undefined before the first start. */
export async function loadRecordedMark(sql: Sql): Promise<string | undefined> {
  const [installation] = await sql(READ_SHARED, {});
  return installation?.storage_id ?? undefined;
}

export async function readMark(storage: Storage): Promise<string | undefined> {
  const file = await storage.open(STORAGE_MARK);
  return file && (await text(file.stream)).trim();
}
