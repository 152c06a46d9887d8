import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'papaparse';
import { runCommand } from '../../support/cli';
import { buildEnvironment } from '../../support/move-in';
import { otherService } from '../../support/other-service';
import { useWorld } from '../../support/use-world';

// `migrate --from` another service that speaks the API: what is here afterwards, and what the
// report says of the rest.

const world = useWorld();
const { api } = world;
let service: Awaited<ReturnType<typeof otherService>>;
const report = join(
  mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'migration-')),
  'report.csv',
);

beforeAll(async () => {
  service = await otherService();
  world.closeLater(() => service.server.close());
});

const run = () =>
  runCommand(
    ['migrate', '--from', `${service.url}/`, '--key', 'pub:priv', '--rate', '1000'].concat(
      ...['--report', report, '--json'],
    ),
    buildEnvironment(world),
  );
const rows = () =>
  parse<Record<string, string>>(readFileSync(report, 'utf8').trim(), { header: true }).data;
const findReported = (resource: string, oldId = '') =>
  rows()
    .filter((row) => row.resource === resource && row.old_id === oldId)
    .map(({ field, done }) => `${field}: ${done}`);
const show = async (path: string) => {
  const { status, body } = await api('get', path);
  return status === 200 ? Object.values(body as object).find((part) => part?.uuid) : undefined;
};

test('everything that it offers comes over its pages, 429s and cut connections', async () => {
  const { code, output } = await run();
  expect(code).toBe(1);
  const { resources, not_offered } = JSON.parse(output);
  expect(not_offered).toEqual(
    expect.arrayContaining(['phone_numbers', 'value_lists', 'contacts', 'calls']),
  );
  expect(resources).toMatchObject({
    buyers: { read: 60, moved: 60, refused: 0 },
    users: { read: 2, moved: 1, refused: 1 },
    leads: { read: 6, moved: 4, refused: 2 },
  });
  const { body } = await api('get', 'buyers', { query: { per_page: 1 } });
  expect(body.metadata.total_count).toBe(60);
  expect(await show('buyers/1000')).toMatchObject({
    user_buyer_id: 'b0',
    number: 'sip:sales@example.com',
    created_at: '2021-03-04T13:06:07.000+00:00',
  });
});

test('what landing pages and scripts have built in works: ids, lead tokens and user ids', async () => {
  for (const leadToken of ['old-lead-token-of-auto', 'old-lead-token-of-spring']) {
    const res = await api('post', 'leads', {
      body: { lead_token: leadToken, caller_id: '+13105550299' },
      auth: null,
    });
    expect([leadToken, res.status]).toEqual([leadToken, 201]);
  }
  expect(await show('buyers/b5/by_user_buyer_id')).toMatchObject({ id: 1_005, legacy_id: 1_005 });
});

test('fields that are unknown, and values that are refused, are left out and reported', async () => {
  expect(findReported('buyers', '1003')).toEqual([
    'shadow_score: left out: there is no such field here',
  ]);
  expect(findReported('buyers', '1001')).toEqual([
    expect.stringMatching(/^timeout_seconds: left out: .*12/),
  ]);
  expect(await show('buyers/1001')).toMatchObject({ timeout_seconds: 120 });
  expect(findReported('users', '71')).toEqual([
    expect.stringMatching(/^email: left out: /),
    'email: record not moved: must be given',
  ]);
});

test('resources that it does not offer are reported, with what else was not moved', async () => {
  for (const resource of ['phone_numbers', 'value_lists', 'contacts', 'calls', 'agents'])
    expect([resource, findReported(resource)[0]]).toEqual([
      resource,
      ': not moved: the other service answers 404',
    ]);
  expect(findReported('buyer_suppressions', '30')).toEqual([
    'caller_ids: not moved: the other service answers 404; import them as a file',
  ]);
});

test('a lead is moved as far as it can be, and the report says why it is not', async () => {
  expect(await show('leads/80')).toMatchObject({ status: 'scheduled', next_action_at: null });
  expect(findReported('leads', '80')).toEqual([expect.stringMatching(/restart_schedule$/)]);
  expect(await show('leads/81')).toMatchObject({ status: 'opt_out', opt_out: true });
  expect(await show('leads/82')).toMatchObject({ caller_id: '+13105550203', status: 'completed' });
  expect(findReported('leads', '82')).toEqual([
    'status: changed to completed: "archived" is no status of leads',
  ]);
  expect(findReported('leads', '83').at(-1)).toBe('caller_id: not moved: has no number');
  expect(findReported('leads', '84').at(-1)).toBe(
    'offer_id: not moved: neither its offer nor its schedule is here',
  );
  expect(findReported('leads', '85')).toEqual([
    expect.stringMatching(/^sub_id: changed: .* were replaced \(record 6 of http.*\/leads\?.*\)$/),
  ]);
  expect(await show('leads/85')).toMatchObject({ sub_id: 'odd\u{fffd}' });
  for (const id of [83, 84]) expect([id, await show(`leads/${id}`)]).toEqual([id, undefined]);
});

test('somebody who has opted out there is not contacted here', async () => {
  const { body } = await api('get', 'contacts?caller_id=%2B13105550202');
  expect(body.contacts).toMatchObject([{ opt_out: true }]);
});

test('run again, it moves nothing twice', async () => {
  service.disturbed = false;
  const { output } = await run();
  const { resources } = JSON.parse(output);
  for (const [resource, { moved }] of Object.entries<{ moved: number }>(resources))
    expect([resource, moved]).toEqual([resource, 0]);
});
