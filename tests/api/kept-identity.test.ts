import { contract } from '../../src/platform/contract/contract';
import { hasIdentity } from '../../src/api/records/kept-identity';
import { useWorld } from '../support/use-world';

// Identity that a record from another service keeps: superusers set it at creation.

const world = useWorld();
const { api } = world;
let superuser: string;

beforeAll(async () => {
  superuser = await world.credentials(world.company, [], { superuser: true });
});

const UUID = '018f3a00-0000-7000-8000-00000000';
const bodies: Record<string, object> = {
  buyers: { name: 'A', paused: false },
  buyer_groups: { name: 'A' },
  buyer_fleets: { name: 'A', user_fleet_id: 'a' },
  buyer_suppressions: { name: 'A' },
  offers: { name: 'A' },
  value_lists: { name: 'A' },
  agents: { user_email: 'agent-a@example.com' },
  inbound_webhooks: { name: 'A', vanity_uri: 'a-a', offer_id: 5_000_000 },
  outgoing_webhooks: { name: 'A', trigger_type: 'every_call', url: 'https://example.com' },
  traffic_sources: { name: 'A' },
  schedules: { name: 'A' },
  schedule_actions: { schedule_id: 5_000_000, action_type: 'sms', body: 'Hello' },
  call_centers: { name: 'A' },
  agent_statuses: { key: 'a', name: 'A' },
  dispositions: { key: 'a', name: 'A' },
  switches: { name: 'edge' },
  trunks: { name: 'line', host: 'sip.example.com' },
  users: { email: 'a@example.com', invite: false },
  access_control_lists: { name: 'A' },
  alert_rules: { name: 'A', kind: 'no_calls', minutes: 60 },
};
const resources = contract.operations
  .filter(hasIdentity)
  .map(({ path }) => path.split('/').at(-1)!);

test.each(resources)('%s keep id, uuid and time, and later ids lie beyond', async (resource) => {
  const n = resources.indexOf(resource);
  const identity = {
    legacy_id: 5_000_000,
    uuid: `${UUID}${1000 + n}`,
    created_at: '2020-01-02T03:04:05.000Z',
  };
  const request = { body: { ...bodies[resource], ...identity }, auth: superuser };
  const created = await api('post', resource, request);
  expect(created.status).toBe(201);
  const shown = await api('get', `${resource}/5000000`, { auth: superuser });
  const [record] = Object.values(shown.body as object).filter((value) => value?.uuid);
  expect(record).toMatchObject({ id: 5_000_000, legacy_id: 5_000_000, uuid: identity.uuid });
  expect(Date.parse(record.created_at)).toBe(Date.parse(identity.created_at));

  const otherKeys = { uuid: `${UUID}${2000 + n}`, ...buildUniqueFields(resource, 'b') };
  const conflict = await api('post', resource, {
    body: { ...request.body, ...otherKeys },
    auth: superuser,
  });
  expect(conflict.status).toBe(422);
  expect(conflict.body.errors).toHaveProperty('legacy_id');

  const next = await api('post', resource, {
    body: { ...bodies[resource], ...buildUniqueFields(resource, 'c') },
    auth: superuser,
  });
  const [later] = Object.values(next.body as object).filter((value) => value?.uuid);
  expect(later.id).toBeGreaterThan(5_100_000);
});

/** Other values for what must be unique. */
const buildUniqueFields = (resource: string, key: string): object =>
  Object.fromEntries(
    Object.entries({
      user_fleet_id: key,
      key,
      email: `${key}@example.com`,
      user_email: `agent-${key}@example.com`,
      vanity_uri: `a-${key}`,
      ...(['value_lists', 'switches', 'trunks'].includes(resource) && { name: key }),
    }).filter(([name]) => name in bodies[resource]!),
  );

test('an id far beyond the others is refused, and moves none', async () => {
  const post = (body: object) => api('post', 'offers', { body, auth: superuser });
  const before = (await post({ name: 'Before' })).body.offer.id as number;
  for (const legacyId of [before + 1_000_000_100, 1_000_000_000_000]) {
    const res = await post({ name: 'Far', legacy_id: legacyId });
    expect([res.status, res.body.error_codes]).toEqual([422, { legacy_id: ['limit_exceeded'] }]);
  }
  const after = (await post({ name: 'After' })).body.offer.id as number;
  expect(after).toBeLessThan(before + 100);
  expect((await post({ name: 'Near', legacy_id: after + 1_000_000_000 })).status).toBe(201);
});

test('of requests that name one id at once, one gets it', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      api('post', 'buyers', {
        body: { name: `Race ${n}`, legacy_id: 7_000_001 },
        auth: superuser,
      }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(422)]);
});

test('credentials of other callers are refused, on each field', async () => {
  const auth = await world.credentials(world.company, ['offers:create']);
  const body = { name: 'A', legacy_id: 3, lead_token: 'abcdefgh' };
  const refused = await api('post', 'offers', { body, auth });
  expect(refused.status).toBe(422);
  expect(Object.keys(refused.body.errors).sort()).toEqual(['lead_token', 'legacy_id']);
});

test('an offer keeps the lead token that landing pages know', async () => {
  const create = (name: string) =>
    api('post', 'offers', {
      body: { name, lead_token: 'a1b2c3d4e5f6' },
      auth: superuser,
    });
  expect((await create('A')).body.offer.lead_token).toBe('a1b2c3d4e5f6');
  const lead = await api('post', 'leads', {
    body: { lead_token: 'a1b2c3d4e5f6', caller_id: '+13105550123' },
    auth: null,
  });
  expect(lead.status).toBe(201);
  const conflict = await create('B');
  expect(conflict.status).toBe(422);
  expect(conflict.body.errors).toEqual({ lead_token: ['is not available; choose another'] });
});

test('that another company has a lead token is told like that somebody has it', async () => {
  const create = (auth: string) =>
    api('post', 'offers', { body: { name: 'A', lead_token: '5e6fa1b2c3d4' }, auth });
  const otherCompany = await world.addCompany();
  expect(
    (await create(await world.credentials(otherCompany, [], { superuser: true }))).status,
  ).toBe(201);
  const conflict = await create(superuser);
  expect([conflict.status, conflict.body.errors]).toEqual([
    422,
    { lead_token: ['is not available; choose another'] },
  ]);
});
