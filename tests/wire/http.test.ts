import request from 'supertest';
import { maskUrl } from '../../src/http/logging';
import { basic, caller, createWorld, type World } from '../support/world';

let world: World;
beforeAll(async () => {
  world = await createWorld({ environment: { CORS_ORIGINS: 'https://app.example.com' } });
});
afterAll(() => world.close());

const raw = () => request(world.app);
const forged = (position: unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url');

describe('credentials', () => {
  const tokens = async () => {
    const token = await world.credentials(world.company, ['buyers:read', 'buyers:create'], {
      kind: 'user_token',
      user_email: 'Ann@example.com',
    });
    return { token };
  };

  test('Basic, Token, Token token=, quoted, and auth_token in query and body are the same caller', async () => {
    const { token } = await tokens();
    const me = async (req: request.Test) => (await req).body.me?.user?.email;
    for (const header of [
      `Token ${token}`,
      `Token token=${token}`,
      `token token="${token}"`,
      `Bearer ${token}`,
    ]) {
      expect(await me(raw().get('/api/v1/me').set('Authorization', header))).toBe(
        'ann@example.com',
      );
    }
    expect(await me(raw().get(`/api/v1/me?auth_token=${token}`))).toBe('ann@example.com');
    const made = await raw().post('/api/v1/buyers').send({ auth_token: token, name: 'By token' });
    expect([made.status, made.body.buyer.name]).toEqual([201, 'By token']);
    const form = await raw()
      .post('/api/v1/buyers')
      .type('form')
      .send({ auth_token: token, name: 'By form', paused: 'on' });
    expect([form.status, form.body.buyer.paused]).toEqual([201, true]);
  });

  test('me tells who the caller is and what they may do', async () => {
    const { token } = await tokens();
    const { body } = await raw().get('/api/v1/me').set('Authorization', `Token ${token}`);
    expect(body.me).toMatchObject({
      kind: 'user_token',
      superuser: false,
      permissions: ['buyers:read', 'buyers:create'],
      company: { id: Number(world.company.id) },
    });
    expect((await world.company.api('get', 'me')).body.me).toMatchObject({
      kind: 'key_pair',
      superuser: true,
      user: null,
    });
  });

  test.each([
    'Basic',
    'Basic !!!',
    'Basic bm9jb2xvbg==',
    'Token',
    'Token x',
    'Digest abc',
    `Basic ${'A'.repeat(5000)}`,
  ])('the header %p is 401', async (header) => {
    const fresh = await createWorld();
    expect((await request(fresh.app).get('/api/v1/me').set('Authorization', header)).status).toBe(
      401,
    );
    await fresh.close();
  });

  test('a token that is no text is 401', async () => {
    expect((await raw().get('/api/v1/buyers?auth_token[a]=1')).status).toBe(401);
    expect(
      (
        await raw()
          .post('/api/v1/buyers')
          .send({ auth_token: { toString: 1 } })
      ).status,
    ).toBe(401);
  });

  test('expire at their time and are refused once revoked', async () => {
    const fresh = await createWorld();
    const expired = await fresh.credentials(fresh.company, [], {
      expires_at: new Date(Date.now() - 1000),
    });
    expect((await fresh.company.api('get', 'me', { auth: expired })).status).toBe(401);
    const made = await fresh.company.api('post', 'access_tokens', {
      body: { name: 'k', kind: 'key_pair', permissions: ['buyers:read'] },
    });
    const auth = `${made.body.access_token.public_key}:${made.body.private_key}`;
    expect((await fresh.company.api('get', 'buyers', { auth })).status).toBe(200);
    await fresh.company.api('delete', `access_tokens/${made.body.access_token.id}`);
    expect((await fresh.company.api('get', 'buyers', { auth })).status).toBe(401);
    await fresh.close();
  });

  test('are stored as keyed digests: no secret is in the database', async () => {
    const secret = world.company.auth.split(':')[1]!;
    const rows = await world.sql<{ row: string }>(
      "SELECT row_to_json(a)::text || encode(secret_digest, 'escape') AS row FROM access_tokens a",
    );
    expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
  });

  test('nobody gives away more than they have', async () => {
    const auth = await world.credentials(world.company, ['access_tokens:create', 'buyers:read']);
    const create = (body: object) =>
      world.company.api('post', 'access_tokens', {
        auth,
        body: { name: 'k', kind: 'key_pair', ...body },
      });
    expect((await create({ permissions: ['buyers:read'] })).status).toBe(201);
    expect((await create({ permissions: ['buyers:read', 'buyers:delete'] })).body.errors).toEqual({
      permissions: [expect.stringContaining('buyers:delete')],
    });
    expect((await create({ superuser: true })).body.errors).toEqual({
      superuser: [expect.any(String)],
    });
    expect((await create({ kind: 'user_token' })).body.errors).toEqual({
      user_email: [expect.any(String)],
    });
    expect((await create({ user_email: 'a@b.example' })).body.errors).toEqual({
      user_email: [expect.any(String)],
    });
    expect((await create({ permissions: ['everything'] })).status).toBe(422);
  });
});

describe('bad input', () => {
  test('everything that is wrong is named at once, with what is allowed, and nothing is made', async () => {
    const before = (await world.company.api('get', 'buyers')).body.metadata.total_count;
    const res = await world.company.api('post', 'buyers', {
      body: {
        timeout_seconds: 11,
        number: '555',
        nme: 'x',
        paused: 'maybe',
        route_by_type: 'luck',
        record_token_filter_list: ['age:>=old', 'a:=~(', 'NoKey'],
        dtmf_tones: 'x',
        time_zone: 'Mars',
      },
    });
    expect(res.status).toBe(422);
    expect(Object.keys(res.body.errors).toSorted()).toEqual(
      [
        'dtmf_tones',
        'nme',
        'number',
        'paused',
        'record_token_filter_list.0',
        'record_token_filter_list.1',
        'record_token_filter_list.2',
        'route_by_type',
        'time_zone',
        'timeout_seconds',
      ].toSorted(),
    );
    expect(res.body.errors).toMatchObject({
      timeout_seconds: ['must be >= 12'],
      nme: ['is not a field of this operation'],
      route_by_type: [expect.stringContaining('tier, revenue, epc')],
    });
    expect((await world.company.api('get', 'buyers')).body.metadata.total_count).toBe(before);
  });

  test.each([
    '+',
    '+0123456789',
    '13105550123',
    '+1 310 555 0123',
    '+12',
    '+1234567890123456',
    'sip:',
    'sip:a',
    'sip:a@',
    'sip:a b@c',
    'sip:@host',
    'tel:+13105550123',
    '',
  ])('the number %p is refused', async (number) => {
    expect((await world.company.api('post', 'buyers', { body: { number } })).body.errors).toEqual({
      number: [expect.any(String)],
    });
  });
  test.each([
    '+13105550123',
    '+442071838750',
    'sip:desk@example.com',
    'sips:desk@10.0.0.1:5061;transport=tls',
    'sip:+13105550123@pbx.example.com',
  ])('the number %p is taken', async (number) => {
    expect(
      (await world.company.api('post', 'buyers', { body: { number } })).body.buyer.number,
    ).toBe(number);
  });

  test.each([
    ['an array', []],
    ['a string', '"x"'],
    ['null', 'null'],
    ['a number', '7'],
    ['prototype keys', '{"__proto__":{"a":1}}'],
    ['constructor keys', '{"constructor":{"prototype":{}}}'],
    ['a hundred thousand brackets', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('a body that is %s is refused in one shape', async (_, body) => {
    const res = await raw()
      .post('/api/v1/buyers')
      .set('Authorization', basic(world.company.auth))
      .set('Content-Type', 'application/json')
      .send(body as string);
    expect([400, 422]).toContain(res.status);
    expect(res.body).toMatchObject({
      success: false,
      status: res.status,
      errors: expect.any(Object),
      request_id: expect.any(String),
    });
  });

  test.each([
    '/api/v1/buyers/%',
    '/api/v1/buyers/%ff',
    '/api/v1/buyers/%00',
    '/api/v1/buyers?a[b][c][d][e][f][g]=1',
    '/api/v1/buyers?toString=1',
    '/api/v1//buyers',
    '/api/v1/buyers/1/2/3',
    '/%c0%af',
    `/api/v1/buyers/${'9'.repeat(400)}`,
    `/api/v1/buyers?fulltext=${'a'.repeat(7000)}`,
  ])('the URL %s is a refusal and no fault', async (url) => {
    const res = await raw().get(url).set('Authorization', basic(world.company.auth));
    expect([400, 404, 422]).toContain(res.status);
    expect(res.headers['content-type']).toContain('application/problem+json');
  });

  test.each([
    '/api/v1/buyers?paused[x]=1',
    '/api/v1/buyers?root[x]=1',
    '/api/v1/buyers/%00/by_user_buyer_id',
    '/api/v1/buyers?created_at_to=9999-12-31 23:59:59 -1400',
    '/api/v1/buyers?created_at_from=0001-01-01',
    '/api/v1/buyers?time_zone=AET',
    '/api/v1/buyers?time_zone=IST',
    `/api/v1/buyers?order=tier&cursor=${forged(['tier asc', 'abc', '1'])}`,
    `/api/v1/buyers?order=created_at&cursor=${forged(['created_at asc', '2026-99-99 00:00:00+00', '1'])}`,
    `/api/v1/buyers?order=name&cursor=${forged(['name asc', 'a\u0000b', '1'])}`,
    `/api/v1/buyers?order=paused&cursor=${forged(['paused asc', 'perhaps', '1'])}`,
  ])('what is well-formed and means nothing is refused: %s', async (url) => {
    const res = await raw().get(url).set('Authorization', basic(world.company.auth));
    expect([404, 422]).toContain(res.status);
  });

  test.each([
    { paused: { toString: 1 } },
    { name: { toString: 1 } },
    { time_zone: 'EST' },
    { time_zone: 'IST' },
  ])('the body %j is refused', async (body) => {
    expect((await world.company.api('post', 'buyers', { body })).status).toBe(422);
  });

  test.each([
    ['an address of dots', { email: `a@${'a.'.repeat(400_000)}` }],
    ['a list of commas', { record_token_additional_list: ', '.repeat(400_000) }],
    ['a filter of brackets', { record_token_filter_list: [`a:=~${'('.repeat(400_000)}`] }],
    ['a zone of a megabyte', { time_zone: 'x'.repeat(900_000) }],
  ])('%s is refused as fast as any', async (_, body) => {
    // A pattern that backtracks over it would run into the test's time-out.
    expect((await world.company.api('post', 'buyers', { body })).status).toBe(422);
  });

  test('the largest schedule that the contract allows is taken', async () => {
    const conversions = Array.from({ length: 50 }, (_, n) => ({
      name: `c${n}`,
      revenue: n,
      token_values: ['a:b'],
    }));
    const frames = Array.from({ length: 50 }, () => ({
      buyer_conversions_attributes: conversions,
      schedule: [],
    }));
    const res = await world.company.api('post', 'buyers', {
      body: { buyer_conversions_schedule: frames },
    });
    expect([res.status, res.body.buyer.buyer_conversions_schedule.length]).toEqual([201, 50]);
  });

  test('an unknown path is 404 in the same shape, with a request id that may be the caller’s', async () => {
    const res = await raw().get('/api/v1/nowhere').set('X-Request-Id', 'mine-1');
    expect([res.status, res.body.request_id, res.headers['x-request-id']]).toEqual([
      404,
      'mine-1',
      'mine-1',
    ]);
    expect(
      (await raw().get('/api/v1/me').set('X-Request-Id', 'not allowed!')).headers['x-request-id'],
    ).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('the same key in query and body is no error; the body wins', async () => {
    const res = await world.company.api('post', 'buyers?serializer=buyer', {
      body: { name: 'x', serializer: 'buyer_grid' },
    });
    expect(res.body.buyer.call_limit_id).toEqual(expect.any(Number));
    const both = await world.company.api('post', 'buyers?name=query&tier=9', {
      body: { name: 'body', tier: 2 },
    });
    expect([both.status, both.body.buyer?.name, both.body.buyer?.tier]).toEqual([201, 'body', 2]);
    expect(
      (await world.company.api('post', 'buyers?name=query', { body: {} })).body.errors,
    ).toEqual({ name: [expect.any(String)] });
  });
});

describe('beside the API', () => {
  test('the contract is served as YAML and JSON, and Swagger UI from this server alone', async () => {
    expect((await raw().get('/api/openapi.yaml')).text).toContain('openapi: 3.1.0');
    expect((await raw().get('/api/openapi.json')).body.info.title).toBe('Trunkline');
    const page = await raw().get('/api/docs/');
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/(src|href)="https?:/);
  });
  test('livez, readyz and metrics', async () => {
    expect([(await raw().get('/livez')).status, (await raw().get('/readyz')).status]).toEqual([
      200, 200,
    ]);
    await world.company.api('get', 'me');
    expect((await raw().get('/metrics')).text).toMatch(
      /http_request_duration_seconds_count\{operation="showMe",status="200"\} \d+/,
    );
  });
  test('only configured origins are let in by CORS', async () => {
    const preflight = (origin: string) =>
      raw()
        .options('/api/v1/buyers')
        .set({ Origin: origin, 'Access-Control-Request-Method': 'GET' });
    expect(
      (await preflight('https://app.example.com')).headers['access-control-allow-origin'],
    ).toBe('https://app.example.com');
    expect(
      (await preflight('https://evil.example.com')).headers['access-control-allow-origin'],
    ).toBeUndefined();
  });
  test('the log masks tokens and telephone numbers', () => {
    expect(maskUrl('/api/v1/buyers?auth_token=ut_abc_def&number=%2B13105550123&page=2')).toBe(
      '/api/v1/buyers?auth_token=***&number=***0123&page=2',
    );
    expect(
      maskUrl(
        '/x?auth%5Ftoken=secret&%74oken=secret&auth_token[]=secret&number=sip:ann@example.com&cursor=WyJuYW1lIGFz',
      ),
    ).toBe('/x?auth%5Ftoken=***&%74oken=***&auth_token[]=***&number=***.com&cursor=***IGFz');
  });
  test('large answers are compressed for those who ask', async () => {
    const res = await raw()
      .get('/api/v1/collections/time_zone')
      .set('Authorization', basic(world.company.auth))
      .set('Accept-Encoding', 'gzip');
    expect(res.headers['content-encoding']).toBe('gzip');
  });
});

test('a caller of one company cannot be mistaken for one of another', async () => {
  const other = await world.addCompany('Other');
  expect((await caller(world.app, other.auth)('get', 'me')).body.me.company).toEqual({
    id: Number(other.id),
    name: 'Other',
  });
});
