import request from 'supertest';
import { useWorld } from '../../support/use-world';
import { basic } from '../../support/world';

const world = useWorld();
const { createRecord, api } = world;

const raw = () => request(world.app);
const forgeCursor = (position: unknown[]) =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

test('all wrong fields are named at once, with what is allowed; nothing is created', async () => {
  const before = (await api('get', 'buyers')).body.metadata.total_count;
  const res = await api('post', 'buyers', {
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
    nme: ['is not a field of this operation; did you mean name?'],
    route_by_type: [expect.stringContaining('tier, revenue, epc')],
  });
  expect((await api('get', 'buyers')).body.metadata.total_count).toBe(before);
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
  expect((await api('post', 'buyers', { body: { number } })).body.errors).toEqual({
    number: [expect.any(String)],
  });
});
test.each([
  '+13105550123',
  '+442071838750',
  'sip:desk@example.com',
  'sips:desk@10.0.0.1:5061;transport=tls',
  'sip:+13105550123@pbx.example.com',
])('the number %p is accepted', async (number) => {
  expect((await createRecord('buyers', { number })).number).toBe(number);
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
])('the URL %s is refused without an internal error', async (url) => {
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
  `/api/v1/buyers?order=tier&cursor=${forgeCursor(['tier asc', 'abc', '1'])}`,
  '/api/v1/buyers?order=created_at&cursor=' +
    forgeCursor(['created_at asc', '2026-99-99 00:00:00+00', '1']),
  `/api/v1/buyers?order=name&cursor=${forgeCursor(['name asc', 'a\u0000b', '1'])}`,
  `/api/v1/buyers?order=paused&cursor=${forgeCursor(['paused asc', 'perhaps', '1'])}`,
])('a well-formed value without a meaning is refused: %s', async (url) => {
  const res = await raw().get(url).set('Authorization', basic(world.company.auth));
  expect([404, 422]).toContain(res.status);
});

test.each([
  { paused: { toString: 1 } },
  { name: { toString: 1 } },
  { time_zone: 'EST' },
  { time_zone: 'IST' },
])('the body %j is refused', async (body) => {
  expect((await api('post', 'buyers', { body })).status).toBe(422);
});

test.each([
  ['an address of dots', { email: `a@${'a.'.repeat(400_000)}` }],
  ['a list of commas', { record_token_additional_list: ', '.repeat(400_000) }],
  ['a filter of brackets', { record_token_filter_list: [`a:=~${'('.repeat(400_000)}`] }],
  ['a zone of a megabyte', { time_zone: 'x'.repeat(900_000) }],
])('%s is refused quickly', async (_, body) => {
  // A pattern that backtracks over it would run into the test's time-out.
  expect((await api('post', 'buyers', { body })).status).toBe(422);
});

test('the largest schedule that the contract allows is accepted', async () => {
  const conversions = Array.from({ length: 50 }, (_, n) => ({
    name: `c${n}`,
    revenue: n,
    duration: 60,
    token_values: ['a:b'],
  }));
  const frames = Array.from({ length: 50 }, () => ({
    buyer_conversions_attributes: conversions,
    schedule: [],
  }));
  const res = await api('post', 'buyers', {
    body: { buyer_conversions_schedule: frames },
  });
  expect([res.status, res.body.buyer.buyer_conversions_schedule.length]).toEqual([201, 50]);
});

test('an unknown path is 404 in the same shape, with a request id', async () => {
  const res = await raw().get('/api/v1/nowhere');
  expect([res.status, res.body.request_id]).toEqual([404, res.headers['x-request-id']]);
});

test('the same key in query and body is not an error; the body wins', async () => {
  const res = await api('post', 'buyers?serializer=buyer', {
    body: { name: 'x', serializer: 'buyer_grid' },
  });
  expect(res.body.buyer.call_limit_id).toEqual(expect.any(Number));
  const both = await api('post', 'buyers?name=query&tier=9', {
    body: { name: 'body', tier: 2 },
  });
  expect([both.status, both.body.buyer?.name, both.body.buyer?.tier]).toEqual([201, 'body', 2]);
  expect((await api('post', 'buyers?name=query', { body: {} })).body.errors).toEqual({
    name: [expect.any(String)],
  });
});
