import request from 'supertest';
import { BASE_PATH } from '../../../src/platform/contract/contract';
import { captureLog } from '../../support/captured-log';
import { eventually } from '../../support/engine-process';
import { createMember } from '../../support/teams';
import { createWorld, type World } from '../../support/world';
import { useWorld } from '../../support/use-world';

// Private answers stay with who asked for them: neither caches nor logs nor metrics nor messages
// tell others.

const captured = captureLog();
const world = useWorld({ log: captured.log });
const { api } = world;

// Every answer in every test is checked against the contract
// (tests/support/worker/contract-check.ts).
test('no answer may be stored, not even that of an unknown path', async () => {
  const res = await request(world.app).get(`${BASE_PATH}/nowhere`);
  expect([res.status, res.headers['cache-control']]).toEqual([404, 'no-store']);
});

describe('the request id', () => {
  const me = (id: string) => api('get', 'me', { headers: { 'X-Request-Id': id } });

  test('is ours; that of the client is repeated and logged beside it', async () => {
    const [first, second] = [await me('chosen-1'), await me('chosen-1')];
    const ids = [first, second].map(({ headers }) => headers['x-request-id']!);
    expect(new Set([...ids, 'chosen-1']).size).toBe(3);
    expect(first.headers['x-client-request-id']).toBe('chosen-1');
    const lines = () =>
      captured.lines().filter(({ client_request_id }) => client_request_id === 'chosen-1');
    await eventually(() => lines().length === 2);
    expect(lines().map(({ request_id }) => request_id)).toEqual(ids);
  });

  test('that a client sends is left aside when it could break a line of the log', async () => {
    for (const id of ['not allowed!', 'x'.repeat(101), '{"a":1}'])
      expect((await me(id)).headers['x-client-request-id']).toBeUndefined();
  });

  test('of a change is found by the id of the client and by ours', async () => {
    const res = await api('post', 'buyers', {
      body: { name: 'Logged' },
      headers: { 'X-Request-Id': 'chosen-2' },
    });
    const findLogs = async (query: object) =>
      (await api('get', 'change_logs', { query })).body.change_logs;
    const [entry] = await findLogs({ client_request_id: 'chosen-2' });
    expect(entry).toMatchObject({ operation: 'createBuyer', client_request_id: 'chosen-2' });
    expect(await findLogs({ request_id: res.headers['x-request-id'] })).toEqual([entry]);
  });
});

describe('/metrics', () => {
  const TOKEN = 'only-for-Prometheus';
  const get = (app: World['app'], authorization?: string) =>
    request(app)
      .get('/metrics')
      .set(authorization === undefined ? {} : { Authorization: authorization });

  test('are not there without METRICS_TOKEN', async () => {
    const res = await get(world.app, 'Bearer ');
    expect([res.status, res.text]).toEqual([404, expect.stringContaining('METRICS_TOKEN')]);
  });

  test('need the token, and nothing else opens them', async () => {
    const otherWorld = await createWorld({ environment: { METRICS_TOKEN: TOKEN } });
    for (const wrong of [undefined, 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`])
      expect((await get(otherWorld.app, wrong)).status).toBe(401);
    expect((await get(otherWorld.app, `Bearer ${TOKEN}`)).text).toContain('trunkline_database_up');
    await otherWorld.close();
  });
});

test('a value that an invisible record has is refused without a word of that record', async () => {
  await api('post', 'buyers', { body: { name: 'Hidden', user_buyer_id: 'b-7' } });
  const limited = await createMember(world.company, 'limited@example.com', {
    permissions: ['buyers:read', 'buyers:create', 'buyers:routing'],
  });
  const create = (by: typeof api) =>
    by('post', 'buyers', { body: { name: 'Mine', user_buyer_id: 'b-7' } });
  expect((await create(api)).body.errors).toEqual({
    user_buyer_id: [expect.stringContaining('another record of yours')],
  });
  const refused = await create(limited.api);
  expect([refused.status, refused.body.errors]).toEqual([
    422,
    { user_buyer_id: ['is not free; it must be unique, so choose another'] },
  ]);
});
