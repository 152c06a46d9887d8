import { NOON, openShop, submit } from '../../support/leads';
import { fresh, useLeadRecords } from '../../support/lead-records';
import type { Fields } from '../../support/records';

const here = useLeadRecords();
const { api, createLead, post, remove, scheduled, shop, shown, theirShop, world } = here;

describe('by_caller_number', () => {
  const by = (leadToken: string, number: string, query: Fields = {}) =>
    api('get', `leads/${leadToken}/${number}/by_caller_number`, { auth: null, query });

  test(
    'returns the live lead of a number at the owner of the token, else the ' + 'last one',
    async () => {
      const number = fresh();
      const [old, offered] = [
        await scheduled({ caller_id: number }),
        await createLead(shop.offer.lead_token, { caller_id: number }),
      ];
      await remove(old, shop.schedule.lead_token);
      const { lead_token } = shop.schedule;
      for (const spelled of [
        number,
        `+1${number}`,
        encodeURIComponent(`(${number.slice(0, 3)}) ${number.slice(3)}`),
      ])
        expect((await by(lead_token, spelled)).body.lead.id).toBe(old.id);
      const live = await scheduled({ caller_id: number });
      expect([
        (await by(lead_token, number)).body.lead.id,
        (await by(shop.offer.lead_token, number)).body.lead.id,
      ]).toEqual([live.id, offered.id]);
      expect(
        (await by(lead_token, number, { serializer: 'lead_external' })).body.lead.caller_id,
      ).toBeUndefined();
      expect([
        (await by(lead_token, fresh())).status,
        (await by(theirShop.schedule.lead_token, number)).status,
        (await by('f'.repeat(32), number)).status,
      ]).toEqual([404, 404, 401]);
      expect(Object.keys((await by(lead_token, '911')).body.errors)).toEqual(['caller_number']);
    },
  );
});

describe('capture', () => {
  const capture = (body: Fields, options: Fields = {}) =>
    api('post', 'leads/capture', { body: { caller_id: fresh(), ...body }, ...options });

  test(
    'submits a lead with the credentials of the company, to the offer or schedule ' +
      'that is named',
    async () => {
      const { uuid } = (await api('get', `schedules/${shop.schedule.id}`)).body.schedule;
      const otherShop = await openShop(world, []);
      for (const [reference, scheduleId, offerId] of [
        [{ schedule_id: shop.schedule.id }, shop.schedule.id, shop.offer.id],
        [{ schedule_id: uuid }, shop.schedule.id, shop.offer.id],
        [{ offer_id: String(shop.offer.id) }, null, shop.offer.id],
        [
          { schedule_id: shop.schedule.id, offer_id: otherShop.offer.id },
          shop.schedule.id,
          otherShop.offer.id,
        ],
      ] as const) {
        const { status, body } = await capture({
          ...reference,
          first_name: 'Ann',
          lead_token: 'x',
          data: { zip: '90210' },
        });
        expect([status, body.lead]).toMatchObject([
          201,
          { schedule_id: scheduleId, offer_id: offerId, data: { first_name: 'Ann', zip: '90210' } },
        ]);
        expect(Object.keys(body.lead.data)).toHaveLength(2);
      }
      const byQuery = await api('post', 'leads/capture', {
        query: { caller_id: fresh(), offer_id: shop.offer.id, first_name: 'Ann' },
      });
      expect([byQuery.status, byQuery.body.lead.data]).toEqual([201, { first_name: 'Ann' }]);
      const repeatedResponse = await capture({
        caller_id: byQuery.body.lead.caller_id,
        offer_id: shop.offer.id,
      });
      expect([repeatedResponse.status, repeatedResponse.body.id]).toEqual([200, byQuery.body.id]);
    },
  );

  test(
    'refuses owners that are none, are deleted or are another company’s, and ' +
      'callers without leads:create',
    async () => {
      const { schedule } = await openShop(world, []);
      await api('delete', `schedules/${schedule.id}`);
      for (const [reference, field] of [
        [{}, 'schedule_id'],
        [{ offer_id: null }, 'schedule_id'],
        [{ schedule_id: schedule.id }, 'schedule_id'],
        [{ schedule_id: theirShop.schedule.id }, 'schedule_id'],
        [{ offer_id: theirShop.offer.id }, 'offer_id'],
        [{ offer_id: 'x' }, 'offer_id'],
      ] as const) {
        const { status, body } = await capture(reference);
        expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
      }
      const auth = await world.credentials(world.company, ['leads:read', 'leads:update']);
      expect((await capture({ offer_id: shop.offer.id }, { auth })).status).toBe(403);
      const creator = await world.credentials(world.company, ['leads:create']);
      expect((await capture({ offer_id: shop.offer.id }, { auth: creator })).status).toBe(201);
      expect(
        (await capture({ offer_id: shop.offer.id, unblock_contact: true }, { auth: creator }))
          .status,
      ).toBe(403);
      expect((await capture({ offer_id: shop.offer.id, unblock_contact: true })).status).toBe(201);
      expect((await capture({ offer_id: shop.offer.id }, { auth: null })).status).toBe(401);
    },
  );
});

test('numbers without country code are those of the country of the company', async () => {
  const british = await world.addCompany('British');
  await world.sql(`UPDATE companies SET country = 'GB' WHERE id = $1`, [british.id]);
  const { id, lead_token } = (await british.api('post', 'offers', { body: { name: 'Offer' } })).body
    .offer;
  const { lead } = (
    await british.api('post', 'leads', {
      auth: null,
      body: { lead_token, caller_id: '07700 900123' },
    })
  ).body;
  expect(lead.caller_id).toBe('+447700900123');
  expect(
    (
      await british.api('post', 'leads/capture', {
        body: { offer_id: id, caller_id: '07700900123' },
      })
    ).body.id,
  ).toBe(lead.id);
  expect(
    (
      await british.api('get', `leads/${lead_token}/07700%20900123/by_caller_number`, {
        auth: null,
      })
    ).body.lead.id,
  ).toBe(lead.id);
  expect(
    (
      await british.api('put', 'leads/07700900123/caller_opt_out', {
        auth: null,
        query: { lead_token },
      })
    ).body.lead.id,
  ).toBe(lead.id);
});

describe.each(['offer', 'schedule'] as const)('a submission to an %s with', (owner) => {
  test(
    'update_all_matching_leads applies the data to all leads of the offer or ' +
      'schedule and caller_id, ended ones too, and to no other',
    async () => {
      const { lead_token } = shop[owner];
      const ended = await createLead(lead_token, {
        first_name: 'Ann',
        last_name: 'Lee',
        sub_id: 's',
      });
      await remove(ended, lead_token);
      const live = await createLead(lead_token, { caller_id: ended.caller_id, first_name: 'Bea' });
      const otherLeads = [
        await createLead(shop[owner === 'offer' ? 'schedule' : 'offer'].lead_token, {
          caller_id: ended.caller_id,
        }),
        await createLead(lead_token),
      ];
      const res = await post(lead_token, {
        caller_id: ended.caller_id,
        update_all_matching_leads: true,
        email: 'ann@example.com',
        first_name: 'Eve',
        last_name: null,
      });
      expect([res.status, res.body.id, res.body.lead.data]).toEqual([
        200,
        live.id,
        { first_name: 'Eve' },
      ]);
      expect(await shown(ended)).toMatchObject({
        email: 'ann@example.com',
        data: { first_name: 'Eve' },
        sub_id: 's',
        status: 'disabled',
        is_live: false,
      });
      expect(Object.keys((await shown(ended)).data)).toEqual(['first_name']);
      for (const otherLead of otherLeads) expect(await shown(otherLead)).toEqual(otherLead);
      await post(lead_token, { caller_id: ended.caller_id, first_name: 'Zoe' });
      expect([(await shown(ended)).data, (await shown(live)).data]).toEqual([
        { first_name: 'Eve' },
        { first_name: 'Zoe' },
      ]);
    },
  );

  test(
    "apply_to=calls applies the data to the lead's calls too, and with " +
      'update_all_matching_leads to those of all',
    async () => {
      const { lead_token } = shop[owner];
      const ended = await createLead(lead_token);
      await remove(ended, lead_token);
      const [live, otherLead] = [
        await createLead(lead_token, { caller_id: ended.caller_id }),
        await createLead(lead_token),
      ];
      const call = async ({ id }: { id: number }) =>
        (
          await world.sql<{ id: string }>(
            `INSERT INTO calls (company_id, uuid, direction, from_number, ` +
              `to_number, status, carrier, lead_id, token_values, offer_id, created_at) ` +
              `VALUES ($1, gen_random_uuid(), 'outbound', 1, 2, 'completed', 'sandbox', $2, ` +
              `'{"a":"1","b":"2"}', $3, $4) RETURNING id`,
            [world.company.id, id, shop.offer.id, NOON],
          )
        )[0]!.id;
      const ids = [await call(ended), await call(live), await call(otherLead)];
      const tokens = async () =>
        (
          await world.sql<Fields>(
            'SELECT token_values FROM calls WHERE id = ANY($1::bigint[]) ORDER BY id',
            [ids],
          )
        ).map(({ token_values }) => token_values);
      const before = { a: '1', b: '2' };
      await post(lead_token, { caller_id: live.caller_id, a: '3' });
      expect(await tokens()).toEqual([before, before, before]);
      await post(lead_token, { caller_id: live.caller_id, a: '3', b: null, apply_to: 'calls' });
      expect(await tokens()).toEqual([before, { a: '3' }, before]);
      await post(lead_token, {
        caller_id: live.caller_id,
        a: '4',
        apply_to: 'calls',
        update_all_matching_leads: 'true',
      });
      expect(await tokens()).toEqual([{ a: '4', b: '2' }, { a: '4' }, before]);
    },
  );
});

test(
  'a lead has at most one pending callback: the others are replaced, done or ' + 'canceled',
  async () => {
    const shop = await openShop(world, []);
    const submitted = await submit(world, shop.offer.lead_token, {
      caller_id: '3105550171',
      schedule_callback_in_seconds: 3600,
    });
    const { id } = submitted.body;
    const statuses = async () =>
      (
        await world.sql<{ status: string }>(
          'SELECT status FROM scheduled_callbacks WHERE lead_id = $1 ORDER BY id',
          [id],
        )
      ).map(({ status }) => status);
    await submit(world, shop.offer.lead_token, {
      caller_id: '3105550171',
      schedule_callback_in_seconds: 7200,
    });
    expect(await statuses()).toEqual(['replaced', 'pending']);
    await world.company.api('put', `leads/${id}`, {
      body: { schedule_callback_at: '2027-02-01 10:00:00 -0800' },
    });
    expect(await statuses()).toEqual(['replaced', 'replaced', 'pending']);
    await world.company.api('delete', `leads/${id}/id`);
    expect(await statuses()).toEqual(['replaced', 'replaced', 'canceled']);
  },
);
