import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '../../support/cli';
import { startMailServer } from '../../support/mail-server';
import { useWorld } from '../../support/use-world';
import { PEPPER_OF_TESTS } from '../../support/world';

// The doctor's list before going live: each line is a fault until what it names is there, and says
// what to do.

const world = useWorld();
const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'live-'));
const environment = (more: Record<string, string> = {}) => ({
  ...{ DATABASE_URL: world.url, DATA_DIR: folder, KEY_PEPPER: PEPPER_OF_TESTS, ...more },
});

interface Line {
  check: string;
  ok: boolean;
  finding: string;
  remedy?: string;
}

/** The lines of the list by their names. */
async function examine(more: Record<string, string> = {}): Promise<Record<string, Line>> {
  const { output } = await runCommand(['doctor', '--live', '--json'], environment(more));
  const lines = (JSON.parse(output) as Line[]).filter(({ check }) => check.startsWith('live: '));
  return Object.fromEntries(lines.map((line) => [line.check.slice('live: '.length), line]));
}

test('a new installation lacks nearly all, and each line says what to do', async () => {
  const { node, ...lines } = await examine();
  expect(Object.keys(lines)).toEqual([
    ...['address', 'mail', 'monitoring', 'telephony', 'backup', 'owner', 'demo'],
  ]);
  const { demo, ...missing } = lines;
  expect(demo).toMatchObject({ ok: true });
  for (const { ok, remedy } of Object.values(missing))
    expect([ok, remedy]).toEqual([false, expect.stringMatching(/^(Set|Run|Check|Back up)/)]);
  expect(lines.owner!.finding).toContain('Test Company');
  // Without the option there is no such list: a trial is healthy.
  const { output } = await runCommand(['doctor', '--json'], environment());
  expect(output).not.toContain('live: ');
  expect(node!.ok).toBe(Number(process.versions.node.split('.')[0]) >= 22);
});

test('a backup, and one of another tool, count for two days', async () => {
  await world.sql('UPDATE installations SET backed_up_at = NULL');
  const file = join(folder, 'trunkline.tar.gz');
  expect((await runCommand(['backup', file], environment())).code).toBe(0);
  expect((await examine()).backup).toMatchObject({ ok: true, finding: 'the last is 0 hours old' });
  await world.sql(`UPDATE installations SET backed_up_at = now() - interval '3 days'`);
  expect((await examine()).backup).toMatchObject({
    ok: false,
    finding: 'the last is 72 hours old',
  });
  expect((await runCommand(['record-backup'], environment())).code).toBe(0);
  expect((await examine()).backup!.ok).toBe(true);
  // A failed one counts nothing.
  await world.sql('UPDATE installations SET backed_up_at = NULL');
  expect((await runCommand(['backup', file], environment())).code).toBe(1);
  expect((await examine()).backup!.ok).toBe(false);
});

test('a person who may do everything is an owner, until deleted', async () => {
  await world.sql(
    `WITH team AS (
      INSERT INTO access_control_lists (company_id, uuid, name, superuser)
      VALUES ($1, gen_random_uuid(), 'Owners', true) RETURNING id
    ), person AS (
      INSERT INTO users (company_id, uuid, email)
      VALUES ($1, gen_random_uuid(), 'o@example.com') RETURNING id
    )
    INSERT INTO access_control_list_users (company_id, access_control_list_id, user_id)
    SELECT $1, team.id, person.id FROM team, person`,
    [world.company.id],
  );
  expect((await examine()).owner!.ok).toBe(true);
  await world.sql(`UPDATE users SET deleted_at = now() WHERE email = 'o@example.com'`);
  expect((await examine()).owner!.ok).toBe(false);
});

test('a switch that was heard of, or a carrier, can take calls', async () => {
  expect((await world.company.api('post', 'switches', { body: { name: 'edge' } })).status).toBe(
    201,
  );
  expect((await examine({ CARRIER: 'none' })).telephony!.ok).toBe(false);
  await world.sql('UPDATE switches SET synced_at = now()');
  expect((await examine({ CARRIER: 'none' })).telephony!.ok).toBe(true);
  await world.sql(`UPDATE switches SET synced_at = now() - interval '4 minutes'`);
  expect((await examine({ CARRIER: 'none' })).telephony!.ok).toBe(false);
});

test('the mail server is asked', async () => {
  const { url, close } = await startMailServer();
  expect((await examine({ SMTP_URL: url })).mail).toMatchObject({ ok: true });
  await close();
  expect((await examine({ SMTP_URL: url })).mail).toMatchObject({
    ok: false,
    finding: expect.stringContaining('ECONNREFUSED'),
  });
});

describe('the public address', () => {
  let server: Server;
  let status = 200;
  let url: string;
  beforeAll(async () => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
    const subject = ['-subj', '/CN=localhost', '-days', '2'];
    const files = ['-keyout', key!, '-out', cert!];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files],
      {
        stdio: 'ignore',
      },
    );
    server = createServer({ key: readFileSync(key!), cert: readFileSync(cert!) }, (_, res) =>
      res.writeHead(status).end('ok'),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close().closeAllConnections());

  test('must be https, with a certificate that is trusted, and ready', async () => {
    expect((await examine({ PUBLIC_URL: 'http://127.0.0.1:1' })).address).toMatchObject({
      finding: 'http://127.0.0.1:1 is not https',
    });
    const { address } = await examine({ PUBLIC_URL: url });
    expect(address).toMatchObject({ ok: false, finding: expect.stringContaining('certificate') });
    const trusted = { PUBLIC_URL: url, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect((await examine(trusted)).address).toMatchObject({ ok: true });
    status = 503;
    expect((await examine(trusted)).address).toMatchObject({
      ok: false,
      finding: `${url} answers /readyz with 503`,
    });
  });
});
