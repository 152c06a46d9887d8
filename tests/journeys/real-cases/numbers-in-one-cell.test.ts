import fc from 'fast-check';
import { numberReader } from '../../../src/data/phone/parse-number';
import { findDestinationFault } from '../../../src/domain/people/destinations';
import { contract } from '../../../src/platform/contract/contract';
import { readAll, NO_HINTS } from '../../support/csv';
import { createFixture, type Fixture } from '../../support/example';
import { buildSuppressionRequests, finished, loadNumbers } from '../../support/imports';
import { useWorld } from '../../support/use-world';

// No number is lost without a word: of a text with two, both are taken, or it is rejected by name.

const world = useWorld({ jobs: true });
const { api, create, upload } = buildSuppressionRequests(() => world);
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const [A, B] = ['3125550171', '3125550172'];
const BOTH = [`+1${A}`, `+1${B}`];
const SEPARATORS = [';', ',', '/', '|', '\n', '\r\n', '\t', ',,', '; ', ' / ', ', '];
/** After these, the second number is no extension. */
const MARKS = [';ext=', ' ext ', ' ext. ', 'x', '#', '~', ' extension '];

const listedNumber = fc.integer({ min: 0, max: 99 }).map((n) => 3125550100 + n);
const written = fc
  .tuple(
    listedNumber,
    fc.constantFrom<(digits: string) => string>(
      (digits) => digits,
      (digits) => `+1${digits}`,
      (digits) => `(${digits.slice(0, 3)}) ${digits.slice(3, 6)}-${digits.slice(6)}`,
      (digits) => `${digits} ext 12`,
    ),
  )
  .map(([number, spell]) => ({ number: 10_000_000_000 + number, text: spell(String(number)) }));
const separated = fc
  .array(fc.tuple(written, fc.constantFrom(...SEPARATORS, ...MARKS)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => ({
    numbers: parts.map(([{ number }]) => number),
    text: parts.map(([{ text }, separator], n) => (n ? separator : '') + text).join(''),
  }));

test('each number of a text is read, or the whole text is rejected', () => {
  const read = numberReader('US');
  fc.assert(
    fc.property(separated, ({ numbers, text }) => {
      const held = [read.several(text) ?? []].flat();
      expect([[], [...new Set(numbers)]]).toContainEqual(held);
      const alone = read(text);
      if (alone !== undefined) expect(new Set(numbers)).toEqual(new Set([alone]));
    }),
    { numRuns: 2_000 * Number(process.env.FUZZ_TIMES ?? 1) },
  );
});

test.each([...',;\t|'])('each number of a file with %j is added or rejected', async (delimiter) => {
  const cell = fc.tuple(separated, fc.boolean()).map(([{ numbers, text }, isQuoted]) => ({
    numbers,
    text: isQuoted || /[\r\n]/.test(text) ? `"${text}"` : text,
  }));
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 8 }), async (cells) => {
      const rows = cells.map(({ text }) => `x${delimiter}${text}`);
      const file = `id${delimiter}phone\n${rows.join('\n')}\n`;
      const hints = { ...NO_HINTS, caller_id_column_name: 'phone' };
      const result = await readAll(file, { hints, size: 100 });
      const taken = new Set(result.numbers);
      const lost = cells.filter(
        ({ numbers, text }) =>
          !numbers.every((number) => taken.has(number)) &&
          !result.rejected.some(
            ({ caller_id: named }) =>
              named.trim() && text.replaceAll('\r\n', '\n').includes(named.trim()),
          ),
      );
      expect([lost, result.total]).toEqual([
        [],
        result.rowCounts.reduce((sum, count) => sum + count, 0) + result.rejected.length,
      ]);
    }),
    { numRuns: 100 * Number(process.env.FUZZ_TIMES ?? 1) },
  );
});

describe.each(['buyer_suppressions', 'contacts'])('caller_ids of %s', (list) => {
  const send = async (callerIds: string[]) => {
    const path =
      list === 'contacts'
        ? 'contacts/caller_block'
        : `buyer_suppressions/${(await create()).id}/caller_block`;
    return (await api('post', path, { body: { caller_ids: callerIds } })).body;
  };
  test('hold several numbers each', async () => {
    for (const separator of SEPARATORS) {
      const body = await send([A + separator + B]);
      expect([separator, body.accepted, body.rejected]).toEqual([separator, 2, []]);
    }
  });
  test('are rejected by name if not all of it is numbers', async () => {
    for (const text of [...MARKS.map((mark) => A + mark + B), `${A};${B}99999`, `${A},5550172`])
      expect(await send([text])).toMatchObject({
        accepted: 0,
        rejected: [{ caller_id: text, reason: expect.any(String) }],
      });
  });
});

test('a file counts each number of a cell, and goes on from there', async () => {
  const file = `phone,name\n"${A};${B}",Ann\n3125550173,Bob\n"${A}x${B}",Cy\n`;
  const res = await upload('buyer_suppressions', file, { name: 'Two' });
  const { id } = res.body.buyer_suppression;
  expect(await finished(api, `buyer_suppressions/${id}`)).toMatchObject({
    status: 'succeeded',
    import_count: 3,
    total_count: 4,
    import_percent: 100,
    blocked: 3,
  });
  expect(await loadNumbers(api, id)).toEqual([...BOTH, '+13125550173']);
});

test('none of several numbers in a SIP address may be one that costs extra', () => {
  const policy = {
    country: 'US',
    contact_countries: null,
    contact_prefixes: [],
    sip_hosts: ['sip.example.com'],
  };
  const findFault = (user: string) =>
    findDestinationFault(`sip:${user}@sip.example.com`, policy as never);
  expect(findFault(`${A};${B}`)).toBeUndefined();
  for (const user of [`19005550101;${A}`, `${A},19005550101`, `19005550101,${A}1234567`])
    expect([user, findFault(user)]).toEqual([user, 'is of a satellite, or at a premium rate']);
});

describe('a door for one number refuses two by name', () => {
  const filters = contract.operations.flatMap((operation) =>
    operation.method === 'get' && operation.credentials === 'account'
      ? operation.parameters.flatMap(({ name, schema }) =>
          contract.resolve(schema)['x-format'] === 'telephone' ? [[operation, name] as const] : [],
        )
      : [],
  );
  test('in every filter', async () => {
    expect(filters.length).toBeGreaterThan(4);
    for (const [operation, name] of filters) {
      const refusals = await Promise.all(
        [`${A};${B}`, `${A}/${B}`, `${A};ext=${B}`].map((text) =>
          api('get', fixture.path(operation), { query: { [name]: text } }),
        ),
      );
      for (const { status, body } of refusals)
        expect([operation.id, status, Object.keys(body.errors)]).toEqual([
          operation.id,
          422,
          [name],
        ]);
    }
  });
  test('in leads, texts and calls', async () => {
    const offer = { offer_id: fixture.ids.offers };
    const doors: [string, string, object][] = [
      ['leads/capture', 'caller_id', offer],
      ['call_sessions', 'caller_number', offer],
      ['routing/explain', 'caller_number', offer],
      ['text_messages/receive', 'from', { to: '+12125550100', body: 'STOP' }],
      ['calls', 'to', offer],
    ];
    for (const [path, field, fields] of doors) {
      const { status, body } = await api('post', path, {
        body: { ...fields, [field]: `${A};${B}` },
      });
      expect([path, status, body.errors]).toEqual([
        path,
        422,
        { [field]: [expect.stringContaining('more than one number')] },
      ]);
    }
  });
});
