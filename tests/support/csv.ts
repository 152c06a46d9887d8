import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Wanted } from '../../src/suppression/csv/layout';
import {
  batchesOf,
  readNumbers,
  type RejectedRow,
  type Source,
} from '../../src/suppression/csv/reader';

/** Folder of the files of a test. */
export const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'imports-'));
let files = 0;

/** A client that has said nothing about the file. */
export const NOTHING_WANTED = { caller_id_column_name: null, headers: [] };

/** A file with this content, of numbers in the United States. */
export function sourceOf(content: string | Buffer): Source {
  const file = join(folder, `${files++}.csv`);
  writeFileSync(file, content);
  return { file, country: 'US', scratch: folder };
}

/** Reads a file to its end, and its batches without the first `skip` rows. */
export async function readAll(
  content: string | Buffer,
  { skip = 0, size = 4, wanted = NOTHING_WANTED as Wanted } = {},
) {
  const rejected: RejectedRow[] = [];
  const reading = await readNumbers(sourceOf(content), wanted, (row) => rejected.push(row));
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
