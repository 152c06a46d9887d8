import { createReadStream } from 'node:fs';
import { HttpProblem } from '../errors';
import { guessDelimiter } from './delimiter';
import { readRecords, type CsvRecord } from './records';
import { FileProblem, readText } from './text';

const MAX_BYTES = 50_000_000;

/** 422 for the file of a request. */
export const invalidFile = (message: string): HttpProblem =>
  HttpProblem.field('import_file', 'invalid_file', message);

interface ReadOptions {
  max_rows: number;
  /** Lets other work run now and then. */
  pause: () => Promise<void> | void;
}

/**
 * Reads the rows of an uploaded CSV file into memory, with the first: columns separated by comma,
 * semicolon, tab or bar, UTF-8 or UTF-16, plain or gzip. Throws 422.
 */
export async function readRows(
  { path, bytes }: { path: string; bytes: number },
  { max_rows, pause }: ReadOptions,
): Promise<CsvRecord[]> {
  if (bytes > MAX_BYTES) throw invalidFile(`must have at most ${MAX_BYTES} bytes`);
  const rows: CsvRecord[] = [];
  try {
    const texts = readText(createReadStream(path) as AsyncIterable<Buffer>);
    const first = ((await texts.next()) as IteratorResult<string, undefined>).value ?? '';
    for await (const part of readRecords(concatTexts(first, texts), guessDelimiter(first))) {
      for (const row of part) rows.push(row);
      if (rows.length > max_rows) throw invalidFile(`must have at most ${max_rows} rows`);
      await pause();
    }
  } catch (error) {
    if (error instanceof FileProblem) throw invalidFile(`cannot be read: ${error.message}`);
    throw error;
  }
  const misquoted = rows.find((row) => row.misquoted);
  if (misquoted) throw invalidFile(`has a quote in the wrong place in line ${misquoted.line}`);
  return rows;
}

async function* concatTexts(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** The text of a cell of our CSV, in which apostrophes keep a spreadsheet from running it. */
export const unescapedCell = (cell: string): string =>
  cell.replace(/(^|[;\t\r\n])'(?=[=+\-@|＝＋－＠\t\r\n])/g, '$1');
