import request from 'supertest';
import { contract, facets } from '../../../src/platform/contract/contract';
import { createFixture, type Fixture } from '../../support/example';
import { fresh } from '../../support/lead-records';
import { useSubmissions } from '../../support/submissions';

// `navigator.sendBeacon(url, text)`, `fetch` without headers and many systems send a body as
// text/plain, or without a type. None is dropped: it is JSON, a form, or refused with 415.

const { world, shop } = useSubmissions();
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const PLAIN = { 'Content-Type': 'text/plain;charset=UTF-8' };
const NEITHER = ['hello', '<lead phone="3105550123"/>', '{"caller_id":', 'a=1\r\nand more'];

async function send(path: string, text: string, type?: string) {
  const draft = request(world.app).post(`/api/v1/${path}`).send(text);
  const typed = type === undefined ? draft.unset('Content-Type') : draft.set('Content-Type', type);
  return typed.ok(() => true);
}

const closed = contract.operations.filter(
  ({ body, credentials }) => body && facets(body).closed && credentials === 'account',
);

test.each(closed.map((operation) => [operation.id, operation] as const))(
  '%s reads JSON and forms that are sent as text, and refuses other texts',
  async (_, operation) => {
    const refused = async (body: string) => {
      const res = await fixture.send(operation, { body, headers: PLAIN });
      return [res.status, Object.keys(res.body.errors ?? {}).includes('no_such_field')];
    };
    const takesForms = operation.media_types.includes('application/x-www-form-urlencoded');
    expect(await refused('{"no_such_field":1}')).toEqual([422, true]);
    expect(await refused('no_such_field=1')).toEqual(takesForms ? [422, true] : [415, false]);
    expect(await refused(NEITHER[0]!)).toEqual([415, false]);
  },
);

describe.each([undefined, 'text/plain', 'text/plain;charset=UTF-8'])('a lead as %j', (type) => {
  const fields = () => ({
    lead_token: shop.schedule.lead_token,
    caller_id: fresh(),
    first_name: 'Ann & Co',
  });
  const expectLead = async (text: string) => {
    const { status, body } = await send('leads', text, type);
    expect([status, body.lead?.data]).toEqual([201, { first_name: 'Ann & Co' }]);
  };

  test('is taken as JSON, as a form, and as the lines of a form', async () => {
    await expectLead(JSON.stringify(fields()));
    await expectLead(` ${JSON.stringify(fields(), null, 2)}\n`);
    await expectLead(new URLSearchParams(fields()).toString());
    const lines = Object.entries(fields()).map(([name, value]) => `${name}=${value}\r\n`);
    await expectLead(lines.join(''));
  });

  test.each(NEITHER)('is refused as %j', async (text) => {
    const query = new URLSearchParams(fields()).toString();
    const { status, body } = await send(`leads?${query}`, text, type);
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('is taken from the query string if there is no body', async () => {
    const { status } = await send(`leads?${new URLSearchParams(fields()).toString()}`, '', type);
    expect(status).toBe(201);
  });
});

test.each(['application/xml', 'application/octet-stream', 'text/html'])(
  'a body of %s is refused where there is none too, and by GET',
  async (type) => {
    const query = `lead_token=${shop.schedule.lead_token}`;
    const opted = await send(`leads/${fresh()}/caller_opt_out?${query}`, '<a/>', type);
    expect(opted.status).toBe(415);
    const ping = await request(world.app)
      .get('/api/v1/inbound_webhooks/ping/nowhere?caller_id=3105550123')
      .set('Content-Type', type)
      .send('<a/>')
      .ok(() => true);
    expect(ping.status).toBe(415);
  },
);

test('a lead token in a text opts a lead out', async () => {
  const path = `leads/${fresh()}/caller_opt_out`;
  const { status } = await send(path, `lead_token=${shop.schedule.lead_token}`);
  expect(status).toBe(200);
});
