import { contract, facets, type Operation } from '../../../src/platform/contract/contract';
import { compilePublicFields } from '../../../src/api/request/public-fields';
import { createFixture, type Fixture } from '../../support/example';
import { fresh } from '../../support/lead-records';
import { buildEndpoint } from '../../support/sellers';
import { useSubmissions } from '../../support/submissions';

// Forms, pixels and trackers send what was not filled in as blank, and the names of macros that
// they have not replaced.

const { world, api, shop, createLead, post } = useSubmissions();
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const MACROS = ['{{gclid}}', '{gclid}', '[gclid]', '%%gclid%%', '#gclid#', ' {{ gclid }} ', '${a}'];
const VALUES = ['[1,2]', '["a"]', '{"a":1}', '#1 choice', '100%', '50%% off', '[a] b', 'x {{y}}'];

const isPlain = ({ types, accepts, words, formats }: ReturnType<typeof facets>): boolean =>
  !types.has('null') &&
  !accepts.has('null') &&
  (types.has('number') || types.has('integer') || types.has('boolean') || words.size > 0) &&
  !types.has('array') &&
  !formats.has('binary');

/** Operations with fields that are a number, a word or a boolean, and need none. */
const cases = contract.operations.flatMap((operation) => {
  const { body, credentials } = operation;
  if (!body || credentials === 'carrier_signature' || operation.method === 'get') return [];
  const { properties } = facets(body);
  const names = Object.keys(properties).filter((name) => isPlain(facets(properties[name]!)));
  return names.length > 0 ? [[operation.id, operation, names] as const] : [];
});

test.each(cases)(
  '%s takes a blank number, word or boolean for none',
  async (_, operation, names) => {
    const blank = Object.fromEntries(names.map((name) => [name, '']));
    const { body } = await fixture.send(operation, { body: blank });
    for (const [name, codes] of Object.entries<string[]>(body.error_codes ?? {}))
      if (names.includes(name)) expect([name, codes]).toEqual([name, ['missing_field']]);
  },
);

const lists = contract.operations.flatMap((operation) => {
  const scalar = operation.parameters.find(
    ({ in: part, name, schema }) =>
      part === 'query' && !/_token$|_seconds$/.test(name) && facets(schema).types.has('integer'),
  );
  return operation.credentials === 'account' && scalar
    ? [[operation.id, operation, scalar.name] as const]
    : [];
});

test.each(lists)('%s takes the filled one of two parameters', async (_, operation, name) => {
  const path = `${fixture.path(operation)}?${name}=&${name}=x`;
  const { body } = await fixture.send(operation, { path });
  expect(body.errors?.[name] ?? []).toEqual([expect.stringMatching(/digits|record|number|id/)]);
});

describe('a lead', () => {
  test('has the number of phone where caller_id is blank, and of the filled one of two', async () => {
    for (const query of ['caller_id=&phone=N', 'caller_id=%20&phone=N', 'caller_id=&caller_id=N']) {
      const number = fresh();
      const path = `leads?lead_token=${shop.schedule.lead_token}&${query.replace('N', number)}`;
      const { status, body } = await api('post', path, { auth: null });
      expect([status, body.lead.caller_id, body.warnings]).toEqual([201, `+1${number}`, {}]);
    }
  });

  test('keeps what it has where the same is sent blank', async () => {
    const { lead } = await createLead({ email: 'ann@example.com', hours_to_expire: 5 });
    const blank = { email: '', hours_to_expire: '', update_only: '', lead_priority: ' ' };
    const { status, body } = await post({ caller_id: lead.caller_id, ...blank });
    expect([status, body.warnings]).toEqual([200, {}]);
    const now = (await api('get', `leads/${body.id}`)).body.lead;
    expect([now.email, now.hours_to_expire]).toEqual(['ann@example.com', 5]);
  });

  test.each(MACROS)('takes %j for blank, with a warning', async (macro) => {
    const data = { first_name: macro, state: 'CA' };
    const { id, warnings } = await createLead({ sub_id: macro, gclid: macro, data });
    expect(Object.keys(warnings).toSorted()).toEqual(['first_name', 'gclid', 'sub_id']);
    const { lead } = (await api('get', `leads/${id}`)).body;
    expect([lead.sub_id, lead.data]).toEqual([null, { state: 'CA' }]);
  });

  test('takes a macro in the JSON of data for blank, and phone where caller_id is a macro', async () => {
    const number = fresh();
    const fields = { caller_id: '{{phone}}', phone: number, data: '{"a":"[b]","c":"d"}' };
    const { lead, warnings } = await createLead(fields);
    expect([lead.caller_id, lead.data]).toEqual([`+1${number}`, { phone: number, c: 'd' }]);
    expect(Object.keys(warnings).toSorted()).toEqual(['a', 'caller_id']);
  });

  test('has macros under names that cannot be stored, or are deep inside', async () => {
    const odd = { 'a\0b': '{x}', ['__proto__']: '{y}', ['n'.repeat(300)]: '[z]' };
    expect((await post(odd)).status).toBe(201);
    const token = `"lead_token":"${shop.schedule.lead_token}","caller_id":"${fresh()}"`;
    const body = `{${token},"data":${'{"data":'.repeat(5_000)}1${'}'.repeat(5_001)}`;
    const headers = { 'Content-Type': 'application/json' };
    expect((await api('post', 'leads', { auth: null, body, headers })).status).toBe(422);
  });

  test.each(VALUES)('keeps %j', async (value) => {
    const { lead, warnings } = await createLead({ note: value });
    expect([lead.data, warnings]).toEqual([{ note: value }, {}]);
  });
});

describe('a postback', () => {
  const startCall = async (): Promise<string> => {
    const offerId = await world.create('offers', { name: 'O' });
    const call = { offer_id: offerId, caller_number: `+1${fresh()}` };
    return (await world.ok('post', 'call_sessions', call)).call_session.id;
  };

  test.each(['', '/update_call'])('of calls/:id%s has no amount where it is blank', async (end) => {
    const id = await startCall();
    const blank = 'revenue=&payout=&buyer_converted=&add_revenue=&hang_up=';
    for (const query of [blank, `${blank}&revenue=&revenue=`]) {
      const { status, body } = await api('post', `calls/${id}${end}?${query}`);
      expect([status, body.call?.payout, body.warnings]).toEqual([200, 0, {}]);
    }
    const set = await api('post', `calls/${id}${end}?payout=&payout=3`);
    expect([set.status, set.body.call.payout]).toEqual([200, 3]);
    const nulls = { revenue: null, payout: null, buyer_converted: null };
    const none = await api('post', `calls/${id}${end}`, { body: nulls });
    expect([none.status, none.body.call.payout]).toEqual([200, 3]);
  });

  test('takes macros for blank, with a warning, and says them in prose', async () => {
    const id = await startCall();
    const body = { payout: '[payout]', sale: '{sale}', description: '{{note}}' };
    const res = await api('post', `calls/${id}/update_call`, { body });
    expect([res.status, res.body.call.payout, Object.keys(res.body.warnings)]).toEqual([
      200,
      0,
      ['payout', 'sale'],
    ]);
    expect(res.body.call.token_values).not.toHaveProperty('sale');
  });
});

test.each(['ping', 'post', 'full'])('a %s takes macros for blank, with a warning', async (kind) => {
  const offerId = await world.create('offers', { name: 'O' });
  const { vanity_uri } = await world.createRecord(
    'inbound_webhooks',
    buildEndpoint({ offer_id: offerId }),
  );
  const send = (method: 'get' | 'post', more: object) =>
    api(method, `inbound_webhooks/${kind}/${vanity_uri}`, { auth: null, ...more });
  const fields = { caller_id: '', phone: '3105550123', sub_id: '{{sub}}', zip: '%%zip%%' };
  const warnings = [/^sub_id .*placeholder/, /^zip .*placeholder/].map((text) =>
    expect.stringMatching(text),
  );
  for (const answer of [
    await send('get', { query: fields }),
    await send('post', { body: fields }),
  ]) {
    const { status, body } = answer;
    expect([status, body.status, body.warnings]).toEqual([200, 'no_buyer_available', warnings]);
  }
});

test('a field is looked at only where strangers send it', () => {
  const isRead = (operation: Operation) => compilePublicFields(operation) !== undefined;
  const ids = contract.operations.filter(isRead).map(({ id }) => id);
  expect(ids).toEqual(
    expect.arrayContaining(['submitLead', 'updateCallByUuid', 'receiveTextMessage']),
  );
  for (const id of ['showMe', 'listLeads', 'createBuyer', 'receiveSms'])
    expect(ids).not.toContain(id);
});
