import { contract, facets } from '../../../src/platform/contract/contract';
import { compilePublicFields } from '../../../src/api/request/public-fields';
import { fresh } from '../../support/lead-records';
import { buildEndpoint } from '../../support/sellers';
import { useSubmissions } from '../../support/submissions';

// Software of others writes the names of fields its own way.

const { world, api, shop } = useSubmissions();

const SPELLINGS: ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.replace(/(^|_)[a-z]/g, (start) => start.toUpperCase()),
  (name) => name.replaceAll('_', '-'),
  (name) => name.replaceAll('_', ' '),
  (name) => name.toUpperCase().replaceAll('_', '.'),
  (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
];

const doors = contract.operations.flatMap((operation) => {
  const read = compilePublicFields(operation);
  const inBody = operation.body ? Object.keys(facets(operation.body).properties) : [];
  const inQuery = operation.parameters.flatMap(({ in: part, name }) =>
    part === 'query' ? name : [],
  );
  const names = [...inBody, ...inQuery];
  return read && names.length > 0 ? [[operation.id, read, names] as const] : [];
});

test.each(doors)('%s knows its fields in every spelling', (_, read, names) => {
  for (const spell of SPELLINGS) {
    const fields = Object.fromEntries(names.map((name) => [spell(name), 'x']));
    expect(read(fields, {})).toEqual(Object.fromEntries(names.map((name) => [name, 'x'])));
  }
});

test.each(doors)(
  '%s prefers a field under its own name, and then the filled one',
  (_, read, names) => {
    for (const name of names) {
      const other = name.toUpperCase();
      expect(read({ [other]: 'b', [name]: 'a' }, {})).toEqual({ [name]: 'a', [other]: 'b' });
      expect(read({ [name]: '', [other]: 'b' }, {})).toEqual({ [name]: 'b' });
    }
  },
);

test('plain fields are not copied', () => {
  const data = { zip: '90012', tags: ['a', 'b'] };
  const fields = { caller_id: '3105550123', email: 'ann@example.com', state: 'CA', data };
  for (const [, read] of doors) expect(read(fields, {})).toBe(fields);
});

test('a lead by form, query string and data', async () => {
  for (const isQuery of [true, false]) {
    const number = fresh();
    const fields = {
      'Lead-Token': shop.schedule.lead_token,
      'CALLER-ID': number,
      Email: 'ann@example.com',
      'Sub Id': 'ad-7',
      'First Name': 'Ann',
      DATA: JSON.stringify({ Hours_To_Expire: 5, Color: 'red' }),
    };
    const request = isQuery ? { query: fields } : { body: fields };
    const { status, body } = await api('post', 'leads', { auth: null, ...request });
    expect([status, body.warnings]).toEqual([201, {}]);
    const { lead } = (await api('get', `leads/${body.id}`)).body;
    expect(lead).toMatchObject({
      caller_id: `+1${number}`,
      email: 'ann@example.com',
      sub_id: 'ad-7',
      hours_to_expire: 5,
      data: { first_name: 'Ann', color: 'red' },
    });
  }
});

test('an opt-out by GET, and a text message', async () => {
  const query = { 'Lead-Token': shop.schedule.lead_token, SERIALIZER: 'Lead_Grid' };
  const opted = await api('get', `leads/${fresh()}/caller_opt_out`, { auth: null, query });
  expect(opted.status).toBe(200);
  const text = { From: `+1${fresh()}`, To: shop.number, Body: 'Hello {{there}}' };
  const received = await api('post', 'text_messages/receive', { body: text });
  expect([received.status, received.body.text_message?.body]).toEqual([201, text.Body]);
});

test('a postback and a ping', async () => {
  const offerId = await world.create('offers', { name: 'O' });
  const call = { offer_id: offerId, caller_number: `+1${fresh()}` };
  const { id } = (await world.ok('post', 'call_sessions', call)).call_session;
  for (const [path, query] of [
    [`calls/${id}`, { PAYOUT: 2 }],
    [`calls/${id}/update_call`, { Payout: 3, 'Adjustment-Reason': 'x' }],
  ] as const) {
    const { status, body } = await api('post', path, { query });
    expect([status, body.call?.payout]).toEqual([200, Object.values(query)[0]]);
  }
  const endpoint = await api('post', 'inbound_webhooks', {
    body: { ...buildEndpoint({ offer_id: offerId }), has_auth_token: true },
  });
  const { vanity_uri } = endpoint.body.inbound_webhook;
  const ping = await api('get', `inbound_webhooks/ping/${vanity_uri}`, {
    auth: null,
    query: { 'Auth-Token': endpoint.body.auth_token, 'Caller.Id': '3105550123' },
  });
  expect([ping.status, ping.body.status]).toEqual([200, 'no_buyer_available']);
});
