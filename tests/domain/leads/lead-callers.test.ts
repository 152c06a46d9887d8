import { openShop, runEngine, type Shop } from '../../support/leads';
import { type Company, type Method } from '../../support/world';
import { fresh, useLeads } from '../../support/lead-records';
import type { Fields } from '../../support/records';

const { api, createLead, open, shown, texts, theirs, world } = useLeads();

describe.each([
  ['caller_block', 'caller_ids given | the numbers are blocked on that suppression list'],
  ['caller_unblock', 'caller_ids given | the numbers are unblocked on that suppression list'],
])('POST .../buyer_suppressions/:id/%s', (verb, row) => {
  test(row, async () => {
    const list = (await api('post', 'buyer_suppressions', { body: { name: 'Do not call' } })).body
      .buyer_suppression;
    const callerIds = [fresh(), fresh()];
    const [expected, before] = verb === 'caller_block' ? [2, 0] : [0, 2];
    if (before)
      await api('post', `buyer_suppressions/${list.id}/caller_block`, {
        body: { caller_ids: callerIds },
      });
    const res = await api('post', `buyer_suppressions/${list.id}/${verb}`, {
      body: { caller_ids: callerIds },
    });
    expect([
      res.status,
      res.body.added + res.body.removed,
      res.body.buyer_suppression.blocked,
    ]).toEqual([200, 2, expected]);
    const { schedule } = await open({ buyer_suppression_ids: [list.id] });
    const lead = await createLead(schedule.lead_token, { caller_id: callerIds[0] });
    await runEngine(world);
    expect(await texts(lead)).toEqual(expected ? [] : ['first']);
  });
});

describe(
  'POST /api/v1/leads | unblock_contact true | caller_id is removed from the ' +
    'company blacklist',
  () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await open();
    });
    const token = async (company: Company, permissions: string[]) =>
      world.credentials(company, permissions, {
        kind: 'user_token',
        user_email: 'ann@example.com',
      });
    const blocked = async (company = world.company) => {
      const callerId = fresh();
      await company.api('post', 'contacts/caller_block', { body: { caller_ids: [callerId] } });
      return callerId;
    };
    const listed = async (callerId: string, company = world.company) =>
      (await company.api('get', 'contacts', { query: { caller_id: callerId, blocked: true } })).body
        .contacts.length === 1;
    const unblock = (callerId: string, fields: Fields = {}, query: Fields = {}) =>
      api('post', 'leads', {
        auth: null,
        query,
        body: {
          lead_token: shop.schedule.lead_token,
          caller_id: callerId,
          unblock_contact: true,
          ...fields,
        },
      });

    test.each<[string, () => Promise<Fields>]>([
      ['without auth_token', async () => ({})],
      [
        'with the auth_token of a user who may not update leads',
        async () => ({
          auth_token: await token(world.company, ['leads:create', 'leads:read', 'contacts:update']),
        }),
      ],
      [
        'with the auth_token of another company',
        async () => ({ auth_token: await token(theirs, ['leads:update']) }),
      ],
      ['with an auth_token that is none', async () => ({ auth_token: 'ut_1' })],
    ])('%s is 403, and nothing changes', async (_, credentials) => {
      const callerId = await blocked();
      const { status, body } = await unblock(callerId, await credentials());
      expect([status, Object.keys(body.errors), await listed(callerId)]).toEqual([
        403,
        ['unblock_contact'],
        true,
      ]);
      expect((await api('get', 'leads', { query: { number: callerId } })).body.leads).toEqual([]);
    });

    test(
      'with the auth_token of a user who may update leads takes the number off the ' +
        'blacklist, and keeps no token of it',
      async () => {
        const authToken = await token(world.company, ['leads:update']);
        for (const [fields, query] of [
          [{ auth_token: authToken }, {}],
          [{}, { auth_token: authToken }],
          [{ auth_token: authToken, data: { auth_token: authToken } }, {}],
        ]) {
          const callerId = await blocked();
          expect((await createLead(shop.schedule.lead_token, { caller_id: callerId })).status).toBe(
            'blocked',
          );
          const { status, body } = await unblock(callerId, fields, query);
          expect([status, body.errors, body.warnings, body.lead.status, body.lead.data]).toEqual([
            200,
            {},
            {},
            'scheduled',
            {},
          ]);
          expect(await listed(callerId)).toBe(false);
        }
      },
    );

    test('concerns the company of the lead token alone', async () => {
      const callerId = await blocked();
      await theirs.api('post', 'contacts/caller_block', { body: { caller_ids: [callerId] } });
      expect(
        (await unblock(callerId, { auth_token: await token(world.company, ['leads:update']) }))
          .status,
      ).toBe(201);
      expect([await listed(callerId), await listed(callerId, theirs)]).toEqual([false, true]);
    });
  },
);

describe('the operations of one caller', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await open();
  });
  const routes: [Method, string][] = [
    ['put', 'caller_opt_out'],
    ['get', 'caller_opt_out'],
    ['post', 'caller_remove'],
    ['delete', 'caller_remove'],
    ['get', 'caller_remove'],
    ['put', 'caller_move_to_end_of_schedule'],
    ['post', 'caller_move_to_end_of_schedule'],
  ];
  const ask = (method: Method, callerId: string, verb: string, query: Fields = {}) =>
    api(method, `leads/${callerId}/${verb}`, {
      auth: null,
      query: { lead_token: shop.schedule.lead_token, ...query },
    });

  test.each(routes)(
    '%s …/%s finds the lead in any spelling of its number, and returns it as it is now',
    async (method, verb) => {
      const spellings = ['', '+1', '1', '%2B1'].map(
        (prefix) => (number: string) => prefix + number,
      );
      const punctuated = (number: string) =>
        encodeURIComponent(`(${number.slice(0, 3)}) ${number.slice(3, 6)}-${number.slice(6)}`);
      for (const spelled of [...spellings, punctuated]) {
        const number = fresh();
        const lead = await createLead(shop.schedule.lead_token, { caller_id: number });
        const res = await ask(method, spelled(number), verb, { serializer: 'lead_grid' });
        expect([res.status, res.body.lead.id, res.headers.etag]).toEqual([
          200,
          lead.id,
          `"${res.body.checksum}"`,
        ]);
        expect(await shown(lead)).toMatchObject(
          {
            caller_opt_out: { opt_out: true, status: 'opt_out' },
            caller_remove: { is_live: false },
            caller_move_to_end_of_schedule: { status: 'scheduled' },
          }[verb]!,
        );
      }
    },
  );

  test.each(routes)(
    '%s …/%s knows nothing of other numbers, other owners and other companies',
    async (method, verb) => {
      // An opt-out is of the person, and needs no lead.
      const withoutLead = verb === 'caller_opt_out' ? 200 : 404;
      expect((await ask(method, fresh(), verb)).status).toBe(withoutLead);
      for (const impossible of [
        '911',
        'anonymous',
        '%20',
        '1'.repeat(101),
        '+266696687',
        '31055501',
        '%F0%9F%98%80',
      ]) {
        const res = await ask(method, impossible, verb);
        expect([res.status === 404 || Object.keys(res.body.errors)]).toEqual([
          (withoutLead === 404 && impossible.length > 100) || ['caller_id'],
        ]);
      }
      const lead = await createLead(shop.schedule.lead_token);
      const foreign = await openShop(world, [], {}, theirs);
      // An opt-out at its offer concerns it.
      const atOffer = verb === 'caller_opt_out' ? [] : [shop.offer.lead_token];
      for (const leadToken of [...atOffer, foreign.schedule.lead_token]) {
        const res = await ask(method, lead.caller_id, verb, { lead_token: leadToken });
        expect([res.status, res.body.lead?.id ?? null]).toEqual([withoutLead, null]);
      }
      expect(await shown(lead)).toEqual(lead);
    },
  );

  test.each([
    ['caller_opt_out', 'PUT, GET, POST'],
    ['caller_remove', 'POST, DELETE, GET'],
    ['caller_move_to_end_of_schedule', 'PUT, POST'],
  ])('HEAD …/%s changes nothing and is 405, as is every method but %s', async (verb, methods) => {
    const lead = await createLead(shop.schedule.lead_token);
    for (const method of (['head', 'get', 'post', 'put', 'patch', 'delete'] as const).filter(
      (method) => !methods.includes(method.toUpperCase()),
    ))
      expect((await ask(method, lead.caller_id, verb)).status).toBe(405);
    expect(await shown(lead)).toEqual(lead);
  });
});
