import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { guessDelimiter } from '../../../src/platform/csv/delimiter';
import { readRecords, Splitter, type CsvRecord } from '../../../src/platform/csv/records';
import { FileProblem } from '../../../src/platform/csv/text';
import { readAll } from '../../support/csv';
import { repetitions } from '../../support/repetitions';

// No file takes much longer to read than its length. Measured in characters looked at.

const MILLION = 1_000_000;
/** Two scans of the line, four of the text that is scanned again, and the row where that ends. */
const MAX_SCAN_FACTOR = 8;

/** Scanned characters of a text that comes in pieces. */
function countCharsScanned(text: string, piece = 65_536): number {
  const splitter = new Splitter(',');
  try {
    for (let at = 0; at < text.length; at += piece) splitter.take(text.slice(at, at + piece));
    splitter.take('', true);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
  }
  return splitter.charsScanned;
}

const fillText = (pattern: string, length: number) =>
  pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length);

test.each([
  ['a quote after each first quoted cell', '"a"b\n'],
  ['a cell of many lines behind each line', 'a","b\n'],
  ['cells of many lines that end in a misplaced quote', `${'a","b\n'.repeat(150_000)}"x"y\n`],
  ['rows of nearly the longest length', `"${'x\n'.repeat(499_000)}"\n`],
  ['quotes alone', '"'],
  ['quoted line breaks', '"\n'],
  ['quotes that are written twice', '""""\n'],
  ['a line without an end', 'x'],
  ['a misquoted line without an end', `"a"b${'x'.repeat(990_000)}\n`],
  ['delimiters alone', ','],
  ['line breaks alone', '\n'],
  ['blanks after a quoted cell', '"a"          \t\t\t    '],
])('%s', (_, pattern) => {
  const text = fillText(pattern, 3 * MILLION);
  expect(countCharsScanned(text) / (text.length + MILLION)).toBeLessThan(MAX_SCAN_FACTOR);
});

const part = fc.constantFrom('"', '""', ',', '\n', 'a', ' ', '\t', '"\n', '","', ',"', '",', '\n"');
const nasty = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));

test('any text that repeats something', () =>
  fc.assert(
    fc.property(fc.array(nasty, { minLength: 1, maxLength: 3 }), fc.nat(), (patterns, n) => {
      const parts = patterns.map((pattern, at) => fillText(pattern, (n % (at + 2)) * 300_000));
      const text = fillText(parts.join('') || 'x', 2 * MILLION);
      expect(countCharsScanned(text) / (text.length + MILLION)).toBeLessThan(MAX_SCAN_FACTOR);
    }),
    { numRuns: repetitions(10, 40) },
  ));

async function collectRecords(text: string, piece: number): Promise<CsvRecord[] | string> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += piece) yield text.slice(at, at + piece);
  }
  const records: CsvRecord[] = [];
  try {
    for await (const some of readRecords(pieces(), ',')) records.push(...some);
  } catch (error) {
    return (error as Error).message;
  }
  return records;
}

test('rows are the same in whatever pieces a text comes', () =>
  fc.assert(
    fc.asyncProperty(
      nasty,
      nasty,
      fc.integer({ min: 16_384, max: 40_000 }),
      async (a, b, piece) => {
        const text = a.repeat(9_000) + b.repeat(9_000);
        expect(await collectRecords(text, piece)).toEqual(await collectRecords(text, text.length));
      },
    ),
    { numRuns: repetitions(15, 60) },
  ));

test('well-formed rows are read as they were written', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.string({ unit: fc.constantFrom(...'a",\n b') }), { minLength: 2 }), {
        minLength: 1,
      }),
      async (rows) => {
        const text = rows
          .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
          .join('\n');
        const records = (await collectRecords(text, 65_536)) as CsvRecord[];
        expect(records.map(({ cells }) => cells)).toEqual(rows);
      },
    ),
  ));

test('the guess of the delimiter looks at a sample of any kind once for each delimiter', () => {
  for (const pattern of ['"a"b\n', 'a","b\n', '"', '"\n', ',', ';"', '\n'])
    expect(guessDelimiter(fillText(pattern, 65_536))).toMatch(/^[,;\t|]$/);
  expect(guessDelimiter('a;b,c\nd;e\n')).toBe(';');
});

test('lines around misplaced quotes are all there, however many there are', async () => {
  const lines = 100_000;
  const rows = Array.from({ length: lines }, (_, n) =>
    n % 3 === 0 ? `"310"5550123,x` : String(3_105_550_000 + (n % 9_000)),
  );
  const { total, rejected } = await readAll(`phone,name\n${rows.join('\n')}\n`, { size: lines });
  expect([total, rejected.length]).toEqual([lines, Math.ceil(lines / 3)]);
});

test('a gzip of empty blocks, and one that unpacks to a single line, end with a message', async () => {
  const empty = gzipSync('phone\n3105550123\n');
  const members = Buffer.concat(Array.from({ length: 2_000 }, () => gzipSync('')));
  const { numbers } = await readAll(Buffer.concat([empty, members]));
  expect(numbers).toEqual([13105550123]);
  await expect(readAll(gzipSync(`phone\n${'1'.repeat(20 * MILLION)}`))).rejects.toThrow(
    /does not end within 1,000,000 characters/,
  );
});
