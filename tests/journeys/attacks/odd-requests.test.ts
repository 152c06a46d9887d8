import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import {
  createServer,
  request as send,
  type ClientRequest,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createApp } from '../../../src/main/app';
import { contract, facets, type Operation } from '../../../src/platform/contract/contract';
import { problemFor } from '../../../src/api/reply/error-handler';
import { createFixture, type Fixture } from '../../support/example';
import { eventually } from '../../support/engine-process';
import { openShop } from '../../support/leads';
import { selectSample } from '../../support/repetitions';
import { useWorld } from '../../support/use-world';
import { basic, caller } from '../../support/world';
import { findReader } from '../../support/worker/reader';

// The attacks: objects in place of lists in a query string were internal errors, forms that drip
// held connections for an hour, the key of one visitor was a conflict for another, and a full disk
// an internal error.

const world = useWorld({ environment: { TRUST_PROXY: '1' } });
const { createRecord, api } = world;
let fixture: Fixture;
let leadToken: string;
beforeAll(async () => {
  fixture = await createFixture(world);
  leadToken = (await openShop(world, [])).schedule.lead_token;
});

/** Statuses of the answers to a parameter; some parameters identify the company. */
function listStatuses({ credentials, own_number }: Operation, name: string): number[] {
  if (credentials === 'lead_token' && name === 'lead_token') return [401, 429];
  return name === own_number ? [404] : [422];
}

describe('an object where there is none', () => {
  const selectParameters = (operation: Operation, location: string) =>
    operation.parameters.filter((parameter) => parameter.in === location);
  const inQuery = contract.operations.flatMap((operation) => {
    const parameters = selectParameters(operation, 'query');
    return parameters.length > 0 ? [[operation.id, operation, parameters] as const] : [];
  });

  let turn = 0;
  test.each(inQuery)('is refused in every parameter of %s', async (_, operation, parameters) => {
    for (const { name, schema } of selectSample(parameters, 3, turn))
      for (const key of selectSample([`${name}[a]`, `${name}[a][b]`, `${name}[0][a]`], 3, turn++)) {
        const { status, body } = await fixture.send(operation, { query: { [key]: '1' } });
        expect(listStatuses(operation, name)).toContain(status);
        if (status === 422) expect(Object.keys(body.errors)[0]).toMatch(new RegExp(`^${name}\\b`));
        expect(facets(schema).types).not.toContain('object');
      }
  });

  const merged = contract.operations.filter((operation) => operation.merged && operation.body);
  test.each(merged.map((operation) => [operation.id, operation] as const))(
    'is no internal error in any field that the query string of %s may have',
    async (_, operation) => {
      for (const name of selectSample(Object.keys(facets(operation.body!).properties), 3, turn))
        for (const key of selectSample([`${name}[a]`, `${name}[0][a]`], 2, turn++)) {
          const { status } = await fixture.send(operation, { query: { [key]: '1' } });
          expect([key, status < 500]).toEqual([key, true]);
        }
    },
  );

  test.each(contract.operations.map((operation) => [operation.id, operation] as const))(
    'is no internal error in the path or a header of %s',
    async (_, operation) => {
      const headers = Object.fromEntries(
        selectParameters(operation, 'header').map(({ name }) => [name, '[a]=1, [b]=2']),
      );
      if (Object.keys(headers).length > 0)
        expect((await fixture.send(operation, { headers })).status).toBeLessThan(500);
      if (!operation.path.includes('{') || operation.path.includes('{lead_token}')) return;
      const path = operation.path.replace(/\{\w+\}/g, '1%5Ba%5D=1');
      expect([401, 404, 422, 429]).toContain((await fixture.send(operation, { path })).status);
    },
  );
});

describe('a form that drips', () => {
  let server: Server;
  beforeAll(async () => {
    // A file must bring 200 bytes in 400 ms, any other body be complete in that time.
    const timeouts = { body_ms: 400, file_ms: 400, file_bytes: 200 };
    server = createServer(createApp(world.deps, undefined, { findReader, timeouts })).listen(0);
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const PART = '--x\r\nContent-Disposition: form-data; name="';
  const FILE = `${PART}import_file"; filename="n.csv"\r\nContent-Type: text/csv\r\n\r\nphone\r\n`;
  const open = (path: string, bytes?: number): ClientRequest =>
    send({
      port: (server.address() as AddressInfo).port,
      path: `/api/v1/${path}`,
      method: 'POST',
      headers: {
        'Content-Type': 'multipart/form-data; boundary=x',
        Authorization: basic(world.company.auth),
        ...(bytes === undefined ? {} : { 'Content-Length': bytes }),
      },
    });

  /** Sends pieces until the server answers or hangs up. Returns the status, or 'closed'. */
  async function drip(req: ClientRequest, piece: string, pieces: number, end = '') {
    const over = new Promise<number | 'closed'>((done) => {
      req.once('response', (res) => done(res.resume().statusCode!));
      req.once('error', () => done('closed'));
    });
    let ended = false;
    void over.then(() => (ended = true));
    for (let count = 0; count < pieces && !ended; count++) {
      req.write(piece);
      await new Promise((done) => setTimeout(done, 40));
    }
    if (!ended) req.end(end);
    return over;
  }

  test('is cut, with a lead token', async () => {
    const req = open(`leads?lead_token=${leadToken}`, 60_000);
    req.write(`${PART}caller_id"\r\n\r\n`);
    expect(await drip(req, '3', 60_000)).toBe('closed');
  });

  test('is cut, with a file that hardly moves; nothing of it is kept', async () => {
    const req = open('buyer_suppression_files');
    req.write(FILE);
    expect(await drip(req, '3', 60_000)).toBe('closed');
    const incoming = join(world.deps.config.storage_dir, 'incoming');
    await eventually(() => readdirSync(incoming).length === 0);
  });

  test('is read to its end, however long it takes, while a file keeps coming', async () => {
    const req = open('buyer_suppression_files');
    req.write(FILE);
    expect(await drip(req, '3105550123\r\n'.repeat(50), 40, '\r\n--x--\r\n')).toBe(201);
  });

  test('is not meant by a limit while the server itself is busy before it reads', async () => {
    const auth = await world.credentials(world.company, ['buyers:create']);
    await world.sql('BEGIN');
    await world.sql('LOCK TABLE credential_lookups');
    const { port } = server.address() as AddressInfo;
    const reply = caller(`http://127.0.0.1:${port}`, auth)('post', 'buyers', {
      body: { name: 'Buyer' },
    });
    const early = Promise.race([reply, new Promise((done) => setTimeout(done, 1_000, 'waits'))]);
    expect(await early).toBe('waits');
    await world.sql('ROLLBACK');
    expect((await reply).status).toBe(201);
  });

  test('leaves no timer behind if it has no body at all', async () => {
    const intervals = jest.spyOn(global, 'setInterval');
    const req = open('buyer_suppression_files', 0);
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    expect(res.statusCode).toBeGreaterThanOrEqual(400);
    expect(intervals.mock.calls.filter(([, ms]) => ms === 400)).toEqual([]);
    intervals.mockRestore();
  });
});

describe('an Idempotency-Key', () => {
  const submit = (address: string, callerId: string, key = 'k', auth: string | null = null) =>
    api('post', 'leads', {
      auth,
      body: { lead_token: leadToken, caller_id: callerId },
      headers: { 'Idempotency-Key': key, 'X-Forwarded-For': address },
    });

  test('with a public lead token belongs to the address that sent it', async () => {
    const first = await submit('192.0.2.1', '3105550114');
    const second = await submit('192.0.2.2', '3105550115');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    const repeated = await submit('192.0.2.1', '3105550114');
    expect([repeated.headers['idempotent-replayed'], repeated.body.lead.id]).toEqual([
      'true',
      first.body.lead.id,
    ]);
    const changed = await submit('192.0.2.1', '3105550116');
    expect([changed.status, changed.body.code]).toEqual([422, 'idempotency_conflict']);
  });

  test('does not show one visitor what another one sent', async () => {
    const first = await submit('192.0.2.3', '3105550117', 'same');
    const second = await submit('192.0.2.4', '3105550117', 'same');
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
  });

  test('with credentials beside the token is theirs, from any address', async () => {
    const { auth } = world.company;
    const first = await submit('192.0.2.5', '3105550118', 'mine', auth);
    const repeated = await submit('192.0.2.6', '3105550118', 'mine', auth);
    expect([first.status, repeated.headers['idempotent-replayed']]).toEqual([201, 'true']);
  });

  test('of an inbound webhook without a token belongs to the address too', async () => {
    const offer = await createRecord('offers', { name: 'O' });
    const door = await api('post', 'inbound_webhooks', {
      body: { name: 'D', vanity_uri: 'open-door', offer_id: offer.id, has_auth_token: false },
    });
    expect(door.status).toBe(201);
    const ping = (address: string) =>
      api('post', 'inbound_webhooks/ping/open-door', {
        auth: null,
        body: { caller_number: '3105550119' },
        headers: { 'Idempotency-Key': 'ping', 'X-Forwarded-For': address },
      });
    const answers = [await ping('192.0.2.7'), await ping('192.0.2.8'), await ping('192.0.2.7')];
    expect(answers.map(({ headers }) => headers['idempotent-replayed'])).toEqual([
      undefined,
      undefined,
      'true',
    ]);
  });
});

describe('a full disk', () => {
  const FULL = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device'
      USING ERRCODE = 'disk_full'; END $$`;
  beforeAll(async () => {
    await world.sql(FULL);
    for (const table of ['buyers', 'leads', 'contacts', 'buyer_suppression_callers'])
      await world.sql(
        `DO $$ BEGIN
          IF to_regclass('${table}') IS NOT NULL THEN
            CREATE TRIGGER full_disk BEFORE INSERT ON ${table}
              FOR EACH STATEMENT EXECUTE FUNCTION full_disk();
          END IF;
        END $$`,
      );
  });

  test.each([
    ['a record', 'buyers', { name: 'B' }],
    ['a lead', 'leads', { caller_id: '3105550120' }],
    ['a list of numbers', 'contacts/caller_block', { caller_ids: ['3105550121'] }],
  ])('is said where %s is written, and reading goes on', async (_, path, body) => {
    const fields = path === 'leads' ? { ...body, lead_token: leadToken } : body;
    const res = await api('post', path, { body: fields });
    expect([res.status, res.body.code, res.headers['retry-after']]).toEqual([
      503,
      'disk_full',
      '60',
    ]);
    expect((await api('get', 'buyers')).status).toBe(200);
  });

  test.each(['ENOSPC', 'EDQUOT', '53100'])('is known by %s, however it is wrapped', (code) => {
    const error = Object.assign(new Error('no space'), { code });
    for (const thrown of [error, new Error('failed', { cause: error })])
      expect(problemFor(thrown)?.code).toBe('disk_full');
  });
});

test('credentials in a header are as good as in the query string and in the body', async () => {
  const token = await world.credentials(world.company, ['buyers:create'], {
    kind: 'user_token',
    user_email: 'odd@example.com',
  });
  const api = caller(world.app, null);
  const spellings = [
    { headers: { Authorization: `Token ${token}` }, body: { name: 'B' } },
    { query: { auth_token: token }, body: { name: 'B' } },
    { body: { name: 'B', auth_token: token } },
    { headers: { Authorization: `Token ${token}` }, body: { name: 'B', auth_token: 'another' } },
  ];
  const statuses = [];
  await world.sql('DROP TRIGGER full_disk ON buyers');
  for (const spelling of spellings) statuses.push((await api('post', 'buyers', spelling)).status);
  expect(statuses).toEqual([201, 201, 201, 201]);
});
