import request from 'supertest';
import { caller } from '../../support/world';
import { openWorld, useWorld } from '../../support/use-world';

const world = useWorld();
const { api } = world;

const raw = () => request(world.app);
const createToken = () =>
  world.credentials(world.company, ['buyers:read', 'buyers:create'], {
    kind: 'user_token',
    user_email: 'Ann@example.com',
  });

test('Basic, Token, Token token=, quoted, and auth_token are the same caller', async () => {
  const token = await createToken();
  const me = async (req: request.Test) => (await req).body.me?.user?.email;
  for (const header of [
    `Token ${token}`,
    `Token token=${token}`,
    `token token="${token}"`,
    `Bearer ${token}`,
  ]) {
    expect(await me(raw().get('/api/v1/me').set('Authorization', header))).toBe('ann@example.com');
  }
  expect(await me(raw().get(`/api/v1/me?auth_token=${token}`))).toBe('ann@example.com');
  const response = await raw().post('/api/v1/buyers').send({ auth_token: token, name: 'By token' });
  expect([response.status, response.body.buyer.name]).toEqual([201, 'By token']);
  const form = await raw()
    .post('/api/v1/buyers')
    .type('form')
    .send({ auth_token: token, name: 'By form', paused: 'on' });
  expect([form.status, form.body.buyer.paused]).toEqual([201, true]);
});

test('me returns the caller and what the caller may do', async () => {
  const token = await createToken();
  const { body } = await raw().get('/api/v1/me').set('Authorization', `Token ${token}`);
  expect(body.me).toMatchObject({
    kind: 'user_token',
    superuser: false,
    permissions: ['buyers:read', 'buyers:create'],
    company: { id: Number(world.company.id) },
  });
  expect((await api('get', 'me')).body.me).toMatchObject({
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
  const fresh = await openWorld();
  expect((await request(fresh.app).get('/api/v1/me').set('Authorization', header)).status).toBe(
    401,
  );
  await fresh.close();
});

test('a token that is not a text is 401', async () => {
  expect((await raw().get('/api/v1/buyers?auth_token[a]=1')).status).toBe(401);
  expect(
    (
      await raw()
        .post('/api/v1/buyers')
        .send({ auth_token: { toString: 1 } })
    ).status,
  ).toBe(401);
});

test('credentials expire at their time and are refused once revoked', async () => {
  const fresh = await openWorld();
  const expired = await fresh.credentials(fresh.company, [], {
    expires_at: new Date(Date.now() - 1000),
  });
  expect((await fresh.api('get', 'me', { auth: expired })).status).toBe(401);
  const response = await fresh.api('post', 'access_tokens', {
    body: { name: 'k', kind: 'key_pair', permissions: ['buyers:read'] },
  });
  const auth = `${response.body.access_token.public_key}:${response.body.private_key}`;
  expect((await fresh.api('get', 'buyers', { auth })).status).toBe(200);
  await fresh.api('delete', `access_tokens/${response.body.access_token.id}`);
  expect((await fresh.api('get', 'buyers', { auth })).status).toBe(401);
  await fresh.close();
});

test('credentials are stored as keyed digests: no secret is in the database', async () => {
  const secret = world.company.auth.split(':')[1]!;
  const rows = await world.sql<{ row: string }>(
    "SELECT row_to_json(a)::text || encode(secret_digest, 'escape') AS row FROM access_tokens a",
  );
  expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
});

test('a caller cannot give others more rights than the caller has', async () => {
  const auth = await world.credentials(world.company, ['access_tokens:create', 'buyers:read']);
  const create = (body: object) =>
    api('post', 'access_tokens', {
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

test('a caller of one company is not taken for one of another', async () => {
  const otherCompany = await world.addCompany('Other');
  expect((await caller(world.app, otherCompany.auth)('get', 'me')).body.me.company).toEqual({
    id: Number(otherCompany.id),
    name: 'Other',
  });
});
