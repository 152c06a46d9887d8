import type { Fields } from '../../support/records';
import { useWorld } from '../../support/use-world';

// Clients read a record, change something, and send all of it back.

const { api, createRecord } = useWorld();

const buyer = (fields: Fields) => createRecord('buyers', fields);

test('what was changed is written, and nothing else', async () => {
  const shown = await buyer({ name: 'Before', tier: 3, record_token_filter_list: ['state:CA'] });
  const res = await api('put', `buyers/${shown.id}`, {
    body: { ...shown, name: 'After', time_zone: 'america/denver' },
  });
  expect(res.body.buyer).toEqual({
    ...shown,
    name: 'After',
    context_menu_name: 'After',
    time_zone: 'America/Denver',
    updated_at: res.body.buyer.updated_at,
    user_updated_at: res.body.buyer.user_updated_at,
  });
  const [change] = (await api('get', 'change_logs?per_page=1&order_dir=desc')).body.change_logs;
  expect(Object.keys(change.changes).toSorted()).toEqual(['name', 'time_zone']);
});

test('lists that are read as arrays are written as arrays, under the names that are read', async () => {
  const shown = await buyer({ current_conversion_revenue: 5, current_conversion_duration: 10 });
  const lists = {
    record_token_filter_data: ['state:in CA,NV', 'age:>=18'],
    record_token_additional_data: ['source:a,b', 'kind:x'],
    token_values: ['city:Reno'],
    attribution_token_values: ['paid:yes'],
    business_hours_schedule: [{ schedule: [{ day: 1, times: ['09:00..17:00'] }] }],
  };
  const res = await api('put', `buyers/${shown.id}`, { body: { ...shown, ...lists } });
  expect([res.status, res.body.buyer]).toEqual([200, expect.objectContaining(lists)]);
  const updated = await api('put', `buyers/${shown.id}`, {
    body: { record_token_additional_list: ['kind:y'] },
  });
  expect(updated.body.buyer.record_token_additional_data).toEqual(['kind:y']);
});

test('a group takes its limit of concurrency by either name', async () => {
  const group = await createRecord('buyer_groups', {
    name: 'g',
    concurrency_cap_limit: 4,
  });
  expect(group.concurrency_cap_limit).toBe(4);
  const limitAfter = async (body: object) =>
    (await api('put', `buyer_groups/${group.id}`, { body })).body.buyer_group.concurrency_cap_limit;
  expect(await limitAfter({ concurrency_cap: 5 })).toBe(5);
  expect(await limitAfter({ concurrency_cap_limit: 6 })).toBe(6);
  const shown = (await api('get', `buyer_groups/${group.id}`)).body.buyer_group;
  expect(await limitAfter({ ...shown, concurrency_cap_limit: 7 })).toBe(7);
  expect(await limitAfter({ concurrency_cap_limit: null })).toBeNull();
  expect(await limitAfter({ concurrency_cap: 8, concurrency_cap_limit: 8 })).toBe(8);
  const body = { concurrency_cap: 8, concurrency_cap_limit: 9 };
  const unclear = await api('put', `buyer_groups/${group.id}`, { body });
  expect([unclear.status, Object.keys(unclear.body.errors)]).toEqual([
    422,
    ['concurrency_cap_limit'],
  ]);
});

test('If-Match is asked also where nothing changes', async () => {
  const { id } = await buyer({ name: 'Matched' });
  const etag = (await api('get', `buyers/${id}`)).headers.etag!;
  const put = async (tag: string) =>
    (await api('put', `buyers/${id}`, { body: {}, headers: { 'If-Match': tag } })).status;
  expect([await put(etag), await put('"0"'), await put('*')]).toEqual([200, 412, 200]);
});

test('a record that does not exist is 404, also with nothing to change', async () => {
  expect((await api('put', 'buyers/999999', { body: {} })).status).toBe(404);
  expect((await api('put', 'buyers/999999', { body: { id: 1, name: 'x' } })).status).toBe(404);
});

test('every column that is refused is named at once, and nothing is written', async () => {
  const shown = await buyer({ name: 'Kept' });
  const res = await api('put', `buyers/${shown.id}`, {
    body: { ...shown, name: 'Lost', uuid: 'x', created_at: '2001-01-01', buyer_group_ids: [7] },
  });
  expect([res.status, Object.keys(res.body.errors).toSorted()]).toEqual([
    422,
    ['buyer_group_ids', 'created_at', 'uuid'],
  ]);
  expect((await api('get', `buyers/${shown.id}`)).body.buyer.name).toBe('Kept');
});

test('long texts that differ are not taken for equal', async () => {
  const shown = await createRecord('traffic_sources', {
    name: 'Long',
    description: 'a'.repeat(4_000),
  });
  const body = { ...shown, description: 'a'.repeat(3_999) + 'b' };
  const res = await api('put', `traffic_sources/${shown.id}`, { body });
  expect(res.body.traffic_source.description).toBe(body.description);
});

test('what a limited user cannot see is not cleared by sending the record back', async () => {
  const [ownBuyer, otherBuyer] = [await buyer({ name: 'Own' }), await buyer({ name: 'Other' })];
  const group = await createRecord('buyer_groups', {
    name: 'g',
    buyer_ids: [ownBuyer.id, otherBuyer.id],
  });
  const email = 'limited@example.com';
  await api('post', 'access_control_lists', {
    body: {
      name: 'Limited',
      users_emails: [email],
      permissions: ['buyer_groups:read', 'buyer_groups:update', 'buyers:read'],
      buyer_ids: [ownBuyer.id],
      buyer_group_ids: [group.id],
    },
  });
  const token = (
    await api('post', 'access_tokens', {
      body: { name: 't', kind: 'user_token', user_email: email, superuser: false },
    })
  ).body.token;
  expect(token).toEqual(expect.any(String));
  const auth = { headers: { Authorization: `Token ${token}` }, auth: null };
  const shown = (await api('get', `buyer_groups/${group.id}`, auth)).body.buyer_group;
  const res = await api('put', `buyer_groups/${group.id}`, { ...auth, body: shown });
  expect([res.status, res.body.errors]).toEqual([200, {}]);
  const whole = (await api('get', `buyer_groups/${group.id}`)).body.buyer_group;
  expect(whole).toEqual({ ...group, ...whole, buyer_ids: group.buyer_ids });
});
