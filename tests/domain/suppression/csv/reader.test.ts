import { gzipSync } from 'node:zlib';
import { openReader } from '../../../../src/domain/suppression/csv/open-reader';
import { packNumbers } from '../../../../src/domain/suppression/csv/pack';
import { readAll, threadData } from '../../../support/csv';

test('numbers are packed as PostgreSQL reads a binary COPY of one bigint column', () => {
  const packed = Buffer.from(packNumbers(Float64Array.of(1, 13105550123, 999_999_999_999_999)));
  expect(packed.subarray(0, 11).toString('latin1')).toBe('PGCOPY\n\xff\r\n\0');
  const values = [0, 1, 2].map((row) => packed.readBigInt64BE(19 + row * 14 + 6));
  expect(values).toEqual([1n, 13105550123n, 999_999_999_999_999n]);
  expect(packed.readInt16BE(packed.length - 2)).toBe(-1);
});

const [A, B, C] = [13105550123, 12125550145, 16175550144];

describe('a file of numbers', () => {
  const plain = 'phone,name\n3105550123,Ann\n2125550145,Bob\n';
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const bigEndian = (text: string) => utf16(text).swap16();
  test.each<[string, string | Buffer]>([
    ['plain', plain],
    ['with a byte order mark', `\ufeff${plain}`],
    ['UTF-16 with a byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(plain)])],
    [
      'UTF-16 big-endian with a byte order mark',
      Buffer.concat([Buffer.from([0xfe, 0xff]), bigEndian(plain)]),
    ],
    ['UTF-16 without one', utf16(plain)],
    ['UTF-16 big-endian without one', bigEndian(plain)],
    ['CRLF', plain.replaceAll('\n', '\r\n')],
    ['CR only', plain.replaceAll('\n', '\r')],
    ['line breaks of every kind', 'phone,name\r\n3105550123,Ann\r2125550145,Bob\n'],
    ['semicolons', plain.replaceAll(',', ';')],
    ['tabs', plain.replaceAll(',', '\t')],
    ['bars', plain.replaceAll(',', '|')],
    ['quotes', '"phone","name"\n"310-555-0123","Ann ""A"" Lee"\n"2125550145","B\nob"\n'],
    ['no newline at its end', plain.trimEnd()],
    ['blank lines', `\n${plain.replaceAll('\n', '\n\n')}\n`],
    ['gzip', gzipSync(plain)],
    ['gzip of UTF-16', gzipSync(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(plain)]))],
    ['a Latin-1 name', Buffer.from(plain.replace('Ann', 'Andr\u00e9'), 'latin1')],
  ])('is read: %s', async (_, content) => {
    const { total, numbers, layout } = await readAll(content);
    expect({ total, numbers: numbers.sort((a, b) => b - a), headers: layout.headers }).toEqual({
      total: 2,
      numbers: [A, B],
      headers: ['phone', 'name'],
    });
  });

  test('reports the line of each row that it rejects, and continues after it', async () => {
    const content =
      'phone,note\n3105550123,"two\nlines"\n,empty\nnone,x\n' +
      '2125550145\n"617"5550144,y\n\n6175550144,z\n';
    const { numbers, rejected, total } = await readAll(content, { size: 100 });
    expect(rejected).toEqual([
      { line: 4, caller_id: '', reason: 'is empty' },
      { line: 5, caller_id: 'none', reason: 'is not a possible telephone number' },
      { line: 7, caller_id: expect.any(String), reason: 'has a quote in the wrong place' },
    ]);
    expect([numbers, total]).toEqual([[B, A, C], 6]);
  });

  test('loses no row around any number of misplaced quotes', async () => {
    const good = (i: number) => `310555${1000 + i}`;
    const rows = Array.from({ length: 3000 }, (_, i) => {
      if (i % 3 === 0) return `"${good(i)}"x,y`;
      return i % 3 === 1 ? `"${good(i)}","a ""b"" c"` : `${good(i)},z`;
    });
    const { numbers, rejected, total } = await readAll(`phone,name\n${rows.join('\n')}`, {
      size: 10_000,
    });
    expect([total, numbers.length, rejected.length]).toEqual([3000, 2000, 1000]);
    expect(rejected.map(({ line }) => line)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i * 3 + 2),
    );
  });

  test('has the same batches in ascending order, wherever reading begins', async () => {
    const rows = Array.from({ length: 100 }, (_, i) =>
      i % 7 === 0 ? 'bad' : `310555${1000 + ((i * 37) % 90)}`,
    );
    const content = `phone\n${rows.join('\n')}`;
    const whole = await readAll(content, { size: 9 });
    expect([whole.rowCounts, whole.rejected.length]).toEqual([[...Array(9).fill(9), 4], 15]);
    expect(whole.numbers).toEqual(whole.numbers.toSorted((a, b) => a - b));
    for (const skip of [0, 1, 9, 50, 84, 85]) {
      const rest = await readAll(content, { skip, size: 9 });
      expect(rest.rowCounts.reduce((a, b) => a + b, 0)).toBe(85 - skip);
      expect(rest.numbers.every((number) => whole.numbers.includes(number))).toBe(true);
    }
  });
});

describe('a file without numbers fails with a clear message, in little memory', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 7)]);
  test.each<[string, () => string | Buffer, RegExp]>([
    ['an empty file', () => '', /is empty/],
    ['blank lines only', () => '\n\n\n', /is empty/],
    [
      'a ZIP archive',
      () => Buffer.from('504b030414000000', 'hex'),
      /ZIP archive or an Excel workbook: unpack it, or save it as CSV/,
    ],
    ['an image', () => png, /PNG image/],
    ['an image in a gzip', () => gzipSync(png), /not text/],
    [
      'random bytes',
      () => Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
      /not text/,
    ],
    [
      'a gzip that was cut off',
      () => gzipSync('phone\n3105550123\n'.repeat(1000)).subarray(0, 40),
      /damaged or cut off/,
    ],
    [
      'a gzip bomb',
      () => gzipSync(Buffer.alloc(80_000_000, `3105550123,${'x'.repeat(988)}\n`)),
      /more than 100 times its size/,
    ],
    [
      'an unclosed quote',
      () => 'phone,name\n3105550123,"Ann\n2125550145,Bob\n',
      /Line 2 opens a quote that is never closed/,
    ],
    [
      'an unclosed quote in a large file',
      () => `phone,name\n3105550123,"Ann\n${'2125550145,Bob\n'.repeat(200_000)}`,
      /Line 2 opens a quote that is not closed within 1,000,000/,
    ],
    [
      'one line of 50 MB',
      () => `phone\n${'x'.repeat(50_000_000)}`,
      /Line 2 does not end within 1,000,000 characters/,
    ],
    [
      '10,000 columns',
      () => `${Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',')}\n3105550123\n`,
      /has 10000 columns; at most 1000/,
    ],
  ])('%s', async (_, content, message) => {
    // On the thread, whose memory is limited: a file that needs more would fail differently.
    const reader = openReader(threadData(content()));
    await expect(reader.summary()).rejects.toThrow(message);
    await reader.close();
  });
});

test('a batch gives its memory back when the next is asked for', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => `310555${String(n + 1_000)}`).join('\n');
  const reader = openReader(threadData(`phone\n${rows}\n`));
  await reader.summary();
  const batches: Uint8Array[] = [];
  const numbers: string[] = [];
  for await (const batch of reader.batches({ skip: 0, size: 100 })) {
    batches.push(batch.numbers);
    const packed = Buffer.from(batch.numbers);
    for (let row = 0; row < 100; row++)
      numbers.push(String(packed.readBigInt64BE(19 + row * 14 + 6)));
    expect(batches.slice(0, -1).every(({ byteLength }) => byteLength === 0)).toBe(true);
  }
  expect(batches).toHaveLength(10);
  expect(numbers).toEqual(rows.split('\n').map((number) => `1${number}`));
  await reader.close();
});
