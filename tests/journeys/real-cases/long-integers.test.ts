import { hasLongInteger, parseJson } from '../../../src/api/request/well-formed';
import { fresh } from '../../support/lead-records';
import { buildEndpoint } from '../../support/sellers';
import { useSubmissions } from '../../support/submissions';

// Ids of ad networks have up to twenty digits. As a number of JavaScript, they would be another.

const { api, world, shop } = useSubmissions();
const AD = '23842571233450123456';
const JSON_BODY = { 'Content-Type': 'application/json' };

test.each([
  [`{"a":${AD}}`, { a: AD }],
  [`{"a":-${AD}}`, { a: `-${AD}` }],
  [`[${AD},1]`, [AD, 1]],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '9007199254740993'],
  [`{"a":"${AD}","b":"\\"${AD}"}`, { a: AD, b: `"${AD}` }],
  [`{"\\\\":${AD},"${AD}":1}`, { '\\': AD, [AD]: 1 }],
  [`{"a":"x${AD}y: ${AD},"}`, { a: `x${AD}y: ${AD},` }],
  ['1.2345678901234567', 1.2345678901234567],
  ['12345678901234567e3', 12345678901234567e3],
  ['12345678901234567.5', 12345678901234567.5],
])('%s keeps its digits, and nothing else changes', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

test.each([`{${AD}:1}`, `0${AD}`, `[${AD}`, `{"a":${AD}x}`])('%s is no JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('sixteen digits are found wherever they are', () => {
  for (let before = 0; before < 40; before++)
    for (let digits = 1; digits < 40; digits++) {
      const text = `${'x'.repeat(before)}${'7'.repeat(digits)}${'y'.repeat(before % 7)}`;
      expect([text, hasLongInteger(Buffer.from(text))]).toEqual([text, digits >= 16]);
    }
});

test('a body of 900 kB is parsed in no time that depends on what is in its texts', () => {
  const text = JSON.stringify({ a: '\\"'.repeat(200_000), b: 'x'.repeat(500_000) });
  expect(parseJson(text.replace('}', `,"c":${AD}}`))).toMatchObject({ c: AD });
});

test('tokens of leads, as JSON, as JSON in a form, and without a type', async () => {
  const token = `"lead_token":"${shop.schedule.lead_token}"`;
  for (const headers of [JSON_BODY, { 'Content-Type': 'text/plain' }]) {
    const body = `{${token},"caller_id":"${fresh()}","sub_id":${AD},"ad_id":${AD},"data":{"x":[${AD}]}}`;
    const { status, body: answer } = await api('post', 'leads', { auth: null, body, headers });
    expect([status, answer.warnings, answer.lead.data]).toEqual([201, {}, { ad_id: AD, x: [AD] }]);
    expect((await api('get', `leads/${answer.id}`)).body.lead.sub_id).toBe(AD);
  }
  const query = { lead_token: shop.schedule.lead_token, caller_id: fresh(), data: `{"ad":${AD}}` };
  expect((await api('post', 'leads', { auth: null, query })).body.lead.data).toEqual({ ad: AD });
});

test('tokens of calls, and labels of pings', async () => {
  const offerId = await world.create('offers', { name: 'O' });
  const call = `{"offer_id":${offerId},"caller_number":"+1${fresh()}","tokens":{"a":${AD}}}`;
  const start = await api('post', 'call_sessions', { body: call, headers: JSON_BODY });
  const { id } = start.body.call_session;
  const body = `{"post_call_tokens":{"b":${AD}},"data":{"c":${AD}},"d":${AD}}`;
  const updated = await api('post', `calls/${id}/update_call`, { body, headers: JSON_BODY });
  expect(updated.body.call.token_values).toEqual({ a: AD, b: AD, c: AD, d: AD });
  const { vanity_uri } = await world.createRecord(
    'inbound_webhooks',
    buildEndpoint({ offer_id: offerId }),
  );
  const ping = await api('post', `inbound_webhooks/ping/${vanity_uri}`, {
    auth: null,
    body: `{"caller_id":"3105550123","sub_id":${AD}}`,
    headers: JSON_BODY,
  });
  expect(ping.status).toBe(200);
});

test('a number that is too large for its field is refused', async () => {
  const body = `{"name":"B","tier":${AD}}`;
  const { status, body: answer } = await api('post', 'buyers', { body, headers: JSON_BODY });
  expect([status, Object.keys(answer.errors)]).toEqual([422, ['tier']]);
});
