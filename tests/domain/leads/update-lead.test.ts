import { openShop, runEngine } from '../../support/leads';
import { iso, useLeadRecords } from '../../support/lead-records';
import type { Fields } from '../../support/records';

const here = useLeadRecords();
const { api, at, change, createLead, faults, post, remove } = here;
const { scheduled, shop, shown, texts, theirs, time, world } = here;

describe('a change of a lead', () => {
  test.each<[string, Fields]>([
    ['email', { email: 'new@example.com' }],
    ['contact_field_type', { contact_field_type: '17' }],
    ['sub_id', { sub_id: 's-2' }],
    ['lead_priority', { lead_priority: -1.5 }],
    ['hours_to_expire', { hours_to_expire: 48 }],
    ['max_contact_attempts', { max_contact_attempts: 7 }],
    ['external_record_id', { external_record_id: 'crm-1' }],
  ])('of %s keeps the rest, and null clears it', async (name, fields) => {
    const before = await scheduled({
      email: 'ann@example.com',
      sub_id: 's-1',
      first_name: 'Ann',
      next_action_at: '2027-02-01',
      hours_to_expire: 2000,
    });
    time.set('2027-01-12T17:00:01Z');
    const now = iso('2027-01-12T17:00:01Z');
    const expected = { ...before, ...fields, updated_at: now, user_updated_at: now };
    expect(await change(before, fields)).toEqual(expected);
    await runEngine(world);
    expect(await shown(before)).toMatchObject({ ...fields, next_action_at: before.next_action_at });
    expect((await change(before, { [name]: null }))[name]).toBe(null);
    expect((await change(before, { [name]: String(Object.values(fields)[0]) }))[name]).toBe(
      Object.values(fields)[0],
    );
  });

  test('of traffic_source_id takes number, uuid and the company’s own identifier', async () => {
    const [mine, otherSource] = [
      await api('post', 'traffic_sources', { body: { name: 'S', user_traffic_source_id: 'tv' } }),
      await theirs.api('post', 'traffic_sources', { body: { name: 'S' } }),
    ];
    const lead = await scheduled();
    const { id, uuid } = mine.body.traffic_source;
    for (const trafficSourceId of [id, uuid, 'tv', String(id)])
      expect((await change(lead, { traffic_source_id: trafficSourceId })).traffic_source_id).toBe(
        id,
      );
    expect((await change(lead, { traffic_source_id: null })).traffic_source_id).toBe(null);
    for (const trafficSourceId of [otherSource.body.traffic_source.id, 'radio'])
      expect(await faults(lead, { traffic_source_id: trafficSourceId })).toEqual([
        'traffic_source_id',
      ]);
  });

  test(
    'of data adds, replaces and, with null, removes tokens; the zone follows the ' + 'ZIP code',
    async () => {
      const lead = await scheduled({
        first_name: 'Ann',
        last_name: 'Lee',
        address: { city: 'LA', street: null },
      });
      expect(
        (await change(lead, { data: { 'First Name': 'Eve', last_name: null, age: 7 } })).data,
      ).toEqual({ first_name: 'Eve', address: { city: 'LA', street: null }, age: 7 });
      expect((await change(lead, { data: null })).data).toEqual({
        first_name: 'Eve',
        address: { city: 'LA', street: null },
        age: 7,
      });
      await post(shop.schedule.lead_token, { caller_id: lead.caller_id, age: null });
      expect((await shown(lead)).data).toEqual({
        first_name: 'Eve',
        address: { city: 'LA', street: null },
      });
      expect([
        lead.time_zone,
        (await change(lead, { data: { zip: '10001' } })).zip_postal_code,
      ]).toEqual(['America/Los_Angeles', '10001']);
      expect(
        (await world.sql<Fields>('SELECT zones FROM leads WHERE id = $1', [lead.id]))[0]!.zones,
      ).toEqual(['America/New_York']);
      expect((await change(lead, { data: { zip: { toString: 1 } } })).data.zip).toEqual({
        toString: 1,
      });
    },
  );

  test.each([
    ['opt_out', 'opt_out'],
    ['blocked', 'blocked'],
  ])(
    'of %s holds for all leads of the number, and stops them until it is taken back',
    async (name, status) => {
      // By default an opt-out ends the schedule.
      await api('put', `schedules/${shop.schedule.id}`, { body: { exit_on: [] } });
      const lead = await scheduled();
      const otherLead = await createLead(shop.offer.lead_token, {
        caller_id: lead.caller_id,
        expires_in: 600,
      });
      expect(await change(lead, { [name]: true })).toMatchObject({
        [name]: true,
        status,
        has_next_action: false,
        is_live: true,
      });
      expect(await shown(otherLead)).toMatchObject({ [name]: true, status });
      await runEngine(world);
      expect(await texts(lead)).toEqual([]);
      expect(await change(lead, { [name]: false })).toMatchObject({
        [name]: false,
        status: 'scheduled',
        has_next_action: true,
      });
      expect(await shown(otherLead)).toMatchObject({ [name]: false, status: 'queue' });
      await runEngine(world);
      expect(await texts(lead)).toEqual(['first']);
    },
  );

  test('of next_action_at moves the next action; null has it done at once', async () => {
    const [moved, hurried] = [await scheduled(), await scheduled()];
    await runEngine(world);
    expect(
      await change(moved, { next_action_at: '2027-01-12 13:00:00', time_zone: 'America/New_York' }),
    ).toMatchObject({ next_action_at: iso('2027-01-12T18:00:00Z'), status: 'scheduled' });
    await change(hurried, { next_action_at: null });
    await runEngine(world);
    expect([await texts(moved), await texts(hurried)]).toEqual([['first'], ['first', 'second']]);
    await at('2027-01-12T18:00:00Z');
    expect(await texts(moved)).toEqual(['first', 'second']);
  });

  test.each(['offer', 'schedule'] as const)(
    'of schedule_callback_at has the lead of an %s called then; null takes the callback back',
    async (owner) => {
      const buyer = (await api('post', 'buyers', { body: { name: 'B', number: '+13105550188' } }))
        .body.buyer;
      await api('put', `offers/${shop.offer.id}`, { body: { buyer_ids: [buyer.id] } });
      const [called, canceled] = [
        await createLead(shop[owner].lead_token),
        await createLead(shop[owner].lead_token),
      ];
      for (const lead of [called, canceled])
        expect(
          await change(lead, { schedule_callback_at: '2027-01-12 18:00:00 +0000' }),
        ).toMatchObject({
          status: 'waiting',
          next_action_at: iso('2027-01-12T18:00:00Z'),
          scheduled_callback_id: expect.any(Number),
        });
      expect(await change(canceled, { schedule_callback_at: null })).toMatchObject({
        scheduled_callback_id: null,
        status: owner === 'offer' ? 'queue' : 'scheduled',
        has_next_action: owner === 'schedule',
      });
      await at('2027-01-12T18:00:00Z');
      const calls = async ({ id }: { id: number }) =>
        (await world.sql('SELECT FROM calls WHERE lead_id = $1', [id])).length;
      expect([await calls(called), await calls(canceled), (await shown(canceled)).status]).toEqual([
        1,
        0,
        owner === 'offer' ? 'queue' : 'waiting',
      ]);
    },
  );

  test(
    'of restart_schedule starts its schedule again, also for a lead that ' + 'has ended',
    async () => {
      const lead = await scheduled();
      await runEngine(world);
      await change(lead, { restart_schedule: true });
      await runEngine(world);
      expect(await texts(lead)).toEqual(['first', 'first']);
      await remove(lead, shop.schedule.lead_token);
      expect(
        await change(lead, { restart_schedule: true, next_action_at: '2027-01-12 18:00:00 +0000' }),
      ).toMatchObject({ is_live: true, status: 'scheduled', schedule_ended_at: null });
      await at('2027-01-12T18:00:00Z');
      expect(await texts(lead)).toEqual(['first', 'first', 'first']);
      expect((await post(shop.schedule.lead_token, { caller_id: lead.caller_id })).body.id).toBe(
        lead.id,
      );
    },
  );

  test('is refused where it has no sense', async () => {
    const [offered, ended, live] = [
      await createLead(shop.offer.lead_token),
      await scheduled(),
      await scheduled(),
    ];
    await remove(ended, shop.schedule.lead_token);
    expect(await faults(offered, { next_action_at: '2027-02-01' })).toEqual(['next_action_at']);
    expect(await faults(offered, { restart_schedule: true })).toEqual(['restart_schedule']);
    expect((await change(offered, { next_action_at: null })).has_next_action).toBe(false);
    expect(await faults(ended, { next_action_at: '2027-02-01' })).toEqual(['next_action_at']);
    expect(await faults(ended, { schedule_callback_at: '2027-02-01' })).toEqual([
      'schedule_callback_at',
    ]);
    await scheduled({ caller_id: ended.caller_id });
    expect(await faults(ended, { restart_schedule: true })).toEqual(['restart_schedule']);
    for (const [name, value] of [
      ['email', 'a@b.example\r\nBcc: c@d.example'],
      ['email', 'a@b.example,c@d.example'],
      ['caller_id', '3105550123'],
      ['status', 'queue'],
      ['data', []],
      ['sub_id', 'x\0'],
      ['hours_to_expire', 0],
      ['first_name', 'x'],
    ])
      expect(await faults(live, { [name as string]: value })).toEqual([name]);
    for (const data of [
      { '😀': 1 },
      { a: 'x'.repeat(65_536) },
      { n: Array.from({ length: 1_000 }, () => 1e300) },
    ])
      expect(await faults(live, { data })).toHaveLength(1);
  });

  test(
    'of restart_schedule, of two ended leads of a number at once, brings one of ' + 'them back',
    async () => {
      const first = await scheduled();
      await remove(first, shop.schedule.lead_token);
      const second = await scheduled({ caller_id: first.caller_id });
      await remove(second, shop.schedule.lead_token);
      const both = await Promise.all(
        [first, second].map(({ id }) =>
          api('put', `leads/${id}`, { body: { restart_schedule: true } }),
        ),
      );
      expect(both.map(({ status, body }) => [status, Object.keys(body.errors)]).toSorted()).toEqual(
        [
          [200, []],
          [422, ['restart_schedule']],
        ],
      );
      expect([(await shown(first)).is_live, (await shown(second)).is_live].toSorted()).toEqual([
        false,
        true,
      ]);
    },
  );

  test('of a lead whose schedule is paused comes into effect when it goes on', async () => {
    const { schedule } = await openShop(world, [{ action_type: 'sms', body: 'first' }], {
      paused: true,
    });
    const lead = await createLead(schedule.lead_token);
    for (const fields of [
      { restart_schedule: true },
      { hours_to_expire: 5 },
      { next_action_at: '2027-01-12 18:00:00 +0000' },
    ])
      expect(await change(lead, fields)).toMatchObject({
        status: 'disabled',
        has_next_action: false,
        is_live: true,
      });
    await runEngine(world);
    expect(await texts(lead)).toEqual([]);
  });

  test('that would make the data grow beyond 128 kB is refused', async () => {
    const lead = await scheduled();
    for (const name of ['a', 'b']) await change(lead, { data: { [name]: 'x'.repeat(60_000) } });
    expect(await faults(lead, { data: { c: 'x'.repeat(60_000) } })).toEqual(['data']);
  });
});
