import request from 'supertest';
import { BASE_PATH, contract, isOpen } from '../../../src/platform/contract/contract';
import { fresh } from '../../support/lead-records';
import { useSubmissions } from '../../support/submissions';

// Pages of any origin send leads and pings by scripts of many libraries, whose headers need a
// preflight, and read why they are refused.

const { world, shop } = useSubmissions();
const Origin = 'https://landing.example';
const LIBRARIES: [string, string][] = [
  ['jQuery', 'content-type,x-requested-with'],
  ['axios', 'authorization,content-type,x-xsrf-token'],
  ['Laravel', 'content-type,x-csrf-token,x-requested-with,x-xsrf-token'],
  ['HTMX', 'hx-boosted,hx-current-url,hx-request,hx-target,hx-trigger,hx-trigger-name'],
  ['a tracer', 'baggage,sentry-trace,traceparent'],
];

const doors = contract.operations.filter(isOpen).map(({ id, method, path }) => ({
  id,
  method: method.toUpperCase(),
  path: path.replace(/\{\w+\}/g, '1'),
}));
const raw = () => request(world.app);
const preflight = (method: string, path: string, names: string) =>
  raw().options(path).set({
    Origin,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': names,
  });
const allows = ({ headers }: request.Response, names: string) =>
  names
    .split(',')
    .every((name) => headers['access-control-allow-headers']!.toLowerCase().includes(name));

test('the doors of landing pages are open', () => {
  const ids = doors.map(({ id }) => id);
  for (const id of ['submitLead', 'captureLead', 'optOutLeadByGet', 'pingInboundWebhookByGet'])
    expect(ids).toContain(id);
});

test.each(doors.map(({ id, method, path }) => [id, method, path] as const))(
  '%s answers the preflight of every library',
  async (_, method, path) => {
    for (const [, names] of LIBRARIES)
      for (const spelled of [path, `${path}/`, `${path}.json`]) {
        const res = await preflight(method, spelled, names);
        const { 'access-control-allow-origin': origin } = res.headers;
        expect([res.status, origin, allows(res, names)]).toEqual([204, Origin, true]);
      }
  },
);

test.each(doors.map(({ id, method, path }) => [id, method, path] as const))(
  '%s lets a page read why it is refused',
  async (_, method, path) => {
    const send = (body: string, type: string, at = path) =>
      raw()
        [method.toLowerCase() as 'post'](at)
        .set({ Origin, 'Content-Type': type })
        .send(body)
        .ok(() => true);
    for (const res of [
      await send('{}', 'application/json'),
      await send('{"a":', 'application/json'),
      await send('<a/>', 'application/xml'),
      await send(`{"a":"${'x'.repeat(70_000)}"}`, 'application/json'),
    ]) {
      expect(res.status).toBeGreaterThanOrEqual(400);
      expect(res.headers['access-control-allow-origin']).toBe(Origin);
    }
  },
);

test('a beacon may bring credentials, and what they would show is not for the page', async () => {
  const allowed = 'access-control-allow-credentials';
  const path = `${BASE_PATH}/leads`;
  expect((await preflight('POST', path, 'content-type')).headers[allowed]).toBe('true');
  const send = (headers: Record<string, string>) =>
    raw()
      .post(path)
      .set({ Origin, ...headers });
  expect((await send({})).headers[allowed]).toBe('true');
  const kept = await send({ Authorization: `Basic ${btoa(world.company.auth)}` });
  expect(kept.headers[allowed]).toBeUndefined();
  const list = await preflight('GET', path, 'authorization');
  expect(list.headers[allowed]).toBeUndefined();
});

test('a method that an open path lacks is refused readably; one of the company is not open', async () => {
  const put = await raw()
    .put(`${BASE_PATH}/leads`)
    .set({ Origin })
    .ok(() => true);
  expect([put.status, put.headers['access-control-allow-origin']]).toEqual([405, Origin]);
  const list = await preflight('GET', `${BASE_PATH}/leads`, 'authorization');
  expect(list.headers['access-control-allow-origin']).toBeUndefined();
});

test('no name of a header can break the answer', async () => {
  const res = await preflight('POST', `${BASE_PATH}/leads`, 'x-a, x b, "x", x-a, (c)');
  const names = res.headers['access-control-allow-headers']!;
  expect(names.match(/x-a(,|$)/g)).toHaveLength(1);
  expect(names).not.toMatch(/["()]/);
});

describe('leads/capture', () => {
  const capture = (body: object, auth: string | null = null, query = {}) =>
    world.api('post', 'leads/capture', { auth, body, query });

  test('takes a lead token in place of credentials, and shows what leads shows', async () => {
    const token = { lead_token: shop.schedule.lead_token };
    const fields = { caller_id: fresh(), first_name: 'Ann' };
    const { status, body } = await capture({ ...token, ...fields });
    expect([status, body.lead.data, body.lead.schedule_id]).toEqual([
      201,
      { first_name: 'Ann' },
      expect.anything(),
    ]);
    const [stored] = await world.sql<{ schedule_id: string }>(
      'SELECT schedule_id FROM leads WHERE id = $1',
      [body.id],
    );
    expect(Number(stored!.schedule_id)).toBe(shop.schedule.id);
    const byQuery = await capture({ caller_id: fresh() }, null, token);
    const form = { ...token, caller_id: fresh() };
    const multipart = await world.api('post', 'leads/capture', { auth: null, form });
    expect([byQuery.status, multipart.status]).toEqual([201, 201]);
  });

  test('refuses a wrong token, a power that the token lacks, and no credentials at all', async () => {
    expect((await capture({ lead_token: 'f'.repeat(32), caller_id: fresh() })).status).toBe(401);
    expect((await capture({ caller_id: fresh() })).status).toBe(401);
    const unblock = { lead_token: shop.schedule.lead_token, unblock_contact: true };
    expect((await capture({ ...unblock, caller_id: fresh() })).status).toBe(403);
  });

  test('takes credentials with a token: it says where the lead goes, unless the request does', async () => {
    const { auth } = world.company;
    const token = { lead_token: shop.schedule.lead_token, caller_id: fresh() };
    expect((await capture(token, auth)).body.lead.schedule_id).toBe(shop.schedule.id);
    const both = await capture({ ...token, offer_id: shop.offer.id, caller_id: fresh() }, auth);
    const { offer_id, schedule_id } = both.body.lead;
    expect([offer_id, schedule_id]).toEqual([shop.offer.id, null]);
  });
});
