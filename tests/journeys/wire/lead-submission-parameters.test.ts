import { openShop, runEngine } from '../../support/leads';
import { type Company } from '../../support/world';
import type { Fields } from '../../support/records';
import { useSubmissions } from '../../support/submissions';

const here = useSubmissions();
const { api, busy, complete, createBusyLead, createLead, faults, listSent } = here;
const { listWarnings, post, shop, theirs, time, world } = here;

describe('the parameter', () => {
  test(
    'lead_token of an offer: the data waits there for a call of the same ' + 'caller_id',
    async () => {
      const { lead } = await createLead({ lead_token: shop.offer.lead_token, first_name: 'Ann' });
      expect(lead).toMatchObject({
        offer_id: shop.offer.id,
        schedule_id: null,
        status: 'queue',
        has_next_action: false,
        data: { first_name: 'Ann' },
      });
    },
  );

  test(
    'lead_token of a schedule, caller_id and data: its actions begin, dial and ' +
      'text that number, and inherit the tokens',
    async () => {
      const { lead, id } = await createBusyLead({
        caller_id: '3105552002',
        data: { first_name: 'Ann' },
      });
      expect(lead).toMatchObject({
        offer_id: busy.offer.id,
        schedule_id: busy.schedule.id,
        status: 'scheduled',
        has_next_action: true,
      });
      await runEngine(world);
      expect(await listSent('text_messages', { id })).toMatchObject([
        { to_number: '13105552002', body: 'Hi Ann', token_values: { first_name: 'Ann' } },
      ]);
      expect(await listSent('calls', { id })).toMatchObject([
        {
          to_number: '13105552002',
          connect_to: '+13105550199',
          token_values: { first_name: 'Ann' },
        },
      ]);
    },
  );

  test('email: required for e-mails of schedules, which are skipped without', async () => {
    const [withEmail, without] = [
      await createBusyLead({ email: 'ann@example.com', first_name: 'Ann' }),
      await createBusyLead(),
    ];
    await runEngine(world);
    expect(await listSent('emails', withEmail)).toMatchObject([
      { to_email: 'ann@example.com', subject: 'Hello Ann' },
    ]);
    expect([await listSent('emails', without), (await listSent('calls', without)).length]).toEqual([
      [],
      1,
    ]);
  });

  test.each<[string, Fields, Fields]>([
    ['contact_field_type', { contact_field_type: '17' }, { contact_field_type: '17' }],
    ['sub_id', { sub_id: 'google-7' }, { sub_id: 'google-7' }],
    ['expires_in', { expires_in: '90' }, { expires_in: 90 }],
    [
      'ip_address',
      { ip_address: '203.0.113.7', remote_ip: '203.0.113.8' },
      { remote_ip: '203.0.113.7' },
    ],
    ['remote_ip', { remote_ip: '2001:db8::7' }, { remote_ip: '2001:db8::7' }],
    [
      'neither of them: the address of the request',
      {},
      { remote_ip: expect.stringMatching(/127\.0\.0\.1$/) },
    ],
    ['time_zone: no token', { time_zone: 'Eastern Time (US & Canada)' }, { data: {} }],
    [
      'serializer: no token',
      { serializer: 'lead_grid' },
      { data: {}, next_schedule_action_id: expect.any(Number) },
    ],
  ])('%s', async (_, fields, expected) =>
    expect((await createLead(fields)).lead).toMatchObject(expected),
  );

  test.each(['schedule_callback_at', 'schedule_callback_in_seconds'])(
    '%s: schedules a callback, for which the schedule waits',
    async (name) => {
      const lead = await createBusyLead({
        [name]: name.endsWith('_at') ? '2027-01-12 18:00:00 +0000' : 3600,
      });
      expect(lead.lead).toMatchObject({
        status: 'waiting',
        next_action_at: '2027-01-12T18:00:00.000+00:00',
        scheduled_callback_id: expect.any(Number),
      });
      await runEngine(world);
      expect([await listSent('calls', lead), await listSent('text_messages', lead)]).toEqual([
        [],
        [],
      ]);
      time.set('2027-01-12T18:00:00Z');
      await runEngine(world);
      expect([
        (await listSent('calls', lead)).length,
        (await listSent('text_messages', lead)).length,
      ]).toEqual([2, 1]);
    },
  );

  test('apply_to: only calls is allowed', async () => {
    expect(await listWarnings({ apply_to: 'emails' })).toEqual(['apply_to']);
    expect((await createLead({ apply_to: 'calls' })).lead.data).toEqual({});
  });

  test('blocked: no outbound action is taken for the lead', async () => {
    const lead = await createBusyLead({ blocked: 'true' });
    expect([lead.lead.status, lead.lead.blocked, Object.keys(lead.warnings)]).toEqual([
      'blocked',
      true,
      ['caller_id'],
    ]);
    await runEngine(world);
    expect([await listSent('calls', lead), await listSent('text_messages', lead)]).toEqual([
      [],
      [],
    ]);
  });

  test.each(['assign_service_number', 'assign_trackdrive_number'])(
    '%s: returns service_number_plain, from which the lead is called',
    async (name) => {
      // With credentials, which show the whole lead: its checksum is that of show.
      const { body: lead } = await api('post', 'leads', {
        body: complete({ lead_token: busy.schedule.lead_token, [name]: 'yes' }),
      });
      expect([lead.service_number_plain, lead.sms_number_plain]).toEqual(['12125550100', null]);
      expect([lead.lead.dial_number_id, lead.lead.sms_number_id]).toEqual([
        expect.any(Number),
        null,
      ]);
      const { body, headers } = await api('get', `leads/${lead.id}`);
      expect([body.lead.dial_number_id, body.checksum, headers.etag]).toEqual([
        lead.lead.dial_number_id,
        lead.checksum,
        `"${lead.checksum}"`,
      ]);
      await runEngine(world);
      expect(await listSent('calls', lead)).toMatchObject([{ from_number: '12125550100' }]);
    },
  );

  test(
    'assign_sms_number: returns sms_number_plain; without a number to assign there ' +
      'is a warning',
    async () => {
      const lead = await createBusyLead({ assign_sms_number: 'on' });
      expect([lead.sms_number_plain, lead.service_number_plain, lead.lead.sms_number_id]).toEqual([
        '12125550100',
        null,
        expect.any(Number),
      ]);
      const poor = await world.addCompany('Poor');
      const { lead_token } = (await poor.api('post', 'offers', { body: { name: 'Offer' } })).body
        .offer;
      const res = await poor.api('post', 'leads', {
        auth: null,
        body: complete({ lead_token, assign_sms_number: true, assign_service_number: true }),
      });
      expect([res.status, res.body.sms_number_plain, res.body.service_number_plain]).toEqual([
        201,
        null,
        null,
      ]);
      expect(Object.keys(res.body.warnings).toSorted()).toEqual([
        'assign_service_number',
        'assign_sms_number',
      ]);
    },
  );

  test('lead_priority: lower values are processed first, and those without last', async () => {
    const ids: number[] = [];
    for (const leadPriority of [null, '5', -1.5, '2.25'])
      ids.push((await createBusyLead({ lead_priority: leadPriority })).id);
    await runEngine(world);
    const texts = await world.sql<{ lead_id: string }>(
      'SELECT lead_id FROM text_messages WHERE lead_id = ANY($1::bigint[]) ORDER BY id',
      [ids],
    );
    expect(texts.map(({ lead_id }) => Number(lead_id))).toEqual([ids[2], ids[3], ids[1], ids[0]]);
  });

  test('auto_format_nested_fields: finds contact fields in a post of another shape', async () => {
    const contact = {
      phoneNumber: '(310) 555-2003',
      emailAddress: 'ann@example.com',
      name: { firstName: 'Ann', lastName: 'Lee' },
      zipCode: 90210,
    };
    const { lead } = await createLead({
      caller_id: undefined,
      auto_format_nested_fields: 'true',
      payload: { contact },
    });
    expect(lead).toMatchObject({
      caller_id: '+13105552003',
      email: 'ann@example.com',
      full_name: 'Ann Lee',
      zip_postal_code: '90210',
    });
    expect(await faults({ caller_id: undefined, payload: { contact } })).toEqual(['caller_id']);
  });

  test('traffic_source_id: number, uuid or own identifier of an own source', async () => {
    const source = async (company: Company) =>
      (
        await company.api('post', 'traffic_sources', {
          body: { name: 'S', user_traffic_source_id: 'radio' },
        })
      ).body.traffic_source;
    const [mine, otherSource] = [await source(world.company), await source(theirs)];
    for (const trafficSourceId of [mine.id, String(mine.id), mine.uuid, 'radio'])
      expect(
        (await createLead({ traffic_source_id: trafficSourceId })).lead.traffic_source_id,
      ).toBe(mine.id);
    for (const trafficSourceId of [otherSource.id, otherSource.uuid, 'tv'])
      expect(await listWarnings({ traffic_source_id: trafficSourceId })).toEqual([
        'traffic_source_id',
      ]);
  });

  test(
    'offer_lead_token with that of a schedule: the offer of the lead; tokens of ' +
      'another kind are refused',
    async () => {
      const otherShop = await openShop(world, []);
      const { lead } = await createLead({ offer_lead_token: otherShop.offer.lead_token });
      expect([lead.schedule_id, lead.offer_id]).toEqual([shop.schedule.id, otherShop.offer.id]);
      const response = await post({ caller_id: lead.caller_id });
      expect([response.body.id, response.body.lead.offer_id]).toEqual([
        lead.id,
        otherShop.offer.id,
      ]);
      expect(await faults({ schedule_lead_token: shop.offer.lead_token })).toEqual([
        'schedule_lead_token',
      ]);
      expect(await faults({ schedule_lead_token: otherShop.schedule.lead_token })).toEqual([
        'schedule_lead_token',
      ]);
      expect(await faults({ offer_lead_token: otherShop.schedule.lead_token })).toEqual([
        'offer_lead_token',
      ]);
      expect(
        await faults({
          lead_token: shop.offer.lead_token,
          offer_lead_token: otherShop.offer.lead_token,
        }),
      ).toEqual(['offer_lead_token']);
    },
  );

  test(
    'lead_token of a schedule: the lead belongs to the offer that the ' + 'schedule has now',
    async () => {
      const { schedule } = await openShop(world, []);
      await createLead({ lead_token: schedule.lead_token });
      await api('put', `schedules/${schedule.id}`, { body: { offer_id: shop.offer.id } });
      expect((await createLead({ lead_token: schedule.lead_token })).lead.offer_id).toBe(
        shop.offer.id,
      );
      await api('put', `schedules/${schedule.id}`, { body: { offer_id: null } });
      expect((await createLead({ lead_token: schedule.lead_token })).lead.offer_id).toBe(null);
    },
  );
});
