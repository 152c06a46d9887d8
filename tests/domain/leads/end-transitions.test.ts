import { owners, useLeads } from '../../support/lead-records';
import { DIAL, type Shop, openShop, runEngine, sms } from '../../support/leads';
import type { Fields } from '../../support/records';

const { api, at, calls, createLead, open, post, shown, texts, world } = useLeads();

describe.each(owners)('POST /api/v1/leads to an %s', (owner) => {
  let shop: Shop;
  let leadToken: string;
  const isSchedule = owner === 'schedule';
  beforeAll(async () => {
    shop = await open();
    ({ lead_token: leadToken } = shop[owner]);
  });
  const remove = ({ caller_id }: Fields) =>
    api('post', `leads/${String(caller_id)}/caller_remove`, {
      auth: null,
      query: { lead_token: leadToken },
    });

  test(
    "blocked true | the lead cannot call any of the account's numbers and no " +
      'outbound actions are taken for it',
    async () => {
      const elsewhere = await createLead((await open()).schedule.lead_token, {
        next_action_at: '2027-01-12 18:00:00 +0000',
      });
      const { caller_id } = elsewhere;
      const lead = await createLead(leadToken, {
        caller_id,
        schedule_callback_in_seconds: 60,
        blocked: true,
      });
      expect(lead).toMatchObject({ status: 'blocked', blocked: true, has_next_action: false });
      await at('2027-01-13T18:00:00Z');
      expect([
        await texts(elsewhere),
        await texts(lead),
        await calls(lead),
        (await shown(elsewhere)).status,
      ]).toEqual([[], [], 0, 'blocked']);
      expect(
        (await api('get', 'contacts', { query: { caller_id, blocked: true } })).body.contacts,
      ).toMatchObject([{ caller_id, blocked: true }]);
      await api('post', 'contacts/caller_unblock', { body: { caller_ids: [caller_id] } });
      await runEngine(world);
      expect(await texts(elsewhere)).toEqual(['first']);
    },
  );

  test(
    'PUT /api/v1/leads/:caller_id/caller_opt_out | lead_token given | lead is ' +
      'opted out; no more SMS, calls or emails',
    async () => {
      const lead = await createLead(leadToken, { schedule_callback_in_seconds: 60 });
      const otherLead = await createLead((await open()).schedule.lead_token, {
        caller_id: lead.caller_id,
        next_action_at: '2027-01-12 18:00:00 +0000',
      });
      const elsewhere = await createLead((await open()).schedule.lead_token, {
        caller_id: lead.caller_id,
      });
      const optOut = (more: Fields) =>
        api('put', `leads/${lead.caller_id}/caller_opt_out`, {
          query: { lead_token: leadToken },
          ...more,
        });
      const res = await optOut({ auth: null });
      expect([res.status, res.body.lead]).toMatchObject([
        200,
        {
          id: lead.id,
          status: 'opt_out',
          opt_out: true,
          has_next_action: false,
          is_live: !isSchedule,
        },
      ]);
      await runEngine(world);
      // The token speaks for its own offer or schedule; credentials speak for the company.
      expect(await texts(elsewhere)).toEqual(['first']);
      await optOut({});
      await at('2027-01-14T17:00:00Z');
      expect(await texts(elsewhere)).toEqual(['first']);
      for (const optedOutLead of [lead, otherLead])
        expect([
          await texts(optedOutLead),
          await calls(optedOutLead),
          (await shown(optedOutLead)).status,
        ]).toEqual([[], 0, 'opt_out']);
      const response = await post(leadToken, {
        caller_id: lead.caller_id,
        ...(isSchedule && { restart_schedule: true }),
      });
      // An opt-out has ended its schedule.
      expect([
        response.status,
        response.body.lead.status,
        Object.keys(response.body.warnings),
      ]).toEqual([isSchedule ? 201 : 200, 'opt_out', ['caller_id']]);
      await runEngine(world);
      expect([await texts(lead), await calls(lead)]).toEqual([[], 0]);
    },
  );

  test(
    '/api/v1/leads/:caller_id/caller_remove | lead_token given | lead is removed ' +
      'from the schedule or offer; no further actions are taken for it',
    async () => {
      const lead = await createLead(leadToken, { schedule_callback_in_seconds: 60 });
      const res = await remove(lead);
      expect([res.status, res.body.lead]).toMatchObject([
        200,
        {
          id: lead.id,
          status: 'disabled',
          is_live: false,
          has_next_action: false,
          schedule_ended_at: expect.any(String),
        },
      ]);
      await at('2027-01-14T17:00:00Z');
      expect([await texts(lead), await calls(lead)]).toEqual([[], 0]);
      expect((await remove(lead)).body.lead).toEqual(res.body.lead);
    },
  );

  test(
    'PUT /api/v1/leads/:caller_id/caller_move_to_end_of_schedule | lead_token ' +
      'given | lead moves to the end of its schedule',
    async () => {
      const lead = await createLead(leadToken, {
        schedule_callback_at: '2027-01-13 17:00:00 +0000',
      });
      const move = () =>
        api('put', `leads/${lead.caller_id}/caller_move_to_end_of_schedule`, {
          auth: null,
          query: { lead_token: leadToken },
        });
      const res = await move();
      if (!isSchedule)
        return expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['lead_token']]);
      expect([res.status, res.body.lead]).toMatchObject([
        200,
        {
          id: lead.id,
          status: 'scheduled',
          next_action_at: '2027-01-12T17:00:00.000+00:00',
          scheduled_callback_id: null,
        },
      ]);
      await runEngine(world);
      expect([await texts(lead), (await shown(lead)).is_live]).toEqual([['bye'], false]);
      const response = await move();
      expect([response.status, Object.keys(response.body.errors)]).toEqual([422, ['caller_id']]);
      await at('2027-01-14T17:00:00Z');
      expect([await texts(lead), await calls(lead)]).toEqual([['bye'], 0]);
    },
  );
});

describe(
  'time | hours_to_expire hours have passed | lead exits the schedule and ' +
    'end-of-schedule actions run',
  () => {
    test.each<[string, Fields, Fields]>([
      ['of the schedule', { hours_to_expire: 2 }, {}],
      ['of the lead, which counts more', { hours_to_expire: 1 }, { hours_to_expire: 2 }],
      ['of the lead, in minutes', { hours_to_expire: 1 }, { hours_to_expire: 1, expires_in: 120 }],
    ])('those %s', async (_, ofSchedule, ofLead) => {
      const { schedule } = await open(ofSchedule);
      const lead = await createLead(schedule.lead_token, ofLead);
      await runEngine(world);
      await at('2027-01-12T18:59:59Z');
      expect([await texts(lead), (await shown(lead)).is_live]).toEqual([['first'], true]);
      await at('2027-01-12T19:00:00Z');
      expect([await texts(lead), await shown(lead)]).toMatchObject([
        ['first', 'bye'],
        { status: 'expired', is_live: false, schedule_ended_at: '2027-01-12T19:00:00.000+00:00' },
      ]);
    });

    test('a submission may move them while the lead waits', async () => {
      const lead = await createLead((await open()).schedule.lead_token);
      const { lead_token } = (await open({ hours_to_expire: 1 })).schedule;
      const waiting = await createLead(lead_token);
      await runEngine(world);
      await post(lead_token, { caller_id: waiting.caller_id, hours_to_expire: 3 });
      await at('2027-01-12T19:00:00Z');
      expect(await texts(waiting)).toEqual(['first']);
      await at('2027-01-12T20:00:00Z');
      expect([await texts(waiting), await texts(lead)]).toEqual([['first', 'bye'], ['first']]);
    });

    test('a lead of an offer is no longer picked up after expires_in minutes', async () => {
      const lead = await createLead((await open()).offer.lead_token, { expires_in: 90 });
      await at('2027-01-12T18:29:59Z');
      expect(await shown(lead)).toMatchObject({ status: 'queue', is_live: true });
      await at('2027-01-12T18:30:00Z');
      expect(await shown(lead)).toMatchObject({ status: 'expired', is_live: false });
    });
  },
);

describe(
  'outbound activity | outbound calls plus SMS reach max_contact_attempts | lead ' +
    'exits the schedule and end-of-schedule actions run',
  () => {
    test.each<[string, Fields, Fields]>([
      ['of the schedule', { max_contact_attempts: 2 }, {}],
      ['of the lead, which counts more', { max_contact_attempts: 1 }, { max_contact_attempts: 2 }],
    ])('those %s', async (_, ofSchedule, ofLead) => {
      const email = { action_type: 'email', subject: 'no attempt', body: 'Hi' };
      const { schedule } = await openShop(
        world,
        [sms('one'), email, DIAL, sms('two many'), email, sms('bye', { end: true })],
        ofSchedule,
      );
      const lead = await createLead(schedule.lead_token, { email: 'ann@example.com', ...ofLead });
      await runEngine(world);
      expect([await texts(lead), await calls(lead), await shown(lead)]).toMatchObject([
        ['one', 'bye'],
        1,
        { status: 'exceeded_max_calls', is_live: false },
      ]);
      expect(await world.sql('SELECT FROM emails WHERE lead_id = $1', [lead.id])).toHaveLength(1);
    });
  },
);
