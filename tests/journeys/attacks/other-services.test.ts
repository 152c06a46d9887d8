import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'papaparse';
import { runCommand } from '../../support/cli';
import { buildEnvironment } from '../../support/move-in';
import {
  pageWith,
  pour,
  startOddService,
  type OddPage,
  type OddService,
} from '../../support/odd-service';
import { useWorld } from '../../support/use-world';

// The attack: a service that an account is moved from answers with what is no page of a list. The
// command looped for ever, ran out of memory, broke off in a TypeError or an error of SQL, or said
// "none" and that all was well.

const world = useWorld();
const { api } = world;
let service: OddService;
const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'odd-'));
const report = join(folder, 'report.csv');

beforeEach(async () => {
  service = await startOddService();
});
afterEach(() => service.close());

const run = () =>
  runCommand(
    ['migrate', '--from', service.url, '--key', 'pub:secret-key', '--rate', '1000'].concat(
      ...['--report', report, '--json'],
    ),
    buildEnvironment(world),
  );
const parseResources = (output: string) => JSON.parse(output).resources as Record<string, object>;
const readReport = (resource: string) =>
  parse<Record<string, string>>(readFileSync(report, 'utf8').trim(), { header: true })
    .data.filter((row) => row.resource === resource)
    .map(({ old_id, field, done }) => `${old_id} ${field}: ${done}`);

const offer = { id: 900, name: 'Odd' };
const lead = (id: unknown, more: object = {}) => ({
  id,
  caller_id: `+1310555${String(1000 + Number(id)).slice(-4)}`,
  offer_id: 900,
  status: 'completed',
  ...more,
});
/** The list of leads, with the offer that they name. */
const leads = (page: (position: string) => OddPage) => {
  service.lists = { offers: () => pageWith('offers', [offer]), leads: page };
};

test.each<[string, OddPage, string]>([
  ['null', pageWith('buyers', [null]), 'has null as record 1 of 1, not an object'],
  ['a list of lists', pageWith('buyers', [{ id: 1 }, []]), 'has a list as record 2 of 2'],
  ['its own address', pageWith('buyers', [], { next_cursor: -1 }), 'is followed by cursor=-1'],
  ['no list', { json: { success: true } }, 'answers without the list buyers'],
  [
    '450 MB',
    (res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      pour(res, Buffer.alloc(1_000_000, '['), 450);
    },
    'has more than 16 MB',
  ],
])('setup of %s ends the command, and names the page', async (_, page, fault) => {
  service.lists.buyers = () => page;
  const { code, errors, output } = await run();
  expect([code, output]).toEqual([1, '']);
  expect(errors).toContain(`${service.url}/buyers?per_page=100&cursor=-1 ${fault}`);
  expect(errors).toMatch(/What was moved stays; run the command again, .* from here\.\n$/);
  expect(errors).not.toContain('secret-key');
  expect(service.bytesWritten()).toBeLessThan(100_000_000);
  // The credentials that the command made for itself do not outlive it.
  const credentials = `SELECT FROM access_tokens WHERE name = 'Migration' AND deleted_at IS NULL`;
  expect(await world.sql(credentials)).toEqual([]);
});

test('a service that has none of the lists is no account that was moved', async () => {
  service.hasOthers = false;
  const { code, errors } = await run();
  expect(code).toBe(1);
  expect(errors).toContain(`${service.url} has none of the lists of an account: it answers 404 to`);
  expect(errors).toMatch(
    /phone_numbers, value_lists, .*, contacts, leads, calls\. Give the address/,
  );
});

test('after a page that ended it, a later run goes on where it was', async () => {
  let isMended = false;
  leads((position) => {
    if (position === 'cursor=-1') return pageWith('leads', [lead(1)], { next_cursor: 'abc' });
    return isMended ? pageWith('leads', [lead(2)]) : pageWith('leads', [lead(2), null]);
  });
  const first = await run();
  expect([first.code, first.errors]).toEqual([
    1,
    expect.stringMatching(
      /\/leads\?per_page=100&serializer=lead_grid&cursor=abc has null as record 2 of 2/,
    ),
  ]);
  expect(await world.sql('SELECT id::int FROM leads ORDER BY id')).toEqual([{ id: 1 }]);
  isMended = true;
  service.requestedPaths.length = 0;
  const second = await run();
  expect([second.code, parseResources(second.output).leads]).toEqual([
    0,
    { read: 1, moved: 1, here: 0, refused: 0 },
  ]);
  expect(service.requestedPaths.filter((path) => /^leads.*cursor=-1/.test(path))).toEqual([]);
  expect(await world.sql('SELECT id::int FROM leads ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
});

const DEEP = '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000);

test('values that cannot be are left out of a record, and the report says which', async () => {
  const records = [
    lead(11, { uuid: 'no uuid', created_at: '+275760-09-12 00:00:00 Z', revenue: 1e300 }),
    lead(12, { created_at: '1000-01-01 00:00:00 +0000', attempted_call_id: -5 }),
    lead(13, {
      sub_id: 'x'.repeat(5_000),
      email: '\ud800@example.com',
      max_contact_attempts: -1,
    }),
    lead(14, { hours_to_expire: 1e12, lead_priority: 'NaN', payout: [5], remote_ip: {} }),
    lead(15, { data: 'DEEP' }),
    lead(16, { data: { a: '\0', 'b\0': [null] } }),
    lead(17, { data: { text: 'x'.repeat(200_000) } }),
    lead(18, {
      buyer_id: [1],
      ...Object.fromEntries(Array(2_000).fill(0).entries()),
      constructor: 1,
    }),
  ];
  const body = JSON.stringify({ leads: records, metadata: { next_cursor: 0 } });
  leads(
    () => (res) =>
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(body.replace('"DEEP"', DEEP)),
  );
  const { code, output, errors } = await run();
  expect({ code, errors }).toMatchObject({ code: 1 });
  expect(parseResources(output).leads).toEqual({ read: 8, moved: 8, here: 0, refused: 0 });
  expect(
    readReport('leads').filter((line) => !/^(1[1-8]) \w+: (left out|changed): /.test(line)),
  ).toEqual([
    expect.stringMatching(/^18 : left out: all but the columns of this API, since it has 200/),
  ]);
  const listFields = (id: number) =>
    readReport('leads').flatMap((line) =>
      line.startsWith(`${id} `) ? [/ (\w*):/.exec(line)![1]] : [],
    );
  expect([11, 12, 13, 14, 15, 16, 17, 18].map((id) => listFields(id).sort())).toEqual([
    ['created_at', 'revenue', 'uuid'],
    ['attempted_call_id'],
    ['email', 'max_contact_attempts', 'sub_id'],
    ['hours_to_expire', 'lead_priority', 'payout', 'remote_ip'],
    ['data'],
    ['data'],
    ['data'],
    ['', 'buyer_id'],
  ]);
  expect(await world.sql('SELECT data FROM leads WHERE id = 16')).toEqual([
    { data: { a: '\u{fffd}', 'b\u{fffd}': [null] } },
  ]);
});

test('records whose id no record can have are refused, with their page', async () => {
  const ids = [undefined, null, 0, -1, 1.5, 1e300, 2 ** 53, '7e1', ' 72', [73], true, {}, '\0'];
  leads(() => pageWith('leads', [...ids.map((id) => lead(id)), lead(74), lead(74), lead('75')]));
  const { output } = await run();
  expect(parseResources(output).leads).toMatchObject({ read: 16, moved: 2, refused: 14 });
  expect(readReport('leads')).toHaveLength(14);
  const page = `${service.url}/leads?per_page=100&serializer=lead_grid&cursor=-1`;
  expect(readReport('leads').slice(5, 8)).toEqual([
    `? id: not moved: 1e+300 is not an id from 1 to 1000000000000 (record 6 of ${page})`,
    `? id: not moved: 9007199254740992 is not an id from 1 to 1000000000000 (record 7 of ${page})`,
    `? id: not moved: "7e1" is not an id from 1 to 1000000000000 (record 8 of ${page})`,
  ]);
  expect(readReport('leads').at(-1)).toMatch(
    /^74 id: not moved: another record of the page has its id/,
  );
  // Later ids are exact numbers.
  const { body } = await api('post', 'leads/capture', {
    body: { caller_id: '+13105550299', offer_id: 900 },
  });
  expect(body.id).toBeLessThan(2e12);
});

test('numbers and members of lists that cannot be do not keep others away', async () => {
  service.lists = {
    phone_numbers: () =>
      pageWith('phone_numbers', [
        { id: 1, phone_number: {} },
        { id: 2, phone_number: '+12125550102', uuid: 'x', created_at: 'never', country: 'Mars' },
        { id: 'x', phone_number: '+12125550103' },
      ]),
    buyer_suppressions: () => pageWith('buyer_suppressions', [{ id: 30, name: 'No calls' }]),
    'buyer_suppressions/30/caller_ids': () =>
      pageWith('caller_ids', ['+12125550101', 'nobody\0', 12125550102, 'x'.repeat(101)]),
  };
  const { output } = await run();
  expect(parseResources(output).phone_numbers).toMatchObject({ read: 3, moved: 1, refused: 2 });
  expect(readReport('phone_numbers').map((line) => line.replace(/:.*/, ''))).toEqual([
    '? id',
    '1 phone_number',
    '2 uuid',
    '2 created_at',
    '2 country',
    ' ',
  ]);
  const { body } = await api('get', 'buyer_suppressions/30/caller_ids');
  expect(body.caller_ids).toEqual(['+12125550101', '+12125550102']);
  expect(readReport('buyer_suppressions')).toHaveLength(2);
});

test('a list that ends before its total is no success', async () => {
  service.lists.buyers = () => pageWith('buyers', [{ id: 5, name: 'B' }], { total_count: 5_000 });
  expect((await run()).code).toBe(1);
  expect(readReport('buyers')).toContainEqual(
    expect.stringMatching(/^\? : not moved: the list has ended after 1 of 5000 records; run/),
  );
  expect(existsSync(report)).toBe(true);
});
