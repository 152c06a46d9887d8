import {
  api,
  type Fields,
  fresh,
  made,
  open,
  openWorld,
  shown,
  texts,
  theirs,
  world,
} from '../support/lead-transitions';
import { openShop, runEngine, type Shop } from '../support/leads';
import { type Company, type Method } from '../support/world';

openWorld();

describe.each([
  ['caller_block', 'caller_ids given | the numbers are blocked on that suppression list'],
  ['caller_unblock', 'caller_ids given | the numbers are unblocked on that suppression list'],
])('POST .../buyer_suppressions/:id/%s', (verb, row) => {
  test(row, async () => {
    const list = (await api('post', 'buyer_suppressions', { body: { name: 'Do not call' } })).body
      .buyer_suppression;
    const caller_ids = [fresh(), fresh()];
    const [wanted, before] = verb === 'caller_block' ? [2, 0] : [0, 2];
    if (before)
      await api('post', `buyer_suppressions/${list.id}/caller_block`, { body: { caller_ids } });
    const res = await api('post', `buyer_suppressions/${list.id}/${verb}`, {
      body: { caller_ids },
    });
    expect([
      res.status,
      res.body.added + res.body.removed,
      res.body.buyer_suppression.blocked,
    ]).toEqual([200, 2, wanted]);
    const { schedule } = await open({ buyer_suppression_ids: [list.id] });
    const lead = await made(schedule.lead_token, { caller_id: caller_ids[0] });
    await runEngine(world);
    expect(await texts(lead)).toEqual(wanted ? [] : ['first']);
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
      const caller_id = fresh();
      await company.api('post', 'contacts/caller_block', { body: { caller_ids: [caller_id] } });
      return caller_id;
    };
    const listed = async (caller_id: string, company = world.company) =>
      (await company.api('get', 'contacts', { query: { caller_id, blocked: true } })).body.contacts
        .length === 1;
    const unblock = (caller_id: string, fields: Fields = {}, query: Fields = {}) =>
      api('post', 'leads', {
        auth: null,
        query,
        body: { lead_token: shop.schedule.lead_token, caller_id, unblock_contact: true, ...fields },
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
      const caller_id = await blocked();
      const { status, body } = await unblock(caller_id, await credentials());
      expect([status, Object.keys(body.errors), await listed(caller_id)]).toEqual([
        403,
        ['unblock_contact'],
        true,
      ]);
      expect((await api('get', 'leads', { query: { number: caller_id } })).body.leads).toEqual([]);
    });

    test(
      'with the auth_token of a user who may update leads takes the number off the ' +
        'blacklist, and keeps no token of it',
      async () => {
        const auth_token = await token(world.company, ['leads:update']);
        for (const [fields, query] of [
          [{ auth_token }, {}],
          [{}, { auth_token }],
          [{ auth_token, data: { auth_token } }, {}],
        ]) {
          const caller_id = await blocked();
          expect((await made(shop.schedule.lead_token, { caller_id })).status).toBe('blocked');
          const { status, body } = await unblock(caller_id, fields, query);
          expect([status, body.errors, body.warnings, body.lead.status, body.lead.data]).toEqual([
            200,
            {},
            {},
            'scheduled',
            {},
          ]);
          expect(await listed(caller_id)).toBe(false);
        }
      },
    );

    test('concerns the company of the lead token alone', async () => {
      const caller_id = await blocked();
      await theirs.api('post', 'contacts/caller_block', { body: { caller_ids: [caller_id] } });
      expect(
        (await unblock(caller_id, { auth_token: await token(world.company, ['leads:update']) }))
          .status,
      ).toBe(201);
      expect([await listed(caller_id), await listed(caller_id, theirs)]).toEqual([false, true]);
    });
  },
);

describe('the operations of one caller', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await open();
  });
  const ways: [Method, string][] = [
    ['put', 'caller_opt_out'],
    ['get', 'caller_opt_out'],
    ['post', 'caller_remove'],
    ['delete', 'caller_remove'],
    ['get', 'caller_remove'],
    ['put', 'caller_move_to_end_of_schedule'],
    ['post', 'caller_move_to_end_of_schedule'],
  ];
  const ask = (method: Method, caller_id: string, verb: string, query: Fields = {}) =>
    api(method, `leads/${caller_id}/${verb}`, {
      auth: null,
      query: { lead_token: shop.schedule.lead_token, ...query },
    });

  test.each(ways)(
    '%s …/%s finds the lead in any spelling of its number, and returns it as it is now',
    async (method, verb) => {
      const spellings = ['', '+1', '1', '%2B1'].map(
        (prefix) => (number: string) => prefix + number,
      );
      const punctuated = (number: string) =>
        encodeURIComponent(`(${number.slice(0, 3)}) ${number.slice(3, 6)}-${number.slice(6)}`);
      for (const spelled of [...spellings, punctuated]) {
        const number = fresh();
        const lead = await made(shop.schedule.lead_token, { caller_id: number });
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

  test.each(ways)(
    '%s …/%s knows nothing of other numbers, other owners and other companies',
    async (method, verb) => {
      // An opt-out is of the person, and needs no lead.
      const without_lead = verb === 'caller_opt_out' ? 200 : 404;
      expect((await ask(method, fresh(), verb)).status).toBe(without_lead);
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
          (without_lead === 404 && impossible.length > 100) || ['caller_id'],
        ]);
      }
      const lead = await made(shop.schedule.lead_token);
      const foreign = await openShop(world, [], {}, theirs);
      // An opt-out at its offer concerns it.
      const at_offer = verb === 'caller_opt_out' ? [] : [shop.offer.lead_token];
      for (const lead_token of [...at_offer, foreign.schedule.lead_token]) {
        const res = await ask(method, lead.caller_id, verb, { lead_token });
        expect([res.status, res.body.lead?.id ?? null]).toEqual([without_lead, null]);
      }
      expect(await shown(lead)).toEqual(lead);
    },
  );

  test.each([
    ['caller_opt_out', 'PUT, GET, POST'],
    ['caller_remove', 'POST, DELETE, GET'],
    ['caller_move_to_end_of_schedule', 'PUT, POST'],
  ])('HEAD …/%s changes nothing and is 405, as is every method but %s', async (verb, methods) => {
    const lead = await made(shop.schedule.lead_token);
    for (const method of (['head', 'get', 'post', 'put', 'patch', 'delete'] as const).filter(
      (method) => !methods.includes(method.toUpperCase()),
    ))
      expect((await ask(method, lead.caller_id, verb)).status).toBe(405);
    expect(await shown(lead)).toEqual(lead);
  });
});
