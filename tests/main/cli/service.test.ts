import type { AddressInfo } from 'node:net';
import { runCommand, type Printed } from '../../support/cli';
import { openBrowser, PASSWORD } from '../../support/console-session';
import { buildEnvironment } from '../../support/job-process';
import { serverFor } from '../../support/worker/servers';
import { createWorld, type World } from '../../support/world';

// Commands that ask the running service, and those about credentials, users and jobs.

let world: World;
let environment: Record<string, string>;
beforeAll(async () => {
  world = await createWorld();
  environment = {
    ...buildEnvironment(world),
    PORT: String((serverFor(world.app).address() as AddressInfo).port),
  };
});
afterAll(() => world.close());

const run = (...args: string[]): Promise<Printed> => runCommand(args, environment);

/** Runs a command and returns what it prints as JSON. */
async function result(...args: string[]) {
  const { code, output, errors } = await run(...args, '--json');
  expect({ code, errors }).toMatchObject({ code: 0 });
  return JSON.parse(output);
}

const create = async (root: string, path: string, body: object) =>
  (await world.company.api('post', `/api/v1/${path}`, { body })).body[root];

test('explain says who would get a call, and why the others would not', async () => {
  const open = await create('buyer', 'buyers', { name: 'Open', number: '+12135550111' });
  const paused = await create('buyer', 'buyers', {
    name: 'Closed',
    number: '+12135550112',
    paused: true,
  });
  const offer = await create('offer', 'offers', {
    name: 'Offer',
    buyer_ids: [open.id, paused.id],
  });
  const decision = await result('explain', String(offer.id), '--caller', '+13105550188');
  expect(decision).toMatchObject({ action: 'dial', buyer_ids: [open.id] });
  const { output } = await run('explain', String(offer.id));
  expect(output).toMatch(/^action +dial$/m);
  expect(output).toMatch(new RegExp(`^${paused.id} +Closed .*paused`, 'm'));
});

test('an answer of the API is the message of the command', async () => {
  expect(await run('explain', '999999')).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/offer_id .*999999|offer_id is not/),
  });
});

test('caps lists what is used and left', async () => {
  const { id } = await create('buyer', 'buyers', {
    name: 'Capped',
    number: '+12135550113',
    attempt_daily_limit: 7,
  });
  const row = { owner: `Buyer ${id}`, name: 'Capped', cap: 'attempt_daily' };
  expect(await result('caps')).toEqual([{ ...row, used: 0, limit: 7, left: 7 }]);
  expect(await result('caps', '--full')).toEqual([]);
  expect((await run('caps', '--full')).output).toBe('none\n');
});

test('the keys that commands make for themselves are revoked', async () => {
  const keys = (await result('key', 'list')) as { name: string }[];
  expect(keys.map(({ name }) => name)).toEqual(['First key pair']);
});

test('a rotated key may do the same; the old one expires, and never later than before', async () => {
  const createdKey = await result(
    'key',
    'create',
    '--name',
    'Pages',
    '--permission',
    'leads:create',
  );
  const rotated = await result('key', 'rotate', createdKey.public_key, '--keep-hours', '2');
  expect(rotated.replaces).toBe(createdKey.public_key);
  const rows = await world.sql<{ expires_in: number | null }>(
    `SELECT permissions, extract(epoch FROM expires_at - now()) / 3600 AS expires_in
    FROM access_tokens WHERE name = 'Pages' ORDER BY id`,
  );
  expect(rows).toMatchObject([
    { permissions: ['leads:create'] },
    { permissions: ['leads:create'], expires_in: null },
  ]);
  expect(Math.ceil(Number(rows[0]!.expires_in))).toBe(2);

  const atOnce = await result('key', 'rotate', rotated.public_key, '--keep-hours', '0');
  const ask = ({ public_key, private_key }: { public_key: string; private_key: string }) =>
    world.company.api('get', '/api/v1/me', { auth: `${public_key}:${private_key}` });
  expect((await ask(atOnce)).status).toBe(200);
  expect((await ask(rotated)).status).toBe(401);
  expect(await run('key', 'rotate', rotated.public_key)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('is revoked, has expired, or is a session'),
  });
  const until = '2099-01-01T00:00:00.000Z';
  const limited = await result('key', 'create', '--name', 'Until', '--expires-at', until);
  await result('key', 'rotate', limited.public_key);
  const [, newest] = await world.sql<{ expires_at: Date }>(
    `SELECT expires_at FROM access_tokens WHERE name = 'Until' ORDER BY id`,
  );
  expect(newest!.expires_at.toISOString()).toBe(until);
});

test('a person is invited into any team, and without mail the link is printed', async () => {
  const team = await create('access_control_list', 'access_control_lists', {
    name: 'Bosses',
    superuser: true,
  });
  const { link } = await result('user', 'invite', 'boss@example.com', '--team', String(team.id));
  const [, token] = /^http:.*\/console\/#\/invitation\?token=(inv-\S+)$/.exec(link)!;
  const accepted = await openBrowser(world).send('post', '/console/invitation', {
    body: { token, password: PASSWORD },
  });
  expect([accepted.status, accepted.body.session.user.email]).toEqual([201, 'boss@example.com']);
  await world.sql(`DELETE FROM jobs.job WHERE name = 'send_invitation'`);
});

test('a person becomes an owner by a link that is printed', async () => {
  const { company_id, owner_link } = await result('owner', 'link');
  expect(company_id).toBe(Number(world.company.id));
  const [, token] = /^http:.*\/console\/#\/owner\?token=(own-\S+)$/.exec(owner_link)!;
  const body = { token, email: 'owner@example.com', password: PASSWORD };
  const browser = openBrowser(world);
  expect((await browser.send('post', '/console/owner', { body })).status).toBe(201);
  expect((await browser.send('get', 'me')).body.me.superuser).toBe(true);
});

test('a session is rotated into no key', async () => {
  const [session] = await world.sql<{ public_key: string }>(
    `SELECT public_key FROM access_tokens WHERE kind = 'session' LIMIT 1`,
  );
  expect((await run('key', 'rotate', session!.public_key)).code).toBe(1);
});

test('a user who is invited gets a mail, which is a job that jobs shows', async () => {
  const team = await create('access_control_list', 'access_control_lists', { name: 'Desk' });
  const invited = await result('user', 'invite', 'ann@example.com', '--team', String(team.id));
  expect(invited).toMatchObject({ email: 'ann@example.com', invited: true });
  const waiting = { kind: 'send_invitation', waiting: 1, running: 0, to_retry: 0, most_tries: 0 };
  expect(await result('jobs')).toMatchObject([waiting]);
  expect(await result('jobs', '--company', '999999')).toEqual([]);
  expect((await run('jobs')).output).toMatch(/^kind +waiting +running .*\nsend_invitation +1 +0 /);
});

test('a service that is not running is named', async () => {
  const url = 'http://127.0.0.1:2';
  const { code, errors } = await run('caps', '--url', url, '--key', world.company.auth);
  expect([code, errors]).toEqual([1, `No service answers at ${url}. Start it with: npm start\n`]);
});
