import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Wanted } from '../../src/suppression/csv/layout';
import { batchesOf, readNumbers, type RejectedRow } from '../../src/suppression/csv/reader';
import type { ThreadData } from '../../src/suppression/csv/thread';
import { openDirectory } from '../../src/storage/directory';
import { toStorageKey } from './storage-keys';

export const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'imports-'));
const storage = openDirectory({ folder, reserve_bytes: 0 });
let files = 0;

/** A client that has said nothing about the file. */
export const NOTHING_WANTED = { caller_id_column_name: null, headers: [] };

const mannerFor = (wanted: Wanted) => ({ country: 'US', scratch: folder, wanted });

/** Data for the reading thread about a file with this content, with US numbers. */
export function threadData(content: string | Buffer): ThreadData {
  const key = toStorageKey(files++);
  writeFileSync(storage.path(key), content);
  return {
    source: { storage: storage.settings, key },
    manner: mannerFor(NOTHING_WANTED),
    owner: [],
  };
}

/** Reads a file to its end, and its batches without the first `skip` rows. */
export async function readAll(
  content: string | Buffer,
  { skip = 0, size = 4, wanted = NOTHING_WANTED as Wanted } = {},
) {
  const rejected: RejectedRow[] = [];
  const bytes = [Buffer.from(content)];
  const reading = await readNumbers(Readable.from(bytes), mannerFor(wanted), (row) =>
    rejected.push(row),
  );
  const batches = Array.from(batchesOf(reading, { skip, size }), ({ taken, numbers }) => ({
    taken,
    numbers: [...numbers],
  }));
  reading.numbers.close();
  return {
    layout: reading.layout,
    total: reading.total,
    numbers: batches.flatMap(({ numbers }) => numbers),
    rejected,
    taken: batches.map((batch) => batch.taken),
  };
}
