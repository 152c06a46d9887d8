import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { expectNoHold } from '../../support/event-loop';
import { openShop } from '../../support/leads';
import { basic } from '../../support/world';
import { listen } from '../../support/loopback';
import { useWorld } from '../../support/use-world';

// The attack: forms of 20,000 parameters, sent by anybody, took a second or more each to parse.

const world = useWorld();
const { create, api } = world;
let port: number;
let leadToken: string;

beforeAll(async () => {
  leadToken = (await openShop(world, [])).schedule.lead_token;
  const server = await listen(createServer(world.app as never));
  ({ port } = server);
  world.closeLater(server.close);
});

const FORM = 'application/x-www-form-urlencoded';
const post = (path: string, type: string, body: string | Buffer, auth?: string) => {
  const httpRequest = request(world.app).post(`/api/v1/${path}`).set('Content-Type', type);
  if (auth) httpRequest.set('Authorization', basic(auth));
  return httpRequest.send(body).ok(() => true);
};

const numberParameters = (count: number, name: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => `${name(n)}=1`).join('&');
const SHAPES: [string, (count: number) => string][] = [
  ['one index', (count) => numberParameters(count, () => 'a[0]')],
  ['one key', (count) => numberParameters(count, () => 'a')],
  ['brackets', (count) => numberParameters(count, () => 'a[]')],
  ['indexes', (count) => numberParameters(count, (n) => `a[${n}]`)],
  ['keys of an object', (count) => numberParameters(count, (n) => `a[k${n}]`)],
  ['high indexes', (count) => numberParameters(count, (n) => `k${n}[99][99][99][99][99]`)],
];

describe.each(SHAPES)('a form of %s', (_, form) => {
  test('with 19,990 parameters is refused, and holds up nobody', async () => {
    const { auth } = world.company;
    const statuses: number[] = [];
    await expectNoHold(async () => {
      for (const credentials of [undefined, auth])
        for (const path of ['buyers', `leads?lead_token=${leadToken}`])
          statuses.push((await post(path, FORM, form(19_990), credentials)).status);
    });
    expect(new Set(statuses)).toEqual(new Set([413]));
  });

  test('with as many as are allowed holds up nobody', async () => {
    await post('buyers', FORM, form(10), world.company.auth);
    await expectNoHold(async () => {
      const { status, body } = await post('buyers', FORM, form(1_000), world.company.auth);
      expect([status, Object.keys(body.errors)[0]]).toEqual([422, expect.stringMatching(/^[ak]/)]);
    });
  });
});

test('a form has 1,000 parameters and not one more; the answer says so', async () => {
  const pairs = (count: number) => numberParameters(count, (n) => `k${n}`);
  const enough = await post('buyers', FORM, pairs(1_000), world.company.auth);
  expect([enough.status, enough.body.error_count]).toEqual([422, 1_000]);
  const more = await post('buyers', FORM, pairs(1_001), world.company.auth);
  expect([more.status, more.body.code, more.body.detail]).toEqual([
    413,
    'body_too_large',
    expect.stringContaining('1000 parameters'),
  ]);
});

const createBuyer = () => create('buyers', { name: 'B' });

test('a query string has 1,000 parameters and not one more: none is dropped', async () => {
  const id = await createBuyer();
  const query = (count: number) => Array.from({ length: count }, () => `ids=${id}`).join('&');
  expect((await api('get', `buyers?${query(1_000)}`)).status).toBe(200);
  const { status, body } = await api('get', `buyers?${query(1_001)}`);
  expect([status, body.code, Object.keys(body.errors)]).toEqual([422, 'limit_exceeded', ['query']]);
});

test('lists of more than a hundred are lists in every spelling, also in data of a lead', async () => {
  const first = await createBuyer();
  const ids = Array.from({ length: 150 }, (_, n) => String(first + n));
  const spellings = [
    ids.map((id) => `LIST=${id}`),
    ids.map((id) => `LIST[]=${id}`),
    ids.map((id, n) => `LIST[${n}]=${id}`),
  ].map((pairs) => pairs.join('&'));
  for (const spelled of spellings) {
    const listed = await api('get', `buyers?${spelled.replaceAll('LIST', 'ids')}`);
    expect(listed.status).toBe(200);
    const form = `lead_token=${leadToken}&caller_id=3105550111&${spelled.replaceAll('LIST', 'picks')}`;
    const { status, body } = await post('leads', FORM, form);
    expect([200, 201]).toContain(status);
    const [lead] = await world.sql<{ data: { picks: string[] } }>(
      'SELECT data FROM leads WHERE id = $1',
      [body.lead.id],
    );
    expect(lead!.data.picks).toEqual(ids);
  }
});

test('keys are nested five levels deep, and no deeper', async () => {
  const { auth } = world.company;
  const deep = await post('buyers', FORM, 'a[b][c][d][e][f]=1', auth);
  expect([deep.status, Object.keys(deep.body.errors)]).toEqual([422, ['a']]);
  const deeper = await post('buyers', FORM, 'a[b][c][d][e][f][g]=1', auth);
  expect([deeper.status, Object.keys(deeper.body.errors)]).toEqual([422, ['body']]);
});

/** Sends the head of a request that announces a body, and never the body. */
async function sendHead(path: string, headers: Record<string, string | number>) {
  const req = send({ port, path: `/api/v1/${path}`, method: 'POST', headers });
  req.on('error', () => undefined);
  req.flushHeaders();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  req.destroy();
  return res.statusCode;
}

describe('before the body', () => {
  const head = { 'Content-Type': 'application/json', 'Content-Length': 900_000 };

  test('the credentials of the header are checked: without right ones, none of it is read', async () => {
    const wrong = `${world.company.auth.split(':')[0]}:wrong`;
    expect(await sendHead('buyers', { ...head, Authorization: basic(wrong) })).toBe(401);
    expect(await sendHead('buyers?auth_token=ut_x', head)).toBe(401);
    const powerless = await world.credentials(world.company, ['offers:read']);
    expect(await sendHead('buyers', { ...head, Authorization: basic(powerless) })).toBe(403);
  });

  test('a caller without credentials in the header has 64 kB', async () => {
    expect(await sendHead('buyers', head)).toBe(413);
    expect(await sendHead(`leads?lead_token=${leadToken}`, head)).toBe(413);
    const form = { ...head, 'Content-Type': 'multipart/form-data; boundary=x' };
    expect(await sendHead(`leads?lead_token=${leadToken}`, form)).toBe(413);
  });
});

test('with credentials a body may have a megabyte, without them 64 kB and not one byte more', async () => {
  const body = (bytes: number, more = '') =>
    `{${more}"name":"${'x'.repeat(bytes - more.length - 11)}"}`;
  const { auth } = world.company;
  expect(body(100)).toHaveLength(100);
  expect((await post('buyers', 'application/json', body(1_048_576), auth)).status).toBe(422);
  expect((await post('buyers', 'application/json', body(1_048_577), auth)).status).toBe(413);
  const token = `"lead_token":"${leadToken}","caller_id":"3105550112",`;
  expect((await post('leads', 'application/json', body(65_536, token))).status).toBe(201);
  expect((await post('leads', 'application/json', body(65_537, token))).status).toBe(413);
});

test('a compressed body counts as what it expands to', async () => {
  const zeros = gzipSync(`{"lead_token":"${leadToken}","a":"${'0'.repeat(65_536)}"}`);
  expect(zeros.length).toBeLessThan(1_000);
  for (const [auth, path, text] of [
    [undefined, 'leads', zeros],
    [world.company.auth, 'buyers', gzipSync(`{"name":"${'0'.repeat(1_048_576)}"}`)],
  ] as const) {
    const httpRequest = request(world.app)
      .post(`/api/v1/${path}`)
      .set({ 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
    if (auth) httpRequest.set('Authorization', basic(auth));
    httpRequest.serialize((body: unknown) => body as string);
    expect((await httpRequest.send(text).ok(() => true)).status).toBe(413);
  }
});

test('credentials of another company beside a lead token do not allow larger bodies', async () => {
  const otherCompany = await world.addCompany('Other');
  const fields = { lead_token: leadToken, caller_id: '+13105556010' };
  const a = 'y'.repeat(70_000);
  const json = JSON.stringify({ ...fields, data: { a } });
  const form = new URLSearchParams({ ...fields, a }).toString();
  const statuses = async (auth: string) => [
    (await post('leads', 'application/json', json, auth)).status,
    (await post('leads', FORM, form, auth)).status,
  ];
  expect(await statuses(otherCompany.auth)).toEqual([413, 413]);
  // Credentials of the company itself allow them.
  expect(await statuses(world.company.auth)).toEqual([201, 200]);
});
