import { contract } from '../../../src/platform/contract/contract';
import { WHOLE_CONDITIONS } from '../../../src/data/access/conditions';
import { recordsInPath } from '../../../src/api/access/visible-references';
import { createFixture, type Fixture } from '../../support/example';
import { SCOPES } from '../../support/partner';
import { createMember, type Member } from '../../support/teams';
import { useWorld } from '../../support/use-world';
import type { Api } from '../../support/world';

// A limited user changes nothing that is the whole company's, and nothing that others use too,
// unless a team says so.

const world = useWorld();
const { api, create, createRecord, createRecords } = world;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const writes = contract.operations.filter(
  ({ method, credentials, unlimited, scope }) =>
    method !== 'get' && credentials === 'account' && !unlimited && !scope!.endsWith(':read'),
);
const companyWide = writes.filter((operation) => operation.company_wide);

/** Writes of what belongs to a caller's own records, or to the caller. */
const OWN_OPERATIONS = [
  'createBuyer',
  'updateBuyer',
  'deleteBuyer',
  'createBuyerGroup',
  'updateBuyerGroup',
  'deleteBuyerGroup',
  'createOffer', // a new one
  'createPhoneNumber', // a new one
  'importPhoneNumbers', // new ones, by superusers
  'createAgent', // a new one
  'createAgentMessage', // a new one
  'captureLead', // company-wide fields need a permission
  'updateLead',
  'deleteLead',
  'sendKeyPress',
  'updateCall',
  'updateCallByUuid',
  'updateCallByUuidByPut',
  'createOutgoingWebhook',
  'updateOutgoingWebhook',
  'deleteOutgoingWebhook',
  'rotateOutgoingWebhookSecret',
  'redeliverWebhookLog',
  'redeliverFailedEvents',
  'createWebhookManualFire',
  'createInboundWebhook',
  'updateInboundWebhook',
  'deleteInboundWebhook',
  'createAccessToken',
  'revokeAccessToken',
  'createStatement', // sums up what the caller sees
  'revokeTrafficSourceToken',
];

test('every write is known to change own, shared or company-wide records', () => {
  const ownWrites = writes.filter(
    (operation) => !operation.company_wide && !operation.shared.length,
  );
  expect(ownWrites.map(({ id }) => id as string).toSorted()).toEqual(OWN_OPERATIONS.toSorted());
  expect(companyWide.length).toBeGreaterThan(8);
});

/** Tables with rows that other users use too. */
const SHARED_TABLES = Object.keys(WHOLE_CONDITIONS);
const inPath = writes.flatMap((operation) => {
  const id = Object.fromEntries([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, n]) => [n, 1]));
  return recordsInPath(operation.path, id).map((record) => ({ operation, ...record }));
});

test('a write of a record that others may use too is refused where they do', () => {
  const unmarked = inPath.filter(
    ({ operation: { company_wide: isMarked, shared }, table, field }) =>
      SHARED_TABLES.includes(table) && !isMarked && !shared.includes(field),
  );
  expect(unmarked.map(({ operation }) => operation.id)).toEqual([]);
  expect(inPath.length).toBeGreaterThan(30);
});

test('a record in a path that is marked as shared has a condition for whose it is', () => {
  const marked = inPath.filter(({ operation, field }) => operation.shared.includes(field));
  expect(marked.filter(({ table }) => !SHARED_TABLES.includes(table))).toEqual([]);
  expect(marked.length).toBeGreaterThan(15);
});

test.each(companyWide.map((operation) => [operation.id, operation] as const))(
  '%s needs company_wide:update from a limited user',
  async (id, operation) => {
    const limited = (permissions: string[], name: string) =>
      createMember(world.company, `${name}-${id.toLowerCase()}@example.com`, { permissions });
    const without = await limited(
      SCOPES.filter((scope) => scope !== 'company_wide:update'),
      'without',
    );
    const refused = await fixture.send(operation, {}, without.api);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      expect.stringContaining('company_wide:update'),
    ]);
    const permitted = await limited([operation.scope!, 'company_wide:update'], 'with');
    const path = operation.path.replace(/\{id\}/, '999999999');
    const res = await permitted.api(operation.method, path, { body: {} });
    expect([404, 422]).toContain(res.status);
  },
);

/** A limited user with a record that others use too, and one that is the user's alone. */
const createScene = async (permissions: string[]) => {
  const { mine, rival, offer } = await createRecords({
    buyers: { mine: {}, rival: {} },
    offers: { offer: { buyer_ids: ['mine', 'rival'] } },
  });
  const user = await createMember(world.company, `shared${++digits}@example.com`, {
    permissions,
    buyer_ids: [mine],
    offer_ids: [offer],
  });
  const createList = (buyerIds: number[]) =>
    create('buyer_suppressions', { name: 'Do not call', buyer_ids: buyerIds });
  const number = async (offerId: number | null, buyerId: number | null) =>
    Number(
      (
        await world.sql<{ id: string }>(
          `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, offer_id, buyer_id)
          VALUES ($1, gen_random_uuid(), $4, 'US', 'sandbox', $2, $3) RETURNING id`,
          [world.company.id, offerId, buyerId, `1646555${String(++digits).padStart(4, '0')}`],
        )
      )[0]!.id,
    );
  return {
    user,
    offer,
    shared_list: await createList([mine, rival]),
    own_list: await createList([mine]),
    shared_number: await number(offer, null),
    own_number: await number(null, mine),
    mine,
  };
};
let digits = 0;
const LIMITED_SCOPES = SCOPES.filter((scope) => scope !== 'company_wide:update');
const block = { caller_ids: ['+13105550155'] };

test('a do-not-call list that others use is not changed; an own one is', async () => {
  const { user, shared_list, own_list, offer } = await createScene(LIMITED_SCOPES);
  const numbers = (id: number) =>
    user.api('post', `buyer_suppressions/${id}/caller_block`, { body: block });
  const rename = (id: number) =>
    user.api('put', `buyer_suppressions/${id}`, { body: { name: 'Changed' } });
  expect([(await numbers(shared_list)).status, (await rename(shared_list)).status]).toEqual([
    403, 403,
  ]);
  expect([(await numbers(own_list)).status, (await rename(own_list)).status]).toEqual([200, 200]);
  const upload = (id: number) =>
    user.api('post', 'buyer_suppression_files', {
      form: { buyer_suppression_id: String(id), import_file: Buffer.from('caller_id\n') },
    });
  expect([(await upload(shared_list)).status, (await upload(own_list)).status]).toEqual([403, 201]);
  const attached = await user.api('post', 'buyer_suppressions', {
    body: { name: 'On the offer', offer_ids: [offer] },
  });
  expect(attached.status).toBe(403);
  const blocked = await world.sql(
    'SELECT FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1',
    [shared_list],
  );
  expect(blocked).toEqual([]);
});

test('an offer, a schedule, a number that others use are neither changed nor deleted', async () => {
  const { user, offer, shared_number, own_number } = await createScene(LIMITED_SCOPES);
  const status = async (method: 'put' | 'post' | 'delete', path: string, body?: object) =>
    (await user.api(method, path, body && { body })).status;
  const schedule = await createRecord('schedules', { name: 'S', offer_id: offer });
  const action = { schedule_id: schedule.id, action_type: 'exit' };
  expect([
    await status('put', `offers/${offer}`, { name: 'Mine now' }),
    await status('delete', `offers/${offer}`),
    await status('post', 'schedules', { name: 'Mine', offer_id: offer }),
    await status('put', `schedules/${schedule.id}`, { paused: true }),
    await status('delete', `schedules/${schedule.id}`),
    await status('post', 'schedule_actions', action),
    await status('put', `phone_numbers/${shared_number}`, { name: 'Mine' }),
    await status('delete', `phone_numbers/${shared_number}`),
    await status('put', `phone_numbers/${own_number}`, { name: 'Mine' }),
  ]).toEqual([403, 403, 403, 403, 403, 403, 403, 403, 200]);
});

test('a team may say so: with company_wide:update they are', async () => {
  const { user, shared_list, offer } = await createScene(SCOPES);
  const blocked = await user.api('post', `buyer_suppressions/${shared_list}/caller_block`, {
    body: block,
  });
  const renamed = await user.api('put', `offers/${offer}`, { body: { name: 'Renamed' } });
  expect([blocked.status, renamed.status]).toEqual([200, 200]);
});

describe('agents and messages', () => {
  const PERMISSIONS = SCOPES.filter((scope) => /^agent(s|_messages):/.test(scope));
  const email = () => `agent-${++digits}@example.com`;
  const createAgent = (userEmail: string, buyerIds: number[]) =>
    create('agents', { name: 'Agent', user_email: userEmail, buyer_ids: buyerIds });
  /** A limited user with a buyer, and a rival of theirs. */
  const createPartners = async (more: string[] = []) => {
    const { own, rival } = await createRecords({ buyers: { own: {}, rival: {} } });
    const of = { permissions: [...PERMISSIONS, ...more] };
    const user = await createMember(world.company, email(), { ...of, buyer_ids: [own] });
    const other = await createMember(world.company, email(), { ...of, buyer_ids: [rival] });
    return { user, other, own, rival };
  };
  const shown = async (path: string, root: string) => (await api('get', path)).body[root];
  /** The statuses of all writes of an agent, the last of which deletes it. */
  const writeAgent = async (api: Api, agent: number, buyerIds: number[]) => [
    (await api('put', `agents/${agent}`, { body: { name: 'Changed', buyer_ids: buyerIds } }))
      .status,
    (await api('put', `agents/${agent}/status`, { body: { key: 'available' } })).status,
    (await api('delete', `agents/${agent}`)).status,
  ];
  const writeMessage = async ({ api }: Member, id: number) => [
    (await api('put', `agent_messages/${id}`, { body: { content: 'Hang up' } })).status,
    (await api('delete', `agent_messages/${id}`)).status,
  ];

  test('an agent with buyers of others is not taken from them, stopped or deleted', async () => {
    const { user, own, rival } = await createPartners();
    const agent = await createAgent(email(), [own, rival]);
    const before = await shown(`agents/${agent}`, 'agent');
    expect(await writeAgent(user.api, agent, [own])).toEqual([403, 403, 403]);
    expect(await shown(`agents/${agent}`, 'agent')).toEqual(before);
    expect(before.buyer_ids).toEqual([own, rival]);
  });

  test('nor is one whose user is in a team of others', async () => {
    const { user, other, own } = await createPartners();
    const agent = await createAgent(other.email, [own]);
    expect(await writeAgent(user.api, agent, [])).toEqual([403, 403, 403]);
    expect(await writeAgent(other.api, agent, [])).toEqual([200, 200, 200]);
  });

  test('one that nobody else uses is changed, and so is the own one, whose buyers stay', async () => {
    const { user, own, rival } = await createPartners();
    expect(await writeAgent(user.api, await createAgent(email(), [own]), [own])).toEqual([
      200, 200, 200,
    ]);
    const self = await createAgent(user.email, [own, rival]);
    const body = { key: 'available' };
    expect((await user.api('put', `agents/${self}/status`, { body })).status).toBe(200);
    await user.api('put', `agents/${self}`, { body: { buyer_ids: [] } });
    expect((await shown(`agents/${self}`, 'agent')).buyer_ids).toEqual([rival]);
  });

  test('a team with company_wide:update changes agents and messages of others too', async () => {
    const { user, own, rival } = await createPartners(['company_wide:update']);
    const agent = await createAgent(email(), [own, rival]);
    expect(await writeAgent(user.api, agent, [own])).toEqual([200, 200, 200]);
    await createAgent(user.email, [own]);
    const { id } = await createRecord('agent_messages', { content: 'For all' });
    expect(await writeMessage(user, id)).toEqual([200, 200]);
  });

  test('who receives a message neither changes nor deletes it; who sent it does', async () => {
    const { user, other, own, rival } = await createPartners();
    await createAgent(user.email, [own]);
    await createAgent(other.email, [own, rival]);
    const { id } = await createRecord('agent_messages', { content: 'For all' });
    expect((await user.api('get', `agent_messages/${id}`)).status).toBe(200);
    expect(await writeMessage(user, id)).toEqual([403, 403]);
    expect((await shown(`agent_messages/${id}`, 'agent_message')).content).toBe('For all');
    const body = { content: 'From a partner', buyer_ids: [own] };
    const message = (await user.api('post', 'agent_messages', { body })).body.agent_message;
    expect((await other.api('get', `agent_messages/${message.id}`)).status).toBe(200);
    expect(await writeMessage(other, message.id)).toEqual([403, 403]);
    expect(await writeMessage(user, message.id)).toEqual([200, 200]);
  });
});
