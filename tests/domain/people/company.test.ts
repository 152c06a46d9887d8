import { createMember } from '../../support/teams';
import { useWorld } from '../../support/use-world';

const world = useWorld({ fresh: 'world' });
const { api, ok } = world;

const shown = async () => (await ok('get', 'company')).company;
const put = (body: object, more: object = {}) => api('put', 'company', { body, ...more });

test('a new company contacts its own country, and lets lead tokens do everything', async () => {
  expect(await shown()).toMatchObject({
    id: Number(world.company.id),
    type: 'Company',
    name: 'Test Company',
    country: 'US',
    contact_countries: null,
    contact_prefixes: [],
    lead_token_powers: null,
  });
});

test('what is written can be read; what is omitted stays; null takes it back', async () => {
  const settings = {
    name: 'New name',
    country: 'GB',
    contact_countries: ['GB', 'IE'],
    contact_prefixes: ['44909'],
    lead_token_powers: ['submit', 'read'],
  };
  expect(
    (await put({ ...settings, contact_countries: ['GB', 'IE', 'GB'] })).body.company,
  ).toMatchObject(settings);
  expect((await put({ name: 'Newer' })).body.company).toMatchObject({ ...settings, name: 'Newer' });
  const none = { contact_countries: null, contact_prefixes: [], lead_token_powers: null };
  expect((await put(none)).body.company).toMatchObject(none);
  expect((await put({ lead_token_powers: [] })).body.company.lead_token_powers).toEqual([]);
  expect((await api('get', 'me')).body.me.company.name).toBe('Newer');
});

test.each([
  [{ country: 'xx' }, 'country'],
  [{ country: 'XX' }, 'country'],
  [{ country: null }, 'country'],
  [{ contact_countries: ['US', 'Canada'] }, 'contact_countries.1'],
  [{ contact_prefixes: ['+1900'] }, 'contact_prefixes.0'],
  [{ contact_prefixes: null }, 'contact_prefixes'],
  [{ lead_token_powers: ['everything'] }, 'lead_token_powers.0'],
  [{ name: '' }, 'name'],
  [{ id: 7 }, 'id'],
])('%j is refused, by field, and changes nothing', async (body, field) => {
  const before = await shown();
  const res = await put(body);
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  expect(await shown()).toEqual(before);
});

test('two changes of one state: the second is refused, and none is lost', async () => {
  const { checksum } = (await api('get', 'company')).body;
  const headers = { 'If-Match': checksum };
  const both = await Promise.all([
    put({ name: 'A' }, { headers }),
    put({ contact_countries: ['CA'] }, { headers }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  const { headers: shownHeaders } = await api('get', 'company');
  const second = await api('get', 'company', {
    headers: { 'If-None-Match': shownHeaders.etag! },
  });
  expect(second.status).toBe(304);
});

test('a change is in the change log, column by column', async () => {
  await put({ contact_countries: ['US', 'CA'] });
  const [entry] = (await api('get', 'change_logs')).body.change_logs;
  expect(entry).toMatchObject({
    record_type: 'Company',
    record_id: Number(world.company.id),
    action: 'update',
    operation: 'updateCompany',
    changes: { contact_countries: { from: null, to: ['US', 'CA'] } },
  });
});

test('needs its permissions, and a user who is limited to some records changes nothing', async () => {
  const reader = await world.credentials(world.company, ['company:read']);
  expect((await api('get', 'company', { auth: reader })).status).toBe(200);
  expect((await put({ name: 'X' }, { auth: reader })).status).toBe(403);
  const permissions = ['company:read', 'company:update'];
  const limited = await createMember(world.company, 'bob@example.com', { permissions });
  expect((await limited.api('get', 'company')).status).toBe(200);
  const res = await limited.api('put', 'company', { body: { name: 'X' } });
  expect([res.status, res.body.code]).toEqual([403, 'access_limited']);
});

test('other companies keep their own settings', async () => {
  const otherCompany = await world.addCompany('Other');
  await put({ name: 'Mine', contact_countries: ['CA'] });
  expect((await otherCompany.api('get', 'company')).body.company).toMatchObject({
    name: 'Other',
    contact_countries: null,
  });
});
