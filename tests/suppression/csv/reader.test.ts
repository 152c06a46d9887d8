import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import { numberReader } from '../../../src/phone/parse-number';
import { openReader } from '../../../src/suppression/csv/open-reader';
import { packNumbers } from '../../../src/suppression/csv/pack';
import { batchesOf, readNumbers, type RejectedRow } from '../../../src/suppression/csv/reader';
import { createSorter } from '../../../src/suppression/csv/external-sort';

const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'imports-'));
let files = 0;
function fileOf(content: string | Buffer): string {
  const file = join(folder, `${files++}.csv`);
  writeFileSync(file, content);
  return file;
}

describe('a telephone number', () => {
  const joined = (parts: fc.Arbitrary<string>[]) =>
    fc.tuple(...parts).map((texts) => texts.join(''));
  const digits = (n: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: n, maxLength: n });
  const punctuation = fc.string({ unit: fc.constantFrom(...' -.()'), maxLength: 3 });
  const spelled = joined([
    fc.constantFrom('', '1', '+1', '+ 1', '+', '(+1)', "'", '11', '0', '+44', '44'),
    punctuation,
    digits(3),
    punctuation,
    digits(3),
    punctuation,
    digits(4),
    punctuation,
  ]);
  const jumbled = fc.string({ unit: fc.constantFrom(...'0123456789+ -.()'), maxLength: 20 });

  test.each(['US', 'CA', 'GB', 'DE'])(
    'is read on the fast path exactly as libphonenumber reads it, in %s',
    (country) => {
      const read = numberReader(country);
      const slow = (text: string) => {
        const found = parsePhoneNumberFromString(text.trim().replace(/^'/, ''), {
          defaultCountry: country as CountryCode,
          extract: false,
        });
        return found?.isPossible() ? Number(found.number.slice(1)) : undefined;
      };
      fc.assert(
        fc.property(fc.oneof(spelled, jumbled), (text) => {
          expect(read(text)).toBe(slow(text));
        }),
        { numRuns: 3_000 * Number(process.env.FUZZ_TIMES ?? 1) },
      );
    },
  );

  test('may be spelled in any way, and is refused when it can be none', () => {
    const read = numberReader('US');
    for (const text of [
      '3105550123',
      '310-555-0123',
      '(310) 555 0123',
      '1 310 555 0123',
      '+13105550123',
      '+1 (310) 555-0123',
      "'+13105550123",
      ' 310.555.0123 ',
    ]) {
      expect(read(text)).toBe(13105550123);
    }
    expect(read('+44 20 7946 0958')).toBe(442079460958);
    expect(numberReader('GB')('020 7946 0958')).toBe(442079460958);
    for (const text of [
      '',
      'abc',
      '911',
      '555-0123',
      '1234567890123456',
      '+',
      '3105550123;ext',
      'call 3105550123',
      '1.31E+10',
      '０'.repeat(300),
    ]) {
      expect(read(text)).toBeUndefined();
    }
  });
});

test('numbers are packed as PostgreSQL reads a binary COPY of one bigint column', () => {
  const packed = Buffer.from(packNumbers(Float64Array.of(1, 13105550123, 999_999_999_999_999)));
  expect(packed.subarray(0, 11).toString('latin1')).toBe('PGCOPY\n\xff\r\n\0');
  const values = [0, 1, 2].map((row) => packed.readBigInt64BE(19 + row * 14 + 6));
  expect(values).toEqual([1n, 13105550123n, 999_999_999_999_999n]);
  expect(packed.readInt16BE(packed.length - 2)).toBe(-1);
});

const nothing = { caller_id_column_name: null, headers: [] };
const source = (content: string | Buffer) => ({
  file: fileOf(content),
  country: 'US',
  scratch: folder,
});
const inspect = (from: ReturnType<typeof source>, wanted: Parameters<typeof readNumbers>[1]) =>
  readNumbers(from, wanted, () => undefined);

async function readAll(
  content: string | Buffer,
  {
    skip = 0,
    size = 4,
    wanted = nothing as { caller_id_column_name: string | null; headers: string[] },
  } = {},
) {
  const rejected: RejectedRow[] = [];
  const reading = await readNumbers(source(content), wanted, (row) => rejected.push(row));
  const batches = [...batchesOf(reading, { skip, size })];
  reading.numbers.close();
  const { layout, total } = reading;
  const taken = batches.map((batch) => batch.taken);
  return {
    layout,
    total,
    numbers: batches.flatMap((batch) => [...batch.numbers]),
    rejected,
    taken,
  };
}

const [A, B, C] = [13105550123, 12125550145, 16175550144];

describe('a file of numbers', () => {
  const plain = 'phone,name\n3105550123,Ann\n2125550145,Bob\n';
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const big_endian = (text: string) => utf16(text).swap16();
  test.each<[string, string | Buffer]>([
    ['plain', plain],
    ['with a byte order mark', `\ufeff${plain}`],
    ['UTF-16 with a byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(plain)])],
    [
      'UTF-16 big-endian with a byte order mark',
      Buffer.concat([Buffer.from([0xfe, 0xff]), big_endian(plain)]),
    ],
    ['UTF-16 without one', utf16(plain)],
    ['UTF-16 big-endian without one', big_endian(plain)],
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

  test('names each row that it rejects by its line, and goes on behind it', async () => {
    const content =
      'phone,note\n3105550123,"two\nlines"\n,empty\nnone,x\n2125550145\n"617"5550144,y\n\n6175550144,z\n';
    const { numbers, rejected, total } = await readAll(content, { size: 100 });
    expect(rejected).toEqual([
      { line: 4, caller_id: '', reason: 'is empty' },
      { line: 5, caller_id: 'none', reason: 'is not a possible telephone number' },
      { line: 7, caller_id: expect.any(String), reason: 'has a quote where none may stand' },
    ]);
    expect([numbers, total]).toEqual([[B, A, C], 6]);
  });

  test('loses no row around any number of misplaced quotes', async () => {
    const good = (i: number) => `310555${1000 + i}`;
    const rows = Array.from({ length: 3000 }, (_, i) =>
      i % 3 === 0 ? `"${good(i)}"x,y` : i % 3 === 1 ? `"${good(i)}","a ""b"" c"` : `${good(i)},z`,
    );
    const { numbers, rejected, total } = await readAll(`phone,name\n${rows.join('\n')}`, {
      size: 10_000,
    });
    expect([total, numbers.length, rejected.length]).toEqual([3000, 2000, 1000]);
    expect(rejected.map(({ line }) => line)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i * 3 + 2),
    );
  });

  test('is cut into the same batches wherever reading begins, in the order of the numbers', async () => {
    const rows = Array.from({ length: 100 }, (_, i) =>
      i % 7 === 0 ? 'bad' : `310555${1000 + ((i * 37) % 90)}`,
    );
    const content = `phone\n${rows.join('\n')}`;
    const whole = await readAll(content, { size: 9 });
    expect([whole.taken, whole.rejected.length]).toEqual([[...Array(9).fill(9), 4], 15]);
    expect(whole.numbers).toEqual(whole.numbers.toSorted((a, b) => a - b));
    for (const skip of [0, 1, 9, 50, 84, 85]) {
      const rest = await readAll(content, { skip, size: 9 });
      expect(rest.taken.reduce((a, b) => a + b, 0)).toBe(85 - skip);
      expect(rest.numbers.every((number) => whole.numbers.includes(number))).toBe(true);
    }
  });
});

test('numbers that do not fit into memory are sorted just as well, and leave nothing on the disk', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(10_000), { maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(320),
      (numbers, run, skip) => {
        const sorter = createSorter(folder, run);
        numbers.forEach(sorter.add);
        expect([...sorter.sorted(skip)].flatMap((window) => [...window])).toEqual(
          numbers.toSorted((a, b) => a - b).slice(skip),
        );
        sorter.close();
      },
    ),
    { numRuns: 200 },
  );
  const many = createSorter(folder, 50_000);
  for (let i = 0; i < 200_001; i++) many.add((i * 7_919) % 200_003);
  let [last, seen, ascending] = [-1, 0, true];
  for (const window of many.sorted())
    for (const number of window) {
      ascending &&= number > last;
      last = number;
      seen++;
    }
  many.close();
  expect([ascending, seen, readdirSync(folder).filter((name) => name.endsWith('.sort'))]).toEqual([
    true,
    200_001,
    [],
  ]);
});

describe('the column of the numbers', () => {
  const column = async (content: string, wanted = {}) => {
    const { layout } = await readAll(content, { wanted: { ...nothing, ...wanted } });
    return [layout.headers[layout.column], layout.has_header];
  };
  test('is the one that looks like numbers', async () => {
    expect(await column('id,tel,name\n1,3105550123,Ann\n2,2125550145,Bob\n')).toEqual([
      'tel',
      true,
    ]);
  });
  test('is the one that is named, letter case and spaces aside', async () => {
    const two = 'Home Phone,Mobile\n3105550123,2125550145\n';
    expect(await column(two, { caller_id_column_name: 'home phone ' })).toEqual([
      'Home Phone',
      true,
    ]);
    expect(await column(two)).toEqual(['Mobile', true]);
  });
  test('has a number for a name where the file has no header row, and no row is lost', async () => {
    expect(await column('3105550123,Ann\n2125550145,Bob\n')).toEqual(['column_1', false]);
    expect((await readAll('Ann;3105550123\nBob;2125550145\n')).numbers.sort()).toEqual([B, A]);
    expect((await readAll('3105550123\n')).total).toBe(1);
  });
  test('takes its name from headers, and then a first row that is not those names holds a number', async () => {
    const wanted = { headers: ['tel', 'who'], caller_id_column_name: 'tel' };
    expect(await column('3105550123,Ann\n', wanted)).toEqual(['tel', false]);
    expect(await column('TEL,Who\n3105550123,Ann\n', wanted)).toEqual(['tel', true]);
  });
  test('a header and no rows is a file of nothing', async () => {
    expect((await readAll('phone,name\n')).total).toBe(0);
    expect(
      (await readAll('phone,name\n', { wanted: { ...nothing, caller_id_column_name: 'phone' } }))
        .total,
    ).toBe(0);
  });

  test.each<[string, string, { caller_id_column_name?: string }, RegExp]>([
    [
      'that is not there',
      'a,b\n3105550123,x\n',
      { caller_id_column_name: 'phone' },
      /No column is called phone\. The columns are a, b\./,
    ],
    [
      'that is there twice',
      'phone,phone\n3105550123,2125550145\n',
      { caller_id_column_name: 'phone' },
      /2 columns are called phone/,
    ],
    [
      'of which there are several',
      'a,b\n3105550123,2125550145\n',
      {},
      /Several columns look like telephone numbers: a, b\. Name the right one/,
    ],
    [
      'of which there is none',
      'a,b\nx,y\n',
      {},
      /None of the columns looks like telephone numbers: a, b\. Name the right one/,
    ],
  ])('%s fails the file, and its columns are told', async (_, content, wanted, message) => {
    const failure = await inspect(source(content), { ...nothing, ...wanted }).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message).toMatch(message);
    expect((failure as { headers: string[] }).headers).toHaveLength(2);
  });
});

describe('what is no file of numbers is refused in plain words, in little memory', () => {
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
    // On the thread, whose memory is limited: a file that wanted more would end it with another message.
    const reader = openReader({ source: source(content()), wanted: nothing, owner: [] });
    await expect(reader.summary()).rejects.toThrow(message);
    await reader.close();
  });
});
