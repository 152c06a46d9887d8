import { CALLER, softswitch } from '../../support/softswitch';

// Descriptions of calls: dispositions, reviews, and the agent who took the call.

const here = softswitch('2026-06-01T16:00:00Z');
const { time, ok, errors, buyer, offer, begin, loadEvents } = here;
const { api } = here.world;

type Fields = Record<string, unknown>;

/** A call that is connected to a buyer; with agents of the buyer, by whether they are online. */
const createConnectedCall = async (agents: Record<string, boolean> = {}, event: Fields = {}) => {
  const to = await buyer({ name: 'Ada', number: '+12125550101' });
  const ids: Record<string, number> = {};
  const { agent_statuses } = await ok('get', 'agent_statuses');
  const findStatus = (key: string) =>
    agent_statuses.find((status: Fields) => status.key === key).id as number;
  for (const [name, online] of Object.entries(agents))
    ids[name] = (
      await ok('post', 'agents', {
        user_email: `${name}@example.com`,
        buyer_ids: [to],
        agent_status_id: findStatus(online ? 'available' : 'offline'),
      })
    ).agent.id;
  const call = await begin(await offer({ buyer_ids: [to] }));
  await ok('post', `call_sessions/${call.id}/events`, { event: 'answered', ...event });
  return { id: call.id as number, path: `calls/${call.id}`, ids, buyer: to };
};
const shown = async (path: string) => (await ok('get', path)).call;

describe('dispositions', () => {
  test('are made, listed in their order, changed and deleted', async () => {
    const { disposition } = await ok('post', 'dispositions', { key: 'sold', name: 'Sold' });
    await ok('post', 'dispositions', { key: 'call_back', name: 'Call back', position: 1 });
    expect(disposition).toMatchObject({ key: 'sold', name: 'Sold', position: 0 });
    const { dispositions } = await ok('get', 'dispositions?order=position&order_dir=desc');
    expect(dispositions.map(({ key }: Fields) => key)).toEqual(['call_back', 'sold']);
    const twice = await errors('dispositions', { key: 'sold', name: 'Again' });
    expect(twice).toEqual([422, { key: [expect.stringContaining('taken')] }]);
    const path = `dispositions/${disposition.uuid}`;
    expect((await api('put', path, { body: { name: 'A sale' } })).body.disposition.name).toBe(
      'A sale',
    );
    expect((await api('delete', path)).status).toBe(200);
    expect((await api('get', path)).status).toBe(404);
    expect((await api('get', 'dispositions/new')).body.disposition).toMatchObject({
      id: null,
      position: 0,
    });
  });

  test('are given to a call by key, with notes, and taken away by a blank', async () => {
    await ok('post', 'dispositions', { key: 'sold', name: 'Sold' });
    const { path } = await createConnectedCall();
    const { call } = await ok('post', path, {
      disposition_key: 'SOLD',
      disposition_notes: 'two policies',
    });
    expect(call).toMatchObject({
      disposition_id: expect.any(Number),
      disposition_key: 'sold',
      disposition_name: 'Sold',
      disposition_notes: 'two policies',
    });
    const renamed = await api('put', `dispositions/${call.disposition_id}`, {
      body: { name: 'A sale' },
    });
    expect(renamed.status).toBe(200);
    await api('delete', `dispositions/${call.disposition_id}`);
    expect(await shown(path)).toMatchObject({
      disposition_key: 'sold',
      disposition_name: 'A sale',
    });
    const blank = (await api('post', path, { query: { disposition_key: '' } })).body.call;
    expect(blank).toMatchObject({ disposition_id: null, disposition_notes: 'two policies' });
  });

  test('that the company does not have are refused with the list, and change nothing', async () => {
    const { path } = await createConnectedCall();
    expect((await errors(path, { disposition_key: 'sold' }))[1]).toEqual({
      disposition_key: [expect.stringContaining('POST /dispositions')],
    });
    await ok('post', 'dispositions', { key: 'sold', name: 'Sold' });
    await ok('post', 'dispositions', { key: 'lost', name: 'Lost', position: 9 });
    const body = { disposition_key: 'won', quality_assurance_name: 'Ann', data: { a: 1 } };
    const refused = await api('post', path, { body });
    expect([refused.status, refused.body.error_codes, refused.body.errors]).toEqual([
      422,
      { disposition_key: ['unknown_reference'] },
      { disposition_key: [expect.stringContaining('sold, lost')] },
    ]);
    expect(await shown(path)).toMatchObject({ quality_assurance_name: null, token_values: {} });
  });
});

test('a reviewer is kept by name, and is the buyer of that kind with the name', async () => {
  const { path } = await createConnectedCall();
  const { call } = await ok('post', path, { quality_assurance_name: ' Ann B. ' });
  expect(call).toMatchObject({
    quality_assurance_name: 'Ann B.',
    quality_assurance_id: null,
    quality_assurance_user_id: null,
  });
  await buyer({ name: 'Review desk', number: '+12125550150' });
  const desk = await buyer({
    name: 'Review Desk',
    number: '+12125550151',
    buyer_type: 'quality_assurance',
    user_buyer_id: 'desk-1',
  });
  const { call: reviewed } = await ok('post', path, { quality_assurance_name: 'review desk' });
  expect(reviewed).toMatchObject({
    quality_assurance_name: 'review desk',
    quality_assurance_id: desk,
    quality_assurance_user_id: 'desk-1',
  });
});

describe('the agent of a call', () => {
  test('is the only one of the buyer, online or not, and its talking is measured', async () => {
    const { path, id, ids } = await createConnectedCall({ ann: false });
    expect(await shown(path)).toMatchObject({ agent_id: ids.ann, agent_duration: 0 });
    time.set('2026-06-01T16:00:45Z');
    expect((await shown(path)).agent_duration).toBe(45);
    await ok('post', `call_sessions/${id}/events`, { event: 'completed', duration: 40 });
    expect(await shown(path)).toMatchObject({ agent_id: ids.ann, agent_duration: 40 });
  });

  test('is the only one who is online, of several', async () => {
    const { path, ids } = await createConnectedCall({ ann: false, bob: true, cho: false });
    expect((await shown(path)).agent_id).toBe(ids.bob);
  });

  test('is not known if it may be one of several, until somebody says who', async () => {
    const { path, id, ids } = await createConnectedCall({ ann: true, bob: true });
    time.set('2026-06-01T16:00:30Z');
    expect(await shown(path)).toMatchObject({ agent_id: null, agent_duration: 0 });
    await ok('post', `call_sessions/${id}/events`, { event: 'duration', agent_id: ids.bob });
    expect(await shown(path)).toMatchObject({ agent_id: ids.bob, agent_duration: 30 });
    const { call } = await ok('post', path, { agent_id: ids.ann });
    expect(call.agent_id).toBe(ids.ann);
    expect((await ok('post', path, { agent_id: null })).call.agent_id).toBeNull();
  });

  test('is named by the event of the answer, and must be one of the company', async () => {
    const { path, id } = await createConnectedCall({ ann: true });
    const otherAgent = await ok('post', 'agents', { user_email: 'dan@example.com' });
    expect((await shown(path)).agent_id).not.toBe(otherAgent.agent.id);
    const { path: second } = await createConnectedCall(
      {},
      { agent_id: String(otherAgent.agent.uuid) },
    );
    expect((await shown(second)).agent_id).toBe(otherAgent.agent.id);
    const event = await errors(`call_sessions/${id}/events`, { event: 'duration', agent_id: 999 });
    expect(event).toEqual([422, { agent_id: [expect.stringContaining('no record of yours')] }]);
    expect((await errors(path, { agent_id: 999 }))[0]).toBe(422);
  });
});

test('what was said of a call is in its events, once for each change', async () => {
  await ok('post', 'dispositions', { key: 'sold', name: 'Sold' });
  const { path, id } = await createConnectedCall();
  for (let n = 0; n < 2; n++) await ok('post', path, { disposition_key: 'sold' });
  await ok('post', `call_sessions/${id}/events`, { event: 'completed' });
  expect((await loadEvents({ id })).filter((event: string) => event === 'described')).toHaveLength(
    1,
  );
  const { calls } = await ok('get', `calls?caller_number=${encodeURIComponent(CALLER)}`);
  expect(calls[0].disposition_key).toBe('sold');
});

test('/agent_status_timestamps/new is a timestamp with nothing in it', async () => {
  const { agent_status_timestamp, metadata } = await ok('get', 'agent_status_timestamps/new');
  expect(metadata.root).toBe('agent_status_timestamp');
  const { agent_status_timestamps } = await ok('get', 'agent_status_timestamps');
  expect(agent_status_timestamps).toEqual([]);
  expect(agent_status_timestamp).toMatchObject({ id: null, key: null, created_at: null });
  expect(agent_status_timestamp.company_id).toBe(Number(here.world.company.id));
});
