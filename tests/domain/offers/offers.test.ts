import { useWorld } from '../../support/use-world';

const world = useWorld();

const { api, createRecord } = world;
const offer = (body: object = {}) => createRecord('offers', { name: 'Offer', ...body });
const schedule = (body: object = {}) => createRecord('schedules', { name: 'Schedule', ...body });
const tokens = () =>
  world
    .sql<{ token: string }>('SELECT token FROM lead_tokens')
    .then((rows) => rows.map(({ token }) => token));

describe.each([
  ['offers', offer],
  ['schedules', schedule],
])('the lead token of %s', (plural, make) => {
  const singular = plural.slice(0, -1);
  test('is 32 hexadecimal characters, of its own, and there as long as the record is', async () => {
    const [first, second] = [await make(), await make()];
    expect(first.lead_token).toMatch(/^[0-9a-f]{32}$/);
    expect(second.lead_token).not.toBe(first.lead_token);
    expect(await tokens()).toEqual(expect.arrayContaining([first.lead_token, second.lead_token]));
    await api('delete', `${plural}/${first.id}`);
    expect(await tokens()).not.toContain(first.lead_token);
  });

  test('is replaced by reset_lead_token, and the one before is gone', async () => {
    const before = await make();
    const after = (await api('put', `${plural}/${before.id}`, { body: { reset_lead_token: true } }))
      .body[singular];
    expect(after.lead_token).not.toBe(before.lead_token);
    expect(await tokens()).toContain(after.lead_token);
    expect(await tokens()).not.toContain(before.lead_token);
    expect(
      (
        await api('put', `${plural}/${before.id}`, {
          body: { reset_lead_token: false, description: 'x' },
        })
      ).body[singular].lead_token,
    ).toBe(after.lead_token);
  });

  test('twenty simultaneous resets leave one that works', async () => {
    const { id } = await make();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        api('put', `${plural}/${id}`, { body: { reset_lead_token: true } }),
      ),
    );
    const { lead_token } = (await api('get', `${plural}/${id}`)).body[singular];
    const rows = await world.sql<{ token: string }>(
      `SELECT token FROM lead_tokens WHERE ${singular}_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ token: lead_token }]);
  });

  test('belongs to a record that says when it was paused and unpaused', async () => {
    const { id } = await make();
    const paused = (await api('put', `${plural}/${id}`, { body: { paused: 'yes' } })).body[
      singular
    ];
    expect([paused.paused, paused.paused_at, paused.unpaused_at]).toEqual([
      true,
      expect.any(String),
      null,
    ]);
    const unpaused = (await api('put', `${plural}/${id}`, { body: { paused: 'no' } })).body[
      singular
    ];
    expect([unpaused.paused, unpaused.unpaused_at]).toEqual([false, expect.any(String)]);
  });

  test(
    'belongs to a record whose own identifier is unique among the living, and may ' +
      'be used again',
    async () => {
      const field = `user_${singular}_id`;
      const { id } = await make({ [field]: 'mine' });
      expect(
        (await api('post', plural, { body: { name: 'x', [field]: 'mine' } })).body.errors,
      ).toEqual({ [field]: [expect.any(String)] });
      await api('delete', `${plural}/${id}`);
      expect((await make({ [field]: 'mine' }))[field]).toBe('mine');
    },
  );

  test('belongs to a record that suppression lists attach to, from either side', async () => {
    const lists = [
      await createRecord('buyer_suppressions', { name: 'a' }),
      await createRecord('buyer_suppressions', { name: 'b' }),
    ].map(({ id }) => id);
    const { id } = await make({ buyer_suppression_ids: lists });
    const shown = async (list: number) =>
      (await api('get', `buyer_suppressions/${list}`)).body.buyer_suppression[`${singular}_ids`];
    expect(await shown(lists[0]!)).toEqual([id]);
    await api('put', `buyer_suppressions/${lists[0]}`, { body: { [`${singular}_ids`]: [] } });
    expect((await api('get', `${plural}/${id}`)).body[singular].buyer_suppression_ids).toEqual([
      lists[1],
    ]);
    await api('delete', `buyer_suppressions/${lists[1]}`);
    expect((await api('get', `${plural}/${id}`)).body[singular].buyer_suppression_ids).toEqual([]);
  });
});

describe('an offer', () => {
  test('has buyers and groups, and loses those that are deleted', async () => {
    const buyers = [
      await createRecord('buyers', { user_buyer_id: 'b1' }),
      await createRecord('buyers', {}),
    ].map(({ id }) => id);
    const group = await createRecord('buyer_groups', { name: 'g' });
    const { id } = await offer({
      buyer_ids: [buyers[1]],
      add_user_buyer_ids: 'b1',
      buyer_group_ids: [group.uuid],
    });
    const shown = async () => (await api('get', `offers/${id}`)).body.offer;
    expect(await shown()).toMatchObject({ buyer_ids: buyers, buyer_group_ids: [group.id] });
    await api('delete', `buyers/${buyers[0]}`);
    await api('delete', `buyer_groups/${group.id}`);
    expect(await shown()).toMatchObject({ buyer_ids: [buyers[1]], buyer_group_ids: [] });
  });

  test('fifty simultaneous additions of a buyer each lose none', async () => {
    const { id } = await offer();
    const buyers = await Promise.all(
      Array.from({ length: 50 }, async () => (await createRecord('buyers', {})).id as number),
    );
    const changes = buyers.map((buyer) =>
      api('put', `offers/${id}`, { body: { add_buyer_ids: [buyer] } }),
    );
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(buyers.map(() => 200));
    expect((await api('get', `offers/${id}`)).body.offer.buyer_ids).toEqual(
      buyers.toSorted((a, b) => a - b),
    );
  });

  test('that is deleted leaves its schedules without it', async () => {
    const { id } = await offer();
    const ownSchedule = await schedule({ offer_id: id });
    expect((await api('get', `offers/${id}`)).body.offer.schedule_ids).toEqual([ownSchedule.id]);
    await api('delete', `offers/${id}`);
    expect((await api('get', `schedules/${ownSchedule.id}`)).body.schedule.offer_id).toBe(null);
    expect(
      (await api('post', 'schedules', { body: { name: 'x', offer_id: id } })).body.errors,
    ).toEqual({ offer_id: [expect.any(String)] });
  });
});

describe('an action of a schedule', () => {
  let scheduleId: number;
  beforeEach(async () => {
    scheduleId = (await schedule()).id;
  });
  const action = (body: object) =>
    createRecord('schedule_actions', { schedule_id: scheduleId, ...body });
  const refused = async (body: object) => {
    const res = await api('post', 'schedule_actions', {
      body: { schedule_id: scheduleId, ...body },
    });
    expect(res.status).toBe(422);
    return Object.keys(res.body.errors).toSorted();
  };

  test(
    'comes last unless it has a position, and the schedule lists its actions ' + 'in order',
    async () => {
      const sms = await action({ action_type: 'sms', body: 'a' });
      const wait = await action({ action_type: 'wait', wait_amount: 1, wait_unit: 'days' });
      const first = await action({ action_type: 'exit', position: 0.5 });
      const end = await action({ action_type: 'sms', body: 'bye', end_of_schedule: true });
      expect([sms.position, wait.position, end.position]).toEqual([1, 2, 1]);
      const listed = (await api('get', `schedules/${scheduleId}`)).body.schedule
        .schedule_action_ids;
      expect(listed).toEqual([first.id, sms.id, wait.id, end.id]);
      expect(
        (await api('get', `schedule_actions?schedule_id=${scheduleId}&order=position`)).body
          .metadata.total_count,
      ).toBe(4);
      expect(await refused({ action_type: 'exit', position: 1 })).toEqual(['position']);
    },
  );

  test.each([
    ['dial', { body: 'x' }, ['body']],
    ['sms', {}, ['body']],
    ['sms', { body: 'x'.repeat(1_601) }, ['body']],
    ['sms', { body: 'x', url: 'https://example.com' }, ['url']],
    ['email', { body: 'x' }, ['subject']],
    [
      'email',
      { subject: 'x', body: 'x', from_email: 'a@example.com, b@example.com' },
      ['from_email'],
    ],
    [
      'email',
      { subject: 'x', body: 'x', from_email: 'a@example.com\r\nBcc: b@example.com' },
      ['from_email'],
    ],
    ['wait', {}, ['wait_amount']],
    ['wait', { wait_amount: 5 }, ['wait_unit']],
    ['wait', { wait_amount: 5, wait_unit: 'days', wait_until: '09:00' }, ['wait_until']],
    ['wait', { wait_until: '24:00' }, ['wait_until']],
    ['webhook', {}, ['url']],
    ['webhook', { url: 'http://169.254.169.254/latest' }, ['url']],
    ['webhook', { url: 'ftp://example.com' }, ['url']],
    ['webhook', { url: 'https://example.com', headers: { Host: 'other' } }, ['headers']],
    ['restart', { end_of_schedule: true }, ['end_of_schedule']],
    ['move_to_schedule', {}, ['to_schedule_id']],
    ['exit', { token_filter_list: ['age:>=old'] }, ['token_filter_list.0']],
  ])('of type %s with %j is refused on %j', async (actionType, fields, fault) => {
    expect(await refused({ action_type: actionType, ...fields })).toEqual(fault);
  });

  test('of another type leaves behind what only the type before had', async () => {
    const { id } = await action({ action_type: 'sms', body: 'Hi {{first_name}}' });
    const changed = (
      await api('put', `schedule_actions/${id}`, {
        body: { action_type: 'wait', wait_until: '09:30' },
      })
    ).body.schedule_action;
    expect(changed).toMatchObject({ action_type: 'wait', wait_until: '09:30', body: null });
  });

  test('twenty made at once have twenty places', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        api('post', 'schedule_actions', { body: { schedule_id: scheduleId, action_type: 'exit' } }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 201));
    const positions = results
      .map(({ body }) => body.schedule_action.position)
      .toSorted((a, b) => a - b);
    expect(positions).toEqual(results.map((_, n) => n + 1));
  });
});
