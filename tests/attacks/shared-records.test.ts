import { contract } from '../../src/contract';
import { createFixture, type Fixture } from '../support/example';
import { SCOPES } from '../support/partner';
import { member } from '../support/teams';
import { createWorld, type World } from '../support/world';

// A limited user changes nothing that is the whole company's, and nothing that others use too,
// unless a team says so.

let world: World;
let fixture: Fixture;
beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
});
afterAll(() => world.close());

const made = async (path: string, body: object, root: string) =>
  (await world.company.api('post', path, { body })).body[root];

const writes = contract.operations.filter(
  ({ method, credentials, unlimited, scope }) =>
    method !== 'get' && credentials === 'account' && !unlimited && !scope!.endsWith(':read'),
);
const company_wide = writes.filter((operation) => operation.company_wide);

/** Writes of what belongs to a caller's own records, or to the caller. */
const OWN = [
  'createBuyer',
  'updateBuyer',
  'deleteBuyer',
  'createBuyerGroup',
  'updateBuyerGroup',
  'deleteBuyerGroup',
  'createOffer', // a new one
  'createPhoneNumber', // a new one
  'createAgent',
  'updateAgent',
  'deleteAgent',
  'updateAgentStatus', // that of one agent
  'createAgentMessage',
  'updateAgentMessage',
  'deleteAgentMessage',
  'captureLead', // company-wide fields need a permission
  'updateLead',
  'deleteLead',
  'sendKeyPress',
  'updateCall',
  'updateCallByUuid',
  'createOutgoingWebhook',
  'updateOutgoingWebhook',
  'deleteOutgoingWebhook',
  'rotateOutgoingWebhookSecret',
  'redeliverWebhookLog',
  'createWebhookManualFire',
  'createInboundWebhook',
  'updateInboundWebhook',
  'deleteInboundWebhook',
  'createAccessToken',
  'revokeAccessToken',
];

test('every write is known to change own, shared or company-wide records', () => {
  const own = writes.filter((operation) => !operation.company_wide && !operation.shared.length);
  expect(own.map(({ id }) => id as string).toSorted()).toEqual(OWN.toSorted());
  expect(company_wide.length).toBeGreaterThan(8);
});

test.each(company_wide.map((operation) => [operation.id, operation] as const))(
  '%s needs company_wide:update from a limited user',
  async (id, operation) => {
    const limited = (permissions: string[], name: string) =>
      member(world.company, `${name}-${id.toLowerCase()}@example.com`, { permissions });
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

/** A limited user with a record that others use too, and one that nobody else uses. */
const scene = async (permissions: string[]) => {
  const [mine, rival] = [
    await made('buyers', { name: 'Mine' }, 'buyer'),
    await made('buyers', { name: 'Rival' }, 'buyer'),
  ];
  const offer = await made('offers', { name: 'Shared', buyer_ids: [mine.id, rival.id] }, 'offer');
  const user = await member(world.company, `shared${++digits}@example.com`, {
    permissions,
    buyer_ids: [mine.id],
    offer_ids: [offer.id],
  });
  const listOf = (buyer_ids: number[]) =>
    made('buyer_suppressions', { name: 'Do not call', buyer_ids }, 'buyer_suppression');
  const number = async (offer_id: number | null, buyer_id: number | null) =>
    Number(
      (
        await world.sql<{ id: string }>(
          `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, offer_id, buyer_id)
          VALUES ($1, gen_random_uuid(), $4, 'US', 'sandbox', $2, $3) RETURNING id`,
          [world.company.id, offer_id, buyer_id, `1646555${String(++digits).padStart(4, '0')}`],
        )
      )[0]!.id,
    );
  return {
    user,
    offer: offer.id as number,
    shared_list: (await listOf([mine.id, rival.id])).id as number,
    own_list: (await listOf([mine.id])).id as number,
    shared_number: await number(offer.id, null),
    own_number: await number(null, mine.id),
    mine: mine.id as number,
  };
};
let digits = 0;
const MOST = SCOPES.filter((scope) => scope !== 'company_wide:update');
const block = { caller_ids: ['+13105550155'] };

test('a do-not-call list that others use is not changed; an own one is', async () => {
  const { user, shared_list, own_list, offer } = await scene(MOST);
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
  const { user, offer, shared_number, own_number } = await scene(MOST);
  const status = async (method: 'put' | 'post' | 'delete', path: string, body?: object) =>
    (await user.api(method, path, body && { body })).status;
  const schedule = await made('schedules', { name: 'S', offer_id: offer }, 'schedule');
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
  const { user, shared_list, offer } = await scene(SCOPES);
  const blocked = await user.api('post', `buyer_suppressions/${shared_list}/caller_block`, {
    body: block,
  });
  const renamed = await user.api('put', `offers/${offer}`, { body: { name: 'Renamed' } });
  expect([blocked.status, renamed.status]).toEqual([200, 200]);
});
