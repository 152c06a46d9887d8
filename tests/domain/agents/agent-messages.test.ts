import { asAgent, makeAgent, statusId, type TestAgent } from '../../support/agents';
import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api, createRecord, create } = world;
/** Agents of call center one, of both call centers, of the buyer, and of none of them. */
let [agentOne, agentTwo, ofBuyer, free]: TestAgent[] = [];
let centerOne: number;
let centerTwo: number;
let buyer: number;
let group: number;

beforeAll(async () => {
  ({ centerOne, centerTwo, buyer, group } = await world.createRecords({
    call_centers: { centerOne: {}, centerTwo: {} },
    buyers: { buyer: {} },
    buyer_groups: { group: { buyer_ids: ['buyer'] } },
  }));
  agentOne = await makeAgent(world, { call_center_ids: [centerOne] });
  agentTwo = await makeAgent(world, {
    call_center_ids: [centerOne, centerTwo],
    agent_status_id: await statusId(world, 'available'),
  });
  ofBuyer = await makeAgent(world, { buyer_ids: [buyer] });
  free = await makeAgent(world);
});

const send = (body: object) => createRecord('agent_messages', { content: 'Hello', ...body });
const put = async (id: number, body: object) =>
  (await api('put', `agent_messages/${id}`, { body })).body.agent_message;
/** The agents who have the message in their list. */
async function listHolders(id: number): Promise<TestAgent[]> {
  const all = [agentOne!, agentTwo!, ofBuyer!, free!];
  const has = await Promise.all(
    all.map(
      async (agent) =>
        (await api('get', `agent_messages?mine=true&ids=${id}`, asAgent(agent))).body.metadata
          .total_count === 1,
    ),
  );
  return all.filter((_, n) => has[n]);
}

test.each<[string, () => object, () => TestAgent[]]>([
  ['nothing named: every agent', () => ({}), () => [agentOne!, agentTwo!, ofBuyer!, free!]],
  [
    'a call center: its agents',
    () => ({ call_center_ids: [centerOne] }),
    () => [agentOne!, agentTwo!],
  ],
  ['a buyer: its agents', () => ({ buyer_ids: [buyer] }), () => [ofBuyer!]],
  [
    'a buyer group: the agents of the buyers in it',
    () => ({ buyer_group_ids: [group] }),
    () => [ofBuyer!],
  ],
  [
    'several: each agent once',
    () => ({
      call_center_ids: [centerOne, centerTwo],
      buyer_ids: [buyer],
      buyer_group_ids: [group],
    }),
    () => [agentOne!, agentTwo!, ofBuyer!],
  ],
])('a message reaches, with %s', async (_, targets, reached) => {
  const message = await send(targets());
  expect([await listHolders(message.id), message.agent_widget_count]).toEqual([
    reached(),
    reached().length,
  ]);
  expect(message).toMatchObject(targets());
});

test('a message with a status reaches only the agents that are in it when it is sent', async () => {
  const agentStatusId = await statusId(world, 'available');
  const message = await send({ agent_status_id: agentStatusId, call_center_ids: [centerOne] });
  expect([
    await listHolders(message.id),
    message.agent_widget_count,
    message.agent_status_id,
  ]).toEqual([[agentTwo], 1, agentStatusId]);
  expect(await listHolders((await send({ agent_status_id: agentStatusId })).id)).toEqual([
    agentTwo,
  ]);
});

test('a message to a buyer without agents reaches none, not all', async () => {
  const empty = await create('buyers', { name: 'Empty' });
  const message = await send({ buyer_ids: [empty] });
  expect([await listHolders(message.id), message.agent_widget_count]).toEqual([[], 0]);
  await api('delete', `buyers/${empty}`);
  expect(await put(message.id, { call_center_ids: [centerTwo] })).toMatchObject({
    agent_widget_count: 1,
    buyer_ids: [empty],
  });
  expect(await put(message.id, { call_center_ids: [] })).toMatchObject({ agent_widget_count: 0 });
});

test('a change of targets changes the recipients; the same targets do not', async () => {
  const { id } = await send({ call_center_ids: [centerOne] });
  expect(await put(id, { call_center_ids: [centerTwo] })).toMatchObject({
    agent_widget_count: 1,
    call_center_ids: [centerTwo],
  });
  expect(await listHolders(id)).toEqual([agentTwo]);
  expect(await put(id, { call_center_ids: [], buyer_ids: [buyer] })).toMatchObject({
    agent_widget_count: 1,
  });
  expect(await listHolders(id)).toEqual([ofBuyer]);
  const late = await makeAgent(world, { buyer_ids: [buyer] });
  expect(await put(id, { buyer_ids: [buyer], content: 'New' })).toMatchObject({
    agent_widget_count: 1,
    content: 'New',
  });
  expect(await put(id, { agent_status_id: await statusId(world, 'offline') })).toMatchObject({
    agent_widget_count: 2,
  });
  await api('delete', `agents/${late.id}`);
});

test('content is required at first, and may be blank later', async () => {
  expect((await api('post', 'agent_messages', { body: {} })).body.errors).toEqual({
    content: ['must be given'],
  });
  expect((await api('post', 'agent_messages', { body: { content: '' } })).status).toBe(422);
  const { id } = await send({});
  expect((await put(id, { content: '' })).content).toBe(null);
});

test('new returns the values of its query, and stores nothing', async () => {
  const before = (await api('get', 'agent_messages')).body.metadata.total_count;
  const agentStatusId = await statusId(world, 'away');
  const { body } = await api('get', 'agent_messages/new', {
    query: { content: 'Draft', agent_status_id: agentStatusId },
  });
  expect(body.agent_message).toMatchObject({
    id: null,
    content: 'Draft',
    agent_status_id: agentStatusId,
    agent_widget_count: 0,
    buyer_ids: [],
  });
  expect((await api('get', 'agent_messages/new?agent_status_id=999999')).body.errors).toEqual({
    agent_status_id: [expect.any(String)],
  });
  expect((await api('get', 'agent_messages')).body.metadata.total_count).toBe(before);
});

test('a message has its author; a deleted one has no recipients', async () => {
  const { body } = await api('post', 'agent_messages', {
    ...asAgent(agentOne!),
    body: { content: 'From one' },
  });
  expect(body.agent_message.user_id).toBe(agentOne!.user_id);
  await api('delete', `agent_messages/${body.agent_message.id}`);
  const query = { mine: true, ids: body.agent_message.id };
  const response = await api('get', 'agent_messages', { ...asAgent(agentOne!), query });
  expect([response.status, Object.keys(response.body.errors)]).toEqual([422, ['ids']]);
});

test('mine is refused for callers who are not agents', async () => {
  expect((await api('get', 'agent_messages?mine=true')).body.errors).toEqual({
    mine: [expect.any(String)],
  });
  const token = await world.credentials(world.company, [], {
    kind: 'user_token',
    superuser: true,
    user_email: 'unknown@example.com',
  });
  const res = await api('get', 'agent_messages?mine=true', {
    auth: null,
    headers: { Authorization: `Token ${token}` },
  });
  expect(res.body.errors).toEqual({ mine: [expect.any(String)] });
});

test('parallel messages and changes leave correct counts, and events without gaps', async () => {
  const messages = await Promise.all(
    Array.from({ length: 6 }, (_, n) => send({ content: `M${n}` })),
  );
  const changes = messages.flatMap(({ id }, n) => [
    put(id, { call_center_ids: n % 2 ? [centerOne] : [centerTwo] }),
    put(id, { content: `Other ${n}` }),
    send({ content: `Another ${n}` }),
    api('put', `agents/${agentOne!.id}/status`, { body: { key: n % 2 ? 'away' : 'offline' } }),
  ]);
  await Promise.all(changes);
  const wrong = await world.sql(
    `SELECT m.id
    FROM agent_messages m
    WHERE m.deleted_at IS NULL
      AND m.agent_widget_count <> (
        SELECT count(*)
        FROM agent_message_recipients r
        WHERE r.company_id = m.company_id AND r.agent_message_id = m.id
      )`,
  );
  expect(wrong).toEqual([]);
  const gaps = await world.sql(
    `SELECT a.id
    FROM agents a
    CROSS JOIN LATERAL (
      SELECT count(*) AS count, coalesce(max(e.event_id), 0) AS newest
      FROM agent_events e
      WHERE e.company_id = a.company_id AND e.agent_id = a.id
    ) events
    WHERE a.last_event_id <> events.count OR a.last_event_id <> events.newest`,
  );
  expect(gaps).toEqual([]);
});
