import { runEngine, type Shop } from '../../support/leads';
import { fresh, owners, useLeads } from '../../support/lead-records';
import type { Fields } from '../../support/records';

const { api, at, count, createLead, isGone, open, post, shown, texts, world } = useLeads();

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
    'no matching lead exists and update_only is not true | lead is created and ' +
      'enters the offer or schedule',
    async () => {
      const lead = await createLead(leadToken, { update_only: false });
      expect(lead).toMatchObject({
        is_live: true,
        offer_id: shop.offer.id,
        schedule_id: isSchedule ? shop.schedule.id : null,
        status: isSchedule ? 'scheduled' : 'queue',
      });
      await runEngine(world);
      expect(await texts(lead)).toEqual(isSchedule ? ['first'] : []);
      const response = await post(leadToken, { caller_id: lead.caller_id, first_name: 'Ann' });
      expect([response.status, response.body.id, response.body.lead.status]).toEqual([
        200,
        lead.id,
        isSchedule ? 'waiting' : 'queue',
      ]);
      await remove(lead);
      expect((await createLead(leadToken, { caller_id: lead.caller_id })).id).not.toBe(lead.id);
    },
  );

  test('however many come at once, one lead lives', async () => {
    const callerId = fresh();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        post(leadToken, {
          caller_id: callerId,
          [`t${n}`]: n,
          ...(n % 2 && { assign_sms_number: true }),
        }),
      ),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 19 }, () => 200),
      201,
    ]);
    const leads = (await api('get', 'leads', { query: { number: callerId } })).body.leads;
    expect([leads.length, Object.keys(leads[0].data).length]).toEqual([1, 20]);
  });

  test(
    'update_only true | only existing active leads are updated; none is created; ' +
      'leads that finished all actions are not updated',
    async () => {
      const before = await count();
      const none = await post(leadToken, { caller_id: fresh(), update_only: true });
      expect([none.status, Object.keys(none.body.errors), await count()]).toEqual([
        422,
        ['update_only'],
        before,
      ]);
      const lead = await createLead(leadToken, { first_name: 'Ann' });
      const updated = await post(leadToken, {
        caller_id: lead.caller_id,
        update_only: 'yes',
        last_name: 'Lee',
        sub_id: 's',
      });
      expect([
        updated.status,
        updated.body.id,
        updated.body.lead.data,
        updated.body.lead.sub_id,
      ]).toEqual([200, lead.id, { last_name: 'Lee' }, 's']);
      expect((await shown(lead)).data).toEqual({ first_name: 'Ann', last_name: 'Lee' });
      if (isSchedule)
        await api('put', `leads/${lead.caller_id}/caller_move_to_end_of_schedule`, {
          auth: null,
          query: { lead_token: leadToken },
        });
      else await remove(lead);
      await runEngine(world);
      const finished = await shown(lead);
      expect(finished.is_live).toBe(false);
      expect(
        (
          await post(leadToken, {
            caller_id: lead.caller_id,
            update_only: true,
            first_name: 'Eve',
          })
        ).status,
      ).toBe(422);
      expect(await shown(lead)).toEqual(finished);
    },
  );

  test(
    'expire_existing true | existing live schedule leads matching lead_token and ' +
      'caller_id are expired',
    async () => {
      const [lead, otherLead] = [await createLead(leadToken), await createLead(leadToken)];
      const res = await post(leadToken, { caller_id: lead.caller_id, expire_existing: true });
      if (isSchedule) {
        expect([res.status, await shown(lead)]).toMatchObject([
          201,
          {
            status: 'expired',
            is_live: false,
            has_next_action: false,
            schedule_ended_at: expect.any(String),
          },
        ]);
        await at('2027-01-14T17:00:00Z');
        expect([await texts(lead), await texts(res.body)]).toEqual([[], ['first']]);
      } else
        expect([res.status, res.body.id, Object.keys(res.body.warnings)]).toEqual([
          200,
          lead.id,
          ['expire_existing'],
        ]);
      expect((await shown(otherLead)).is_live).toBe(true);
    },
  );

  test(
    'delete_existing true | existing leads matching lead_token and caller_id ' + 'are deleted',
    async () => {
      const [ended, otherLead] = [await createLead(leadToken), await createLead(leadToken)];
      await remove(ended);
      const live = await createLead(leadToken, { caller_id: ended.caller_id, first_name: 'Ann' });
      const elsewhere = await createLead(shop[isSchedule ? 'offer' : 'schedule'].lead_token, {
        caller_id: ended.caller_id,
      });
      const before = await count();
      const lead = await createLead(leadToken, {
        caller_id: ended.caller_id,
        delete_existing: true,
      });
      expect([
        await isGone(ended),
        await isGone(live),
        await isGone(otherLead),
        await isGone(elsewhere),
        lead.data,
      ]).toEqual([true, true, false, false, {}]);
      expect(await count()).toBe(before - 1);
      await runEngine(world);
      expect([await texts(live), await texts(lead)]).toEqual([[], isSchedule ? ['first'] : []]);
    },
  );

  test("restart_schedule true | the lead's schedule restarts from the beginning", async () => {
    const lead = await createLead(leadToken, { first_name: 'Ann' });
    await runEngine(world);
    const restart = await post(leadToken, { caller_id: lead.caller_id, restart_schedule: true });
    if (!isSchedule)
      return expect([restart.status, Object.keys(restart.body.warnings)]).toEqual([
        200,
        ['restart_schedule'],
      ]);
    expect([restart.status, restart.body.lead]).toMatchObject([
      200,
      {
        id: lead.id,
        status: 'scheduled',
        next_action_at: '2027-01-12T17:00:00.000+00:00',
      },
    ]);
    expect((await shown(lead)).data).toEqual({ first_name: 'Ann' });
    await runEngine(world);
    expect(await texts(lead)).toEqual(['first', 'first']);
    await at('2027-01-13T17:00:00Z');
    expect(await texts(lead)).toEqual(['first', 'first', 'second', 'bye']);
  });

  test(
    'restart_schedule true | what the carrier could not take before is tried again,' +
      ' as often as anything else',
    async () => {
      if (!isSchedule) return;
      const lead = await createLead(leadToken, { caller_id: '3105550104' });
      const tries = async () =>
        (await world.sql<{ tries: number }>('SELECT tries FROM leads WHERE id = $1', [lead.id]))[0]!
          .tries;
      await runEngine(world);
      expect(await tries()).toBe(1);
      await post(leadToken, { caller_id: lead.caller_id, restart_schedule: true });
      expect(await tries()).toBe(0);
    },
  );

  test(
    'next_action_at given | the time of the next scheduled action changes to ' + 'that time',
    async () => {
      const lead = await createLead(leadToken);
      await runEngine(world);
      const moved = await post(leadToken, {
        caller_id: lead.caller_id,
        next_action_at: '2027-01-12 19:00:00 +0000',
      });
      if (!isSchedule)
        return expect([moved.status, Object.keys(moved.body.warnings)]).toEqual([
          200,
          ['next_action_at'],
        ]);
      expect(moved.body.lead).toMatchObject({
        id: lead.id,
        next_action_at: '2027-01-12T19:00:00.000+00:00',
        has_next_action: true,
      });
      const later = await createLead(leadToken, { next_action_at: '2027-01-13 19:00:00 +0000' });
      await at('2027-01-12T18:59:59Z');
      expect([await texts(lead), await texts(later)]).toEqual([['first'], []]);
      await at('2027-01-12T19:00:00Z');
      expect([await texts(lead), await texts(later)]).toEqual([['first', 'second', 'bye'], []]);
      await at('2027-01-13T19:00:00Z');
      expect(await texts(later)).toEqual(['first']);
    },
  );
});
