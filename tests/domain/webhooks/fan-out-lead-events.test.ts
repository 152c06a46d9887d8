import { Webhook } from 'standardwebhooks';
import { useWorld } from '../../support/use-world';
import { openShop, submit } from '../../support/leads';

const world = useWorld({ receiver: true, webhooks: true });
const { hook, ok, nextNumber } = world;

describe('leads', () => {
  test('a new lead, a change, other contact data and an opt-out are sent and signed', async () => {
    const hooks = {
      created: await hook('new_lead_created'),
      changed: await hook('lead_changed'),
      fields: await hook('contact_fields_changed'),
      out: await hook('lead_opted_out'),
    };
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const callerId = nextNumber();
    const { id } = (await submit(world, schedule.lead_token, { caller_id: callerId, state: 'CA' }))
      .body;
    const [createdEvent] = await hooks.created.payloads(1);
    expect(createdEvent).toMatchObject({
      type: 'new_lead_created',
      data: { lead: { id, caller_id: callerId, data: { state: 'CA' } } },
    });
    await ok('put', `leads/${id}`, { data: { zip: '90012' } });
    expect((await hooks.fields.payloads(1))[0]!.data.lead).toMatchObject({
      id,
      data: { state: 'CA', zip: '90012' },
    });
    await ok('put', `leads/${id}`, { lead_priority: 3 });
    await ok('put', `leads/${id}`, { opt_out: true });
    expect((await hooks.out.payloads(1))[0]!.data.lead).toMatchObject({
      id,
      status: 'opt_out',
      opt_out: true,
    });
    const changes = await hooks.changed.payloads(3);
    expect(changes.map(({ data }) => [data.lead!.lead_priority, data.lead!.status])).toEqual([
      [null, 'scheduled'],
      [3, 'scheduled'],
      [3, 'opt_out'],
    ]);
    expect(hooks.fields.got()).toHaveLength(1);
    const { body, headers } = hooks.created.got()[0]!;
    expect(
      new Webhook(hooks.created.secret).verify(body, headers as Record<string, string>),
    ).toEqual(createdEvent);
    expect(() =>
      new Webhook(hooks.changed.secret).verify(body, headers as Record<string, string>),
    ).toThrow();
    for (const { id: webhook } of Object.values(hooks))
      await ok('delete', `outgoing_webhooks/${webhook}`);
  });

  test('an opt-out without an active lead is one event, of the last lead', async () => {
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const callerId = nextNumber();
    const { id } = (await submit(world, schedule.lead_token, { caller_id: callerId })).body;
    await ok(
      'post',
      `leads/${encodeURIComponent(callerId)}/caller_remove?lead_token=${schedule.lead_token}`,
    );
    const out = await hook('lead_opted_out');
    await ok('put', `leads/${id}`, { opt_out: true });
    expect((await out.payloads(1)).map(({ data }) => data.lead!.id)).toEqual([id]);
  });
});

test('agents have events when they go online or offline, not between online statuses', async () => {
  const [online, offline] = [await hook('agent_online'), await hook('agent_offline')];
  const { api } = world;
  const agent = await world.createRecord('agents', { user_email: 'agent-of-webhooks@example.com' });
  for (const key of ['available', 'on_call', 'offline', 'offline'])
    await api('put', `agents/${agent.id}/status`, { body: { key } });
  await api('put', `agents/${agent.id}/status`, { body: { key: 'wrap_up' } });
  await api('delete', `agents/${agent.id}`);
  const expected = { id: agent.id, user_id: agent.user_id };
  expect((await online.payloads(2)).map(({ data }) => data)).toEqual([
    { agent: { ...expected, status: 'available' } },
    { agent: { ...expected, status: 'wrap_up' } },
  ]);
  expect((await offline.payloads(2)).map(({ data }) => data)).toEqual([
    { agent: { ...expected, status: 'offline' } },
    { agent: { ...expected, status: 'wrap_up' } },
  ]);
});
