import request from 'supertest';
import { contract, facets, type Operation } from '../../../src/platform/contract/contract';
import { maskUrl } from '../../../src/api/log-url';
import { findStoredRecord } from '../../../src/api/records/stored-fields';
import { createFixture, type Fixture } from '../../support/example';
import { useWorld } from '../../support/use-world';
import { basic } from '../../support/world';

// Requests as real clients spell them, derived from openapi.yaml where that is possible.

const world = useWorld();
const { api, createRecord } = world;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const form = (path: string, body: string) => api('post', path, { body, headers: FORM });
const buyer = (fields: object) => createRecord('buyers', fields);

const updates = contract.operations.flatMap((operation) => {
  const record = findStoredRecord(operation);
  const field = record && 'external_record_id' in record.columns ? 'external_record_id' : 'name';
  return record ? [[operation.id, operation, record.root, field] as const] : [];
});

describe('fields of a PUT in the query string', () => {
  test.each(updates)('%s takes them without a body', async (_, operation, root, field) => {
    const query = { [field]: 'By query' };
    const res = await api('put', fixture.path(operation), { query });
    expect([res.status, res.body.errors, res.body[root][field]]).toEqual([200, {}, 'By query']);
  });

  test('come after those of the body, and are checked like these', async () => {
    const { id } = await buyer({ name: 'Before' });
    const both = await api('put', `buyers/${id}?name=Query&tier=4`, { body: { name: 'Body' } });
    expect(both.body.buyer).toMatchObject({ name: 'Body', tier: 4 });
    for (const field of ['timeout_seconds', 'no_such_field']) {
      const refused = await api('put', `buyers/${id}?${field}=3`);
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, [field]]);
    }
  });

  test('may be lists and objects in every spelling', async () => {
    const [a, b] = [await buyer({}), await buyer({})];
    const { id } = (await api('post', 'buyer_groups', { body: { name: 'g' } })).body.buyer_group;
    const put = async (query: string) =>
      (await api('put', `buyer_groups/${id}?${query}`)).body.buyer_group.buyer_ids;
    expect(await put(`buyer_ids=${a.id},${b.id}`)).toEqual([a.id, b.id]);
    expect(await put(`buyer_ids[]=${a.id}`)).toEqual([a.id]);
    expect(await put(`buyer_ids=[${a.id},${b.id}]`)).toEqual([a.id, b.id]);
    expect(await put('buyer_ids=')).toEqual([]);
  });

  test('may be all columns of a record as GET shows it', async () => {
    const { id, uuid, name, created_at, tier } = await buyer({ name: 'Shown' });
    const shown = { id, uuid, name, created_at, tier };
    const same = await api('put', `buyers/${id}`, { query: shown });
    expect([same.status, same.body.buyer.updated_at]).toEqual([200, created_at]);
    const changed = await api('put', `buyers/${id}`, { query: { ...shown, uuid: 'other' } });
    expect([changed.status, Object.keys(changed.body.errors)]).toEqual([422, ['uuid']]);
  });

  test('need the same permissions as in the body', async () => {
    const { id } = await buyer({});
    const auth = await world.credentials(world.company, ['buyers:update']);
    const res = await api('put', `buyers/${id}?current_conversion_revenue=9`, { auth });
    expect([res.status, Object.keys(res.body.errors ?? {})]).toEqual([
      422,
      ['current_conversion_revenue'],
    ]);
  });

  test('are no credentials: auth_token in the query is not a field', async () => {
    const { id } = await buyer({ name: 'Before' });
    const token = await world.credentials(world.company, ['buyers:update'], {
      kind: 'user_token',
      user_email: 'by-query@example.com',
    });
    const path = `buyers/${id}?name=After&auth_token=${token}`;
    const res = await api('put', path, { auth: null });
    expect([res.status, res.body.buyer?.name]).toEqual([200, 'After']);
  });
});

describe('multipart without a file', () => {
  const forms = contract.operations.filter(
    ({ media_types: types }) =>
      types.includes('application/json') && types.includes('application/x-www-form-urlencoded'),
  );

  test('is accepted wherever JSON and forms are', () => {
    const without = forms.filter(({ media_types }) => !media_types.includes('multipart/form-data'));
    expect(without.map(({ id }) => id)).toEqual([]);
    expect(forms.length).toBeGreaterThan(50);
  });

  test.each(updates)('%s takes its fields from it', async (_, operation, root, field) => {
    const options = { form: { [field]: 'By multipart' } };
    const res = await api('put', fixture.path(operation), options);
    expect([res.status, res.body.errors, res.body[root][field]]).toEqual([200, {}, 'By multipart']);
  });

  test('may hold lists and JSON', async () => {
    const [a, b] = [await buyer({}), await buyer({})];
    const hours = [{ attempt_hourly_limit: 2, schedule: [{ day: 1, times: ['00:00..23:59'] }] }];
    const group = await api('post', 'buyer_groups', {
      form: { name: 'g', buyer_ids: JSON.stringify([a.id, b.id]) },
    });
    expect(group.body.buyer_group.buyer_ids).toEqual([a.id, b.id]);
    const created = await api('post', 'buyers', {
      form: { name: 'b', business_hours_schedule: JSON.stringify(hours) },
    });
    expect(created.body.buyer.business_hours_schedule).toEqual(hours);
  });

  test('with a file that the operation does not take is refused', async () => {
    const res = await api('post', 'buyers', { form: { name: 'b', photo: Buffer.from('x') } });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['photo']]);
  });

  test('without credentials is not read', async () => {
    const res = await request(world.app).post('/api/v1/buyers').field('name', 'x'.repeat(200_000));
    expect(res.status).toBe(401);
  });
});

describe('JSON in a field of a form', () => {
  test('is a list where the field is one', async () => {
    const [a, b] = [await buyer({}), await buyer({})];
    const created = await form('buyer_groups', `name=g&buyer_ids=[${a.id}, "${b.uuid}"]`);
    expect(created.body.buyer_group.buyer_ids).toEqual([a.id, b.id]);
    const listed = await api('get', `buyers?ids=[${a.id},${b.id}]`);
    expect(listed.body.buyers.map(({ id }: { id: number }) => id)).toEqual([a.id, b.id]);
    const columns = await api('get', `buyers?columns=["id","name"]&ids=${a.id}`);
    expect(columns.body.buyers).toEqual([{ id: a.id, name: null }]);
  });

  test('is a list of texts, pairs and objects too', async () => {
    const hours = [{ schedule: [{ day: 1, times: ['09:00..17:00'] }] }];
    const fields = new URLSearchParams({
      record_token_filter_list: '["state:in CA,NV","age:>=18"]',
      record_token_additional_list: '["source:a","kind:x"]',
      business_hours_schedule: JSON.stringify(hours),
    });
    expect((await form('buyers', String(fields))).body.buyer).toMatchObject({
      record_token_filter_data: ['state:in CA,NV', 'age:>=18'],
      record_token_additional_data: ['source:a', 'kind:x'],
      business_hours_schedule: hours,
    });
  });

  test('names a record once, however often it is there', async () => {
    const a = await buyer({});
    const created = await form('buyer_groups', `name=g&buyer_ids=[${a.id},${a.id},"${a.uuid}"]`);
    expect(created.body.buyer_group.buyer_ids).toEqual([a.id]);
  });

  const list = (count: number, item: string) => `[${Array<string>(count).fill(item).join(',')}]`;
  test.each([
    ['a longer list than is allowed', 'buyer_ids', list(10_001, '1')],
    ['more values than are read', 'buyer_ids', list(60_000, '1')],
    ['what is nested too deep', 'business_hours_schedule', '['.repeat(40) + ']'.repeat(40)],
    ['text that cannot be stored', 'record_token_filter_list', '["a:\\u0000"]'],
  ])('with %s is refused', async (_, field, value) => {
    const path = field === 'buyer_ids' ? 'buyer_groups' : 'buyers';
    const res = await form(path, `name=g&${field}=${encodeURIComponent(value)}`);
    expect([res.status, Object.keys(res.body.errors).length]).toEqual([422, 1]);
    expect(res.text.length).toBeLessThan(2_000);
  });

  test('that is none is read as text', async () => {
    const res = await form('buyer_groups', 'name=g&buyer_ids=[1');
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['buyer_ids']]);
  });
});

const listQueryParameters = ({ parameters }: Operation) =>
  parameters.filter(({ in: location }) => location === 'query');
const reads = contract.operations.filter(
  ({ method, credentials, effect, id }) =>
    method === 'get' && credentials === 'account' && !effect && !id.startsWith('stream'),
);

/** Removes the times of a timeline, in which the next step is always due now. */
const removeTimes = (body: object): object =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === 'at' ? 0 : value)));

describe('blank filters', () => {
  const lists = reads.filter((operation) => listQueryParameters(operation).length > 0);
  test.each(lists.map((operation) => [operation.id, operation] as const))(
    '%s is the same with all of them blank as without any',
    async (_, operation) => {
      const path = fixture.path(operation);
      const blank = Object.fromEntries(
        listQueryParameters(operation).flatMap(({ name, schema }): [string, string][] =>
          facets(schema).types.has('array')
            ? ([
                [name, ''],
                [`${name}[]`, ''],
              ].slice(0, 1) as [string, string][])
            : [[name, '']],
        ),
      );
      const [without, all] = [await api('get', path), await api('get', path, { query: blank })];
      expect([all.status, removeTimes(all.body)]).toEqual([
        without.status,
        removeTimes(without.body),
      ]);
    },
  );

  test('in brackets are none either', async () => {
    const all = (await api('get', 'buyers')).body;
    expect((await api('get', 'buyers?ids[]=&columns[]=')).body).toEqual(all);
  });

  test('that are no filters of the list are refused, as filled in', async () => {
    const res = await api('get', 'buyers?no_such_filter=');
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['no_such_filter']]);
  });
});

describe('values of closed lists', () => {
  const words = (schema: Parameters<typeof facets>[0]) => [...facets(schema).words];

  test('are canonical in any case, where no two differ by case alone', () => {
    for (const [name, schema] of Object.entries(contract.document.components.schemas)) {
      const values = (schema.enum ?? []).filter((value) => typeof value === 'string');
      const lower = values.map((value) => value.toLowerCase());
      const distinct = values.filter(
        (_, n) => lower.indexOf(lower[n]!) === lower.lastIndexOf(lower[n]!),
      );
      expect([name, words(schema).map(([, word]) => word)]).toEqual([name, distinct]);
    }
  });

  const closed = reads.flatMap((operation) =>
    listQueryParameters(operation).flatMap(({ name, schema }) => {
      const word = words(schema).find(([, value]) => value !== '' && value !== 'csv')?.[1];
      return word ? [[`${operation.id}?${name}`, operation, name, word] as const] : [];
    }),
  );
  test.each(closed)('%s takes them in capitals', async (_, operation, name, word) => {
    const ask = (value: string) =>
      api('get', fixture.path(operation), { query: { [name]: value } });
    const exact = await ask(word);
    expect(exact.status).toBe(200);
    expect((await ask(word.toUpperCase())).body).toEqual(exact.body);
  });

  test('are answered as the contract has them', async () => {
    const created = await buyer({
      route_by_type: 'EPC',
      buyer_type: 'Voice_Bot',
      time_zone: 'eastern time (us & canada)',
    });
    expect(created).toMatchObject({
      route_by_type: 'epc',
      buyer_type: 'voice_bot',
      time_zone: 'Eastern Time (US & Canada)',
    });
    const group = { name: 'g', dial_buyers_type: 'SIMULTANEOUSLY', time_zone: 'america/new_york' };
    expect((await api('post', 'buyer_groups', { body: group })).body.buyer_group).toMatchObject({
      dial_buyers_type: 'simultaneously',
      time_zone: 'America/New_York',
    });
    const team = { name: 'Team', permissions: ['Buyers:READ'] };
    const { access_control_list } = (await api('post', 'access_control_lists', { body: team }))
      .body;
    expect(access_control_list.permissions).toEqual(['buyers:read']);
  });

  test('that are in no list are refused', async () => {
    const res = await api('post', 'buyers', { body: { route_by_type: 'EPCS' } });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['route_by_type']]);
  });
});

test('the log shows no personal value of a PUT that has its fields in the query string', () => {
  const operation = contract.operations.find(({ id }) => id === 'updateBuyer')!;
  expect(maskUrl('/api/v1/buyers/5?email=ann@example.com&paused=true', operation)).toBe(
    '/api/v1/buyers/5?email=***&paused=true',
  );
});

test('credentials of forms are not fields', async () => {
  const res = await request(world.app)
    .post('/api/v1/buyers')
    .set('Authorization', basic(world.company.auth))
    .field('name', 'By hand');
  expect([res.status, res.body.buyer.name]).toEqual([201, 'By hand']);
});
