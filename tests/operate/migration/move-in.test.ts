import { mkdtempSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { runCommand } from '../../support/cli';
import { loadComparable, buildEnvironment, fillAccount, MOVED, serve } from '../../support/move-in';
import type { World } from '../../support/world';
import { useWorld } from '../../support/use-world';

// `migrate --from`: from one installation to another.

const [from, to] = [useWorld(), useWorld()];
let server: Server;
let url: string;
let key: string;
let make: Awaited<ReturnType<typeof fillAccount>>;
const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'migration-'));
const report = join(folder, 'report.csv');

/** Answers before the service does: a server that is busy, and connections that are cut. */
let disturbances: ('busy' | 'cut')[] = [];

beforeAll(async () => {
  ({ server, url } = await serve(from.app, (req, res) => {
    const disturbance = disturbances.shift();
    if (disturbance === 'cut') req.socket.destroy();
    else if (disturbance === 'busy') res.writeHead(429, { 'Retry-After': '0' }).end();
    return disturbance !== undefined;
  }));
  key = await from.credentials(from.company, [], { superuser: true });
  make = await fillAccount(from, key);
  from.closeLater(() => server.close());
});

const run = (...more: string[]) =>
  runCommand(
    ['migrate', '--from', url, '--key', key, '--rate', '1000', '--report', report, '--json'].concat(
      more,
    ),
    buildEnvironment(to),
  );
const parseResources = (output: string) =>
  (JSON.parse(output) as { resources: Record<string, object> }).resources;
/** The lines of the report about records. */
const lines = () =>
  readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .filter((line) => !/^\w+,,,/.test(line));
const shown = async (path: string) =>
  Object.values((await to.company.api('get', path)).body as object).find((part) => part?.uuid);

test('a dry run says what would happen, and writes nothing', async () => {
  const { output, errors } = await run('--dry-run');
  expect({ errors, counts: parseResources(output) }).toMatchObject({
    counts: { buyers: { read: 1, moved: 1 }, leads: { read: 3, moved: 3 }, calls: { moved: 2 } },
  });
  for (const resource of MOVED)
    expect([resource, await loadComparable(to, resource)]).toEqual([resource, []]);
});

test('every record is found under its old id, equal to what it was, also over a bad line', async () => {
  disturbances = ['cut', 'busy'];
  const { code, errors } = await run();
  expect({ code, errors, lines: lines() }).toMatchObject({ code: 0, lines: [] });
  for (const resource of MOVED) {
    const there = await loadComparable(from, resource);
    expect([resource, there.length > 0]).toEqual([resource, true]);
    expect([resource, await loadComparable(to, resource)]).toEqual([resource, there]);
  }
  const numbers = await to.company.api('get', 'buyer_suppressions/70/caller_ids');
  expect(numbers.body.caller_ids).toEqual(['+12125550101', '+12125550102']);
  const values = await to.company.api('get', 'value_lists/20/values');
  expect(JSON.stringify(values.body.values)).toMatch(/ca.*nv/);
});

test('totals, filters and reports count what was moved', async () => {
  const total = async (world: World, path: string) =>
    (await world.company.api('get', path)).body.metadata.total_count as number;
  for (const path of [
    ...MOVED.filter((resource) => resource !== 'agent_statuses'),
    'leads?has_next_action=true',
    'contacts?opt_out=true',
    'contacts?blocked=true',
    'calls?buyer_converted=true',
    'traffic_sources',
  ])
    expect([path, await total(to, path)]).toEqual([path, await total(from, path)]);
  const of = async (world: World) =>
    (
      await world.company.api(
        'get',
        'calls/reports?category=buyer&created_at_from=2026-05-01T00:00:00Z',
      )
    ).body;
  expect(await of(to)).toEqual(await of(from));
});

test('nobody is contacted, invited or sent webhooks; each lead goes on where it stood', async () => {
  expect(await shown('users/40')).toMatchObject({ team_ids: [45], invited_at: null });
  expect(await shown('schedules/95')).toMatchObject({ paused: true });
  expect(await shown('outgoing_webhooks/37')).toMatchObject({ paused: true });
  for (const table of ['text_messages', 'emails', 'webhook_deliveries', 'webhook_events'])
    expect([table, await to.sql(`SELECT FROM ${table}`)]).toEqual([table, []]);
  const { body } = await to.company.api('get', 'leads?has_next_action=true');
  const [lead] = body.leads as { id: number }[];
  const { timeline } = (await to.company.api('get', `leads/${lead!.id}/timeline`)).body;
  expect(timeline.past).toMatchObject([
    { event: 'created', message: 'moved from another service' },
  ]);
  expect(timeline.future[0]).toMatchObject({ schedule_action_id: 201, blocked_by: 'paused' });
});

test('a caller whom a buyer has paid for is a repeat caller here too', async () => {
  const conversions = await to.sql(
    `SELECT call_id::int, buyer_id::int, caller_number::text, revenue::float8 FROM conversions`,
  );
  expect(conversions).toEqual([
    { call_id: 8001, buyer_id: 900, caller_number: '13105550202', revenue: 12.5 },
  ]);
});

test('later records get ids beyond the moved ones', async () => {
  const { body } = await to.company.api('post', 'leads/capture', {
    body: { caller_id: '+13105550299', offer_id: 90 },
  });
  expect(body.id).toBeGreaterThan(100_000);
});

test('a second run leaves what is here as it is, and adds what is new', async () => {
  await to.company.api('put', 'buyers/900', { body: { name: 'Renamed here' } });
  const newer = await make('leads/capture', { caller_id: '+13105550206', offer_id: 90 });
  const { code, output } = await run();
  expect({ code, lines: lines() }).toEqual({ code: 0, lines: [] });
  expect(parseResources(output)).toMatchObject({
    buyers: { read: 1, moved: 0, here: 1 },
    leads: { read: 4, moved: 1, here: 3 },
    calls: { read: 2, moved: 0, here: 2 },
  });
  expect(await shown('buyers/900')).toMatchObject({ name: 'Renamed here' });
  expect(await shown(`leads/${newer}`)).toMatchObject({ caller_id: '+13105550206' });
});

test('an opt-out at the other service since then is one here', async () => {
  await from.company.api('post', 'contacts/caller_block', {
    body: { caller_ids: ['+13105550206'] },
  });
  expect((await run()).code).toBe(0);
  const { body } = await to.company.api('get', 'contacts?caller_id=%2B13105550206');
  expect(body.contacts).toMatchObject([{ blocked: true }]);
});

test('only leads and calls since a day are moved where that is asked for', async () => {
  await make('leads/capture', { caller_id: '+13105550207', offer_id: 90 });
  const { output } = await run('--since', '2100-01-01');
  expect(parseResources(output)).toMatchObject({ leads: { read: 0 }, calls: { read: 0 } });
});

test('a record in the way is named, and stays', async () => {
  const auth = await to.credentials(to.company, [], { superuser: true });
  await to.company.api('post', 'offers', { body: { name: 'Ours', legacy_id: 91 }, auth });
  await make('offers', { name: 'Theirs', legacy_id: 91 });
  expect((await run()).code).toBe(1);
  expect(lines()).toEqual(['offers,91,id,"not moved: another record is in the way, Ours"']);
  expect(await shown('offers/91')).toMatchObject({ name: 'Ours' });
});

test('an opt-out comes also where another contact has its id', async () => {
  const blocked = { body: { caller_ids: ['+13105550208'] } };
  await from.company.api('post', 'contacts/caller_block', blocked);
  const { body } = await from.company.api('get', 'contacts?caller_id=%2B13105550208');
  await to.sql(
    `INSERT INTO contacts (company_id, id, uuid, caller_number) VALUES ($1, $2, gen_random_uuid(), 1)`,
    [to.company.id, body.contacts[0].id],
  );
  expect((await run()).code).toBe(1);
  expect(lines()).toContainEqual(
    expect.stringMatching(/^contacts,\d+,,not moved: another record has its id or its uuid$/),
  );
  const here = await to.company.api('get', 'contacts?caller_id=%2B13105550208');
  expect(here.body.contacts).toMatchObject([{ blocked: true }]);
});

test('credentials and numbers that are wrong are refused before anything is done', async () => {
  const wrong = await run('--key', 'pk_no:private_no');
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('answers 401')]);
  const neither = await runCommand(['migrate', '--from', url], buildEnvironment(to));
  expect(neither.errors).toContain('--key PUBLIC:PRIVATE or --token');
});
