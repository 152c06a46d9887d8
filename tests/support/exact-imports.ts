import { eventually } from './engine-process';
import { numberAt } from './imports';
import type { Api, World } from './world';

// Imports that a test interrupts, and what each of them must have done in the end.

/** A service that imports files, and its database. */
export interface ImportSite {
  api: Api;
  sql: World['sql'];
}

/** A file that is imported into a list of its own, and a second one that waits for it. */
export interface ListImport {
  site: ImportSite;
  list: number;
  file: number;
  next: number;
  rows: string[];
  /** Rows that were done when the test looked last. */
  progress: number;
}

/** A number that no other file has. */
const NEXT_NUMBER = numberAt(999_999);

/** Rows with one in fifty bad, and one in fifty twice. */
export const buildRows = (n: number): string[] =>
  Array.from({ length: n }, (_, i) => {
    if (i % 50 === 7) return `bad ${i}`;
    return numberAt(i % 50 === 9 ? i - 1 : i);
  });

const isBad = (row: string): boolean => row.startsWith('bad');

/** The numbers of a list that has imported these rows, in order. */
export const toNumbers = (rows: readonly string[]): string[] =>
  [...new Set(rows.filter((row) => !isBad(row)))].map((row) => `+1${row}`).toSorted();

async function upload({ api }: ImportSite, list: number, rows: readonly string[]): Promise<number> {
  const importFile = Buffer.from(`phone\n${rows.join('\n')}\n`);
  const { body } = await api('post', 'buyer_suppression_files', {
    form: { buyer_suppression_id: String(list), import_file: importFile },
  });
  return body.buyer_suppression_file.id;
}

export async function uploadImport(site: ImportSite, rows: string[]): Promise<ListImport> {
  const { body } = await site.api('post', 'buyer_suppressions', { body: { name: 'List' } });
  const list = body.buyer_suppression.id as number;
  const file = await upload(site, list, rows);
  const next = await upload(site, list, [NEXT_NUMBER]);
  return { site, list, file, next, rows, progress: 0 };
}

export interface Run {
  run_id: string | null;
  attempts: number;
  status: string;
  imported: number;
  progress: number;
}

/** The run that has claimed the file. Each look finds at least as much done as the one before. */
export async function loadRun(target: ListImport): Promise<Run> {
  const [run] = await target.site.sql<Run>(
    `SELECT run_id, attempts, status, import_count::int AS imported,
      (import_count + rejected_count)::int AS progress
    FROM buyer_suppression_files
    WHERE id = $1`,
    [target.file],
  );
  expect(run!.progress).toBeGreaterThanOrEqual(target.progress);
  target.progress = run!.progress;
  return run!;
}

const hasEnded = ({ status }: Run): boolean => status !== 'pending' && status !== 'running';

/** Waits for a state of the run; an import that has ended comes to no other. */
export const waitForRun = (target: ListImport, isSo: (run: Run) => boolean): Promise<void> =>
  eventually(async () => {
    const run = await loadRun(target);
    return isSo(run) || hasEnded(run);
  }, 10);

/** Waits until the imports of both files have ended. */
export async function waitUntilEnded(target: ListImport): Promise<void> {
  await waitForRun(target, hasEnded);
  await waitForRun({ ...target, file: target.next, progress: 0 }, hasEnded);
}

/** The counts are those of the rows, at any moment. */
export async function expectConsistent({ site, list, file }: ListImport): Promise<void> {
  const [counts] = await site.sql<Record<string, string>>(
    `SELECT
      (SELECT sum(added_count) FROM buyer_suppression_files WHERE buyer_suppression_id = $1)
        AS added,
      (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1) AS numbers,
      (SELECT rejected_count FROM buyer_suppression_files WHERE id = $2) AS rejected,
      (SELECT count(*) FROM rejected_rows WHERE buyer_suppression_file_id = $2) AS rejected_rows`,
    [list, file],
  );
  const { added, numbers, rejected, rejected_rows } = counts!;
  expect([numbers, rejected_rows]).toEqual([added, rejected]);
}

/** A process that was taken over may still be writing, and then has to take it back. */
const waitForWriters = ({ site }: ListImport): Promise<void> =>
  eventually(async () => {
    const writers = await site.sql(
      `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL`,
    );
    return writers.length === 0;
  }, 20);

/**
 * Waits until the import has ended: the list has exactly the numbers of its files, the counts are
 * those of the rows, and the second file came after the first.
 */
export async function expectExact(target: ListImport): Promise<void> {
  const { site, list, file, next, rows } = target;
  const bad = rows.flatMap((row, i) => (isBad(row) ? [{ line: String(i + 2), row }] : []));
  const numbers = toNumbers(rows);
  await waitUntilEnded(target);
  await waitForWriters(target);
  const load = async (path: string) => (await site.api('get', path)).body;
  const { buyer_suppression_file: record } = await load(`buyer_suppression_files/${file}`);
  expect(record).toMatchObject({
    status: 'succeeded',
    total_count: rows.length,
    import_count: rows.length - bad.length,
    rejected_count: bad.length,
    added_count: numbers.length,
    import_percent: 100,
  });
  const { buyer_suppression_file: second } = await load(`buyer_suppression_files/${next}`);
  expect(second).toMatchObject({ status: 'succeeded', added_count: 1 });
  const { buyer_suppression } = await load(`buyer_suppressions/${list}`);
  expect(buyer_suppression.blocked).toBe(numbers.length + 1);
  const stored = await site.sql<{ number: string }>(
    `SELECT '+' || number AS number FROM buyer_suppression_numbers
    WHERE buyer_suppression_id = $1
    ORDER BY 1`,
    [list],
  );
  expect(stored.map(({ number }) => number)).toEqual(toNumbers([...rows, NEXT_NUMBER]));
  expect(
    await site.sql(
      `SELECT line, caller_id AS row FROM rejected_rows
      WHERE buyer_suppression_file_id = $1
      ORDER BY rejected_rows.line`,
      [file],
    ),
  ).toEqual(bad);
  const [order] = await site.sql(
    `SELECT second.started_at >= first.succeeded_at AS is_kept
    FROM buyer_suppression_files first, buyer_suppression_files second
    WHERE first.id = $1 AND second.id = $2`,
    [file, next],
  );
  expect(order).toEqual({ is_kept: true });
}
