import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ColumnHints } from '../../src/domain/suppression/csv/layout';
import {
  readBatches,
  readNumbers,
  type RejectedRow,
} from '../../src/domain/suppression/csv/reader';
import type { ThreadData } from '../../src/domain/suppression/csv/thread';
import { openDirectory } from '../../src/platform/storage/directory';
import { toStorageKey } from './storage-keys';

export const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'imports-'));
const storage = openDirectory({ folder, reserve_bytes: 0 });
let files = 0;

/** A client that has said nothing about the file. */
export const NO_HINTS = { caller_id_column_name: null, headers: [] };

const buildReadOptions = (hints: ColumnHints) => ({
  country: 'US',
  scratch: folder,
  columnHints: hints,
});

/** Data for the reading thread about a file with this content, with US numbers. */
export function threadData(content: string | Buffer): ThreadData {
  const key = toStorageKey(files++);
  writeFileSync(storage.path(key), content);
  return {
    source: { storage: storage.settings, key },
    readOptions: buildReadOptions(NO_HINTS),
    owner: [],
  };
}

/** Reads a file to its end, and its batches without the first `skip` rows. */
export async function readAll(
  content: string | Buffer,
  { skip = 0, size = 4, hints = NO_HINTS as ColumnHints } = {},
) {
  const rejected: RejectedRow[] = [];
  const bytes = [Buffer.from(content)];
  const reading = await readNumbers(Readable.from(bytes), buildReadOptions(hints), (row) =>
    rejected.push(row),
  );
  const batches = Array.from(readBatches(reading, { skip, size }), ({ rowCount, numbers }) => ({
    rowCount,
    numbers: [...numbers],
  }));
  reading.numbers.close();
  return {
    layout: reading.layout,
    total: reading.total,
    numbers: batches.flatMap(({ numbers }) => numbers),
    rejected,
    rowCounts: batches.map((batch) => batch.rowCount),
  };
}
