import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api } = world;
let scheduleId: number;
beforeAll(async () => {
  const { body } = await api('post', 'schedules', { body: { name: 'Calls' } });
  scheduleId = body.schedule.id;
});

const post = (fields: object) =>
  api('post', 'schedule_actions', {
    body: { schedule_id: scheduleId, action_type: 'dial', ...fields },
  });
const put = (id: number, body: object) => api('put', `schedule_actions/${id}`, { body });
const FIXED = { connect_to: '+13105550199' };

describe('a dial', () => {
  test('without connect_to is routed, waits for a buyer and hangs up on machines', async () => {
    const { body } = await post({});
    expect(body.schedule_action).toMatchObject({
      connect_to: null,
      timeout_seconds: 30,
      only_when_buyer_available: true,
      machine_action: 'hang_up',
      machine_message: null,
    });
  });

  test('with connect_to has no buyer to wait for, and connects machines', async () => {
    const { body } = await post(FIXED);
    expect(body.schedule_action).toMatchObject({
      ...FIXED,
      only_when_buyer_available: null,
      machine_action: 'connect',
    });
    const res = await post({ ...FIXED, only_when_buyer_available: true });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([
      422,
      ['only_when_buyer_available'],
    ]);
  });

  test('that gets a connect_to no longer waits for a buyer', async () => {
    const { id } = (await post({ only_when_buyer_available: false })).body.schedule_action;
    expect((await put(id, FIXED)).body.schedule_action).toMatchObject({
      ...FIXED,
      only_when_buyer_available: null,
    });
    expect((await put(id, { connect_to: null })).body.schedule_action).toMatchObject({
      connect_to: null,
      only_when_buyer_available: true,
    });
  });

  test('has a message for machines with leave_message, and only then', async () => {
    const message = { machine_action: 'leave_message', machine_message: 'Hello {{name}}' };
    const { id } = (await post(message)).body.schedule_action;
    for (const [fields, field] of [
      [{ machine_action: 'leave_message' }, 'machine_message'],
      [{ machine_action: 'leave_message', machine_message: ' ' }, 'machine_message'],
      [{ machine_message: 'Hello' }, 'machine_message'],
      [{ machine_action: 'shout' }, 'machine_action'],
    ] as const) {
      const res = await post(fields);
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
    }
    expect((await put(id, { machine_action: 'connect' })).body.schedule_action).toMatchObject({
      machine_action: 'connect',
      machine_message: null,
    });
  });

  test('is put as it was read, and stays the same', async () => {
    for (const fields of [{}, FIXED, { machine_action: 'leave_message', machine_message: 'Hi' }]) {
      const { schedule_action } = (await post(fields)).body;
      const { id, connect_to, only_when_buyer_available, machine_action, machine_message } =
        schedule_action;
      const res = await put(id, {
        connect_to,
        only_when_buyer_available,
        machine_action,
        machine_message,
      });
      expect([res.status, res.body.schedule_action]).toEqual([
        200,
        {
          ...schedule_action,
          updated_at: expect.any(String),
          user_updated_at: expect.any(String),
        },
      ]);
    }
  });

  test('fields of it are refused for other actions', async () => {
    const sms = { action_type: 'sms', body: 'Hello' };
    for (const fields of [{ machine_action: 'hang_up' }, { only_when_buyer_available: true }]) {
      const res = await post({ ...sms, ...fields });
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, Object.keys(fields)]);
    }
  });
});
