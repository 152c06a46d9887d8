import { contract } from '../../../src/platform/contract/contract';
import { readAll } from '../../support/csv';
import { createFixture, type Fixture } from '../../support/example';
import { useWorld } from '../../support/use-world';

// Numbers as spreadsheets, telephones, chats and lead forms write them.

const world = useWorld();
const { api } = world;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const NUMBER = 13055550101;
const SPELLINGS = [
  '3055550101.0',
  '13055550101.00',
  '3.055550101E9',
  '="3055550101"',
  '=3055550101',
  "'3055550101",
  '"3055550101"',
  'tel:+13055550101',
  'tel:+1-305-555-0101;ext=12',
  'p:+13055550101',
  'whatsapp:+13055550101',
  '\u200e+13055550101',
  '\u202a+1 (305) 555-0101\u202c',
  '\u2066305-555-0101\u2069',
  '305\u2009555\u202f0101',
  '\u00a0305\u00a0555\u00a00101\u00a0',
  '\ufeff3055550101',
  '305\u2011555\u20110101',
];
/** The ends of other numbers, which must not be made of these. */
const OTHERS = ['305555010.0', '130555501.00', '3.06E+09', '1.3E10'];

test.each(SPELLINGS)('%j is the number in a file', async (text) => {
  const cell = `"${text.replaceAll('"', '""')}"`;
  const { numbers, rejected } = await readAll(`phone,name\n${cell},Ann\n`);
  expect([numbers, rejected]).toEqual([[NUMBER], []]);
});

test.each(OTHERS)('%j is no number in a file', async (text) => {
  const { numbers, rejected } = await readAll(`phone,name\n3055550109,Bob\n${text},Ann\n`);
  expect([numbers, rejected.length]).toEqual([[13055550109], 1]);
});

test('a file of a spreadsheet needs no quotes around a formula', async () => {
  const { numbers } = await readAll('phone,name\n="3055550101",Ann\n="3055550102",Bob\n');
  expect(numbers).toEqual([NUMBER, NUMBER + 1]);
});

test.each(['contacts', 'buyer_suppressions'])('%s take every spelling', async (list) => {
  const path = list === 'contacts' ? list : `${list}/${fixture.ids.buyer_suppressions}`;
  const { body } = await api('post', `${path}/caller_block`, { body: { caller_ids: SPELLINGS } });
  expect([body.accepted, body.added, body.rejected]).toEqual([SPELLINGS.length, 1, []]);
});

test('every filter takes every spelling', async () => {
  const filters = contract.operations.flatMap((operation) =>
    operation.method === 'get' && operation.credentials === 'account'
      ? operation.parameters.flatMap(({ name, schema }) =>
          contract.resolve(schema)['x-format'] === 'telephone' ? [[operation, name] as const] : [],
        )
      : [],
  );
  expect(filters.length).toBeGreaterThan(4);
  for (const [operation, name] of filters)
    for (const text of SPELLINGS) {
      const res = await api('get', fixture.path(operation), { query: { [name]: text } });
      expect([operation.id, text, res.status]).toEqual([operation.id, text, 200]);
    }
});

test.each(SPELLINGS)('%j is the number of leads and calls', async (text) => {
  const offer = { offer_id: fixture.ids.offers };
  const lead = await api('post', 'leads/capture', { body: { ...offer, caller_id: text } });
  expect([lead.status, lead.body.lead?.caller_id]).toEqual([expect.any(Number), '+13055550101']);
  const call = await api('post', 'call_sessions', { body: { ...offer, caller_number: text } });
  expect([call.status, call.body.call_session?.caller_number]).toEqual([201, '+13055550101']);
});
