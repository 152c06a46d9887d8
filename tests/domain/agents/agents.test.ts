import { asAgent, makeAgent, statusId } from '../../support/agents';
import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api, ok, createRecord, create } = world;

const center = (body: object = {}) => createRecord('call_centers', { name: 'Denver', ...body });
const loadAgent = async (id: number) => (await ok('get', `agents/${id}`)).agent;
const loadChain = async (id: number) =>
  (await ok('get', `agent_status_timestamps?agent_id=${id}&per_page=1000`)).agent_status_timestamps;

describe('a call center', () => {
  test('has a unique user_call_center_id, and the ids of its agents', async () => {
    const { id } = await center({ user_call_center_id: 'denver' });
    expect(
      (await api('post', 'call_centers', { body: { name: 'Twin', user_call_center_id: 'denver' } }))
        .body.errors,
    ).toEqual({
      user_call_center_id: [expect.stringContaining('unique')],
    });
    const agent = await makeAgent(world, { call_center_ids: [id] });
    expect((await api('get', `call_centers/${id}`)).body.call_center).toMatchObject({
      agents_count: 1,
      agent_ids: [agent.id],
    });
    await api('delete', `call_centers/${id}`);
    expect((await loadAgent(agent.id)).call_center_ids).toEqual([]);
    expect((await center({ user_call_center_id: 'denver' })).id).toBeGreaterThan(id);
  });
});

describe('agent statuses', () => {
  const list = async () => (await api('get', 'agent_statuses?order=position')).body.agent_statuses;

  test('five are built in for every company, counted with the others', async () => {
    const { api: theirs } = await world.addCompany();
    const { body } = await theirs(
      'get',
      'agent_statuses?order=position&columns=key,is_online,built_in',
    );
    expect([body.agent_statuses, body.metadata.total_count]).toEqual([
      ['available', 'on_call', 'wrap_up', 'away', 'offline'].map((key) => ({
        key,
        is_online: key !== 'offline',
        built_in: true,
      })),
      5,
    ]);
  });

  test('built-in ones can be renamed and moved, but not deleted or given another key', async () => {
    const [available] = await list();
    const put = async (body: object) =>
      (await api('put', `agent_statuses/${available.id}`, { body })).body;
    expect(
      (await put({ name: 'Ready', position: 9, key: 'available', is_online: true })).agent_status,
    ).toMatchObject({ name: 'Ready', position: 9 });
    expect((await put({ key: 'ready' })).errors).toEqual({
      key: [expect.stringContaining('built in')],
    });
    expect((await put({ is_online: false })).errors).toEqual({
      is_online: [expect.stringContaining('built in')],
    });
    const deleted = await api('delete', `agent_statuses/${available.id}`);
    expect([deleted.status, deleted.body.errors]).toEqual([
      422,
      { id: [expect.stringContaining('built-in')] },
    ]);
  });

  test.each(['Upper', 'with space', 'dash-ed', ''])('have no key like %p', async (key) => {
    expect((await api('post', 'agent_statuses', { body: { key, name: 'S' } })).body.errors).toEqual(
      { key: [expect.any(String)] },
    );
  });

  test('have a unique key, and cannot be deleted while agents are in them', async () => {
    const post = () =>
      api('post', 'agent_statuses', { body: { key: 'training', name: 'In training' } });
    const { id } = (await post()).body.agent_status;
    expect((await post()).body.errors).toEqual({ key: [expect.stringContaining('unique')] });
    const agent = await makeAgent(world, { agent_status_id: id });
    expect((await loadAgent(agent.id)).online).toBe(true);
    expect((await api('delete', `agent_statuses/${id}`)).body.errors).toEqual({
      id: [expect.stringContaining('1 of your agents')],
    });
    await api('put', `agents/${agent.id}/status`, { body: { key: 'away' } });
    expect((await api('delete', `agent_statuses/${id}`)).status).toBe(200);
    expect(
      (await api('put', `agents/${agent.id}/status`, { body: { key: 'training' } })).body.errors,
    ).toEqual({ key: ['names no record of yours: training'] });
    expect((await post()).status).toBe(201);
  });

  test('of a deletion and an agent’s change to the status, one is refused', async () => {
    const agent = await makeAgent(world);
    for (let round = 0; round < 10; round++) {
      const { id } = (
        await api('post', 'agent_statuses', { body: { key: `fleeting_${round}`, name: 'F' } })
      ).body.agent_status;
      const both = [
        api('delete', `agent_statuses/${id}`),
        api('put', `agents/${agent.id}/status`, { body: { agent_status_id: id } }),
      ];
      const statuses = (await Promise.all(both)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 422]);
      await api('put', `agents/${agent.id}/status`, { body: { key: 'offline' } });
    }
  });
});

describe('an agent', () => {
  test('is a user, by id, uuid or a new address; a user is at most one agent', async () => {
    const { agent } = (await api('post', 'agents', { body: { user_email: 'Ann@example.com' } }))
      .body;
    expect(agent).toMatchObject({
      user_email: 'ann@example.com',
      status_key: 'offline',
      online: false,
      name: null,
    });
    const errors = async (body: object) => (await api('post', 'agents', { body })).body.errors;
    const uniqueError = { user_id: [expect.stringContaining('unique')] };
    expect(await errors({ user_id: agent.user_id })).toEqual(uniqueError);
    expect(await errors({ user_email: 'ann@example.com' })).toEqual(uniqueError);
    expect(await errors({})).toEqual({ user_id: [expect.stringContaining('user_email')] });
    expect(await errors({ user_id: agent.user_id, user_email: 'x@example.com' })).toEqual({
      user_email: [expect.any(String)],
    });
    await api('delete', `agents/${agent.id}`);
    const [{ uuid } = { uuid: '' }] = await world.sql<{ uuid: string }>(
      'SELECT uuid FROM users WHERE id = $1',
      [agent.user_id],
    );
    expect((await api('post', 'agents', { body: { user_id: uuid } })).status).toBe(201);
  });

  test('is created once by parallel requests', async () => {
    const requests = Array.from({ length: 10 }, () =>
      api('post', 'agents', { body: { user_email: 'many@example.com' } }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array<number>(9).fill(422)]);
  });

  test('belongs to call centers and buyers until it, or they, are deleted', async () => {
    const [a, b] = [await center(), await center()];
    const buyer = await create('buyers', { name: 'B' });
    const { id } = await makeAgent(world, { call_center_ids: [b.uuid, a.id], buyer_ids: buyer });
    expect(await loadAgent(id)).toMatchObject({
      call_center_ids: [a.id, b.id],
      buyer_ids: [buyer],
    });
    expect(
      (await api('get', `agents?call_center_id=${a.uuid}`)).body.agents.map(
        (agent: { id: number }) => agent.id,
      ),
    ).toEqual([id]);
    await api('put', `agents/${id}`, { body: { call_center_ids: [b.id] } });
    await api('delete', `buyers/${buyer}`);
    expect(await loadAgent(id)).toMatchObject({ call_center_ids: [b.id], buyer_ids: [] });
    await api('delete', `agents/${id}`);
    expect((await api('get', `call_centers/${b.id}`)).body.call_center.agents_count).toBe(0);
  });

  test('is found by status, user and text, and with mine', async () => {
    const agent = await makeAgent(world, {
      name: 'Zora Needle',
      agent_status_id: await statusId(world, 'on_call'),
    });
    const listIds = async (query: string, options = {}) =>
      (await api('get', `agents?${query}`, options)).body.agents.map(
        ({ id }: { id: number }) => id,
      );
    expect(await listIds(`agent_status_id=${await statusId(world, 'on_call')}`)).toEqual([
      agent.id,
    ]);
    expect(await listIds(`user_id=${agent.user_id}`)).toEqual([agent.id]);
    expect(await listIds('fulltext=needle')).toEqual([agent.id]);
    expect(await listIds('mine=true', asAgent(agent))).toEqual([agent.id]);
    expect((await api('get', 'agents?mine=true')).body.errors).toEqual({
      mine: [expect.any(String)],
    });
  });
});

describe('status timestamps', () => {
  test('have a row for the first status and for each change of it', async () => {
    const { id, user_id } = await makeAgent(world);
    const away = await statusId(world, 'away');
    await api('put', `agents/${id}/status`, { body: { key: 'available' } });
    await api('put', `agents/${id}/status`, { body: { key: 'available' } });
    await api('put', `agents/${id}`, { body: { agent_status_id: away } });
    await api('put', `agents/${id}`, { body: { agent_status_id: away, name: 'N' } });
    const chain = await loadChain(id);
    expect(chain.map(({ key }: { key: string }) => key)).toEqual(['offline', 'available', 'away']);
    expect(chain[2]).toEqual({
      id: expect.any(Number),
      company_id: Number(world.company.id),
      user_id,
      collaborator_id: user_id,
      agent_widget_id: id,
      agent_status_id: away,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      key: 'away',
    });
    expect((await loadAgent(id)).status_changed_at).toBe(chain[2].created_at);
    expect(
      (await api('get', `agent_status_timestamps?fulltext=WAY&user_id=${user_id}&columns=key`)).body
        .agent_status_timestamps,
    ).toEqual([{ key: 'away' }]);
  });

  test('have the key that the status had then', async () => {
    const { id: status } = (
      await api('post', 'agent_statuses', { body: { key: 'lunch', name: 'Lunch' } })
    ).body.agent_status;
    const { id } = await makeAgent(world, { agent_status_id: status });
    await api('put', `agent_statuses/${status}`, { body: { key: 'break' } });
    expect([(await loadChain(id))[0].key, (await loadAgent(id)).status_key]).toEqual([
      'lunch',
      'break',
    ]);
  });

  test.each([
    ['neither', {}, { agent_status_id: [expect.stringContaining('key')] }],
    ['two that differ', { key: 'away' }, { key: [expect.any(String)] }],
  ])('are not written for %s of status and key', async (name, body, errors) => {
    const { id } = await makeAgent(world);
    const requestBody =
      name === 'neither' ? body : { ...body, agent_status_id: await statusId(world, 'on_call') };
    expect((await api('put', `agents/${id}/status`, { body: requestBody })).body.errors).toEqual(
      errors,
    );
    expect(await loadChain(id)).toHaveLength(1);
  });

  test('agents may change their own status with a user token', async () => {
    const agent = await makeAgent(world);
    expect(
      (
        await api('put', `agents/${agent.id}/status`, {
          ...asAgent(agent),
          body: { key: 'wrap_up' },
        })
      ).body.agent.status_key,
    ).toBe('wrap_up');
  });

  test('50 parallel changes are a chain without repeats up to the agent’s status', async () => {
    const { id } = await makeAgent(world);
    const keys = ['available', 'on_call', 'wrap_up', 'away', 'offline'];
    const ids = await Promise.all(keys.map((key) => statusId(world, key)));
    const requests = Array.from({ length: 50 }, (_, n) =>
      n % 2
        ? api('put', `agents/${id}/status`, { body: { key: keys[n % 5] } })
        : api('put', `agents/${id}`, { body: { agent_status_id: ids[n % 5] } }),
    );
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const chain: { key: string; agent_status_id: number }[] = await loadChain(id);
    expect(chain.filter(({ key }, n) => key === chain[n - 1]?.key)).toEqual([]);
    expect(chain.at(-1)!.agent_status_id).toBe((await loadAgent(id)).agent_status_id);
    const counts = new Map(keys.map((key) => [key, chain.filter((row) => row.key === key).length]));
    expect(chain.length).toBeGreaterThan(5);
    // Each key was requested ten times, and the agent started offline.
    for (const [key, count] of counts)
      expect(count).toBeLessThanOrEqual(key === 'offline' ? 11 : 10);
  });
});
