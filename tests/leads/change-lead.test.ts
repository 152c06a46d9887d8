import { standingClock } from '../support/clock';
import { NOON, openShop, ownNumber, runEngine, type Shop } from '../support/leads';
import { createWorld, type Company, type Method, type World } from '../support/world';

// Every row of "States and transitions" of the reference: trigger | condition | result.

type Fields = Record<string, unknown>;

let world: World;
let theirs: Company;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
  theirs = await world.addCompany('Theirs');
  await ownNumber(world, theirs, '12125550177');
});
beforeEach(() => time.set(NOON));
afterAll(() => world.close());

let numbers = 3_105_553_000;
const fresh = () => String(numbers++);
const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
const post = (lead_token: string, fields: Fields) =>
  api('post', 'leads', { auth: null, body: { lead_token, ...fields } });
const made = async (lead_token: string, fields: Fields = {}) => {
  const res = await post(lead_token, { caller_id: fresh(), ...fields });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body.lead;
};
const shown = async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).body.lead;
const gone = async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).status === 404;
const count = async () =>
  (await api('get', 'leads', { query: { per_page: 1 } })).body.metadata.total_count;
const at = async (when: string) => {
  time.set(when);
  await runEngine(world);
};
/** Bodies of the texts that a lead was sent. */
const texts = async ({ id }: { id: number }) =>
  (
    await world.sql<{ body: string }>(
      'SELECT body FROM text_messages WHERE lead_id = $1 ORDER BY id',
      [id],
    )
  ).map(({ body }) => body);
const calls = async ({ id }: { id: number }) =>
  (await world.sql('SELECT FROM calls WHERE lead_id = $1', [id])).length;

const sms = (body: string, more: Fields = {}) => ({ action_type: 'sms', body, ...more });
const wait = (wait_amount: number, wait_unit: string) => ({
  action_type: 'wait',
  wait_amount,
  wait_unit,
});
const dial = { action_type: 'dial', connect_to: '+13105550199' };
/** Texts at once, then a day later, and at its end. */
const open = (fields: Fields = {}) =>
  openShop(
    world,
    [sms('first'), wait(1, 'days'), sms('second'), sms('bye', { end: true })],
    fields,
  );
const owners = ['offer', 'schedule'] as const;

describe.each(owners)('POST /api/v1/leads to an %s', (owner) => {
  let shop: Shop;
  let lead_token: string;
  const is_schedule = owner === 'schedule';
  beforeAll(async () => {
    shop = await open();
    ({ lead_token } = shop[owner]);
  });
  const remove = ({ caller_id }: Fields) =>
    api('post', `leads/${String(caller_id)}/caller_remove`, { auth: null, query: { lead_token } });

  test('no matching lead exists and update_only is not true | lead is created and enters the offer or schedule', async () => {
    const lead = await made(lead_token, { update_only: false });
    expect(lead).toMatchObject({
      is_live: true,
      offer_id: shop.offer.id,
      schedule_id: is_schedule ? shop.schedule.id : null,
      status: is_schedule ? 'scheduled' : 'queue',
    });
    await runEngine(world);
    expect(await texts(lead)).toEqual(is_schedule ? ['first'] : []);
    const again = await post(lead_token, { caller_id: lead.caller_id, first_name: 'Ann' });
    expect([again.status, again.body.id, again.body.lead.status]).toEqual([
      200,
      lead.id,
      is_schedule ? 'waiting' : 'queue',
    ]);
    await remove(lead);
    expect((await made(lead_token, { caller_id: lead.caller_id })).id).not.toBe(lead.id);
  });

  test('however many come at once, one lead lives', async () => {
    const caller_id = fresh();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        post(lead_token, { caller_id, [`t${n}`]: n, ...(n % 2 && { assign_sms_number: true }) }),
      ),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 19 }, () => 200),
      201,
    ]);
    const leads = (await api('get', 'leads', { query: { number: caller_id } })).body.leads;
    expect([leads.length, Object.keys(leads[0].data).length]).toEqual([1, 20]);
  });

  test('update_only true | only existing active leads are updated; none is created; leads that finished all actions are not updated', async () => {
    const before = await count();
    const none = await post(lead_token, { caller_id: fresh(), update_only: true });
    expect([none.status, Object.keys(none.body.errors), await count()]).toEqual([
      422,
      ['update_only'],
      before,
    ]);
    const lead = await made(lead_token, { first_name: 'Ann' });
    const updated = await post(lead_token, {
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
    ]).toEqual([200, lead.id, { first_name: 'Ann', last_name: 'Lee' }, 's']);
    if (is_schedule)
      await api('put', `leads/${lead.caller_id}/caller_move_to_end_of_schedule`, {
        auth: null,
        query: { lead_token },
      });
    else await remove(lead);
    await runEngine(world);
    const finished = await shown(lead);
    expect(finished.is_live).toBe(false);
    expect(
      (await post(lead_token, { caller_id: lead.caller_id, update_only: true, first_name: 'Eve' }))
        .status,
    ).toBe(422);
    expect(await shown(lead)).toEqual(finished);
  });

  test('expire_existing true | existing live schedule leads matching lead_token and caller_id are expired', async () => {
    const [lead, other] = [await made(lead_token), await made(lead_token)];
    const res = await post(lead_token, { caller_id: lead.caller_id, expire_existing: true });
    if (is_schedule) {
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
    expect((await shown(other)).is_live).toBe(true);
  });

  test('delete_existing true | existing leads matching lead_token and caller_id are deleted', async () => {
    const [ended, other] = [await made(lead_token), await made(lead_token)];
    await remove(ended);
    const live = await made(lead_token, { caller_id: ended.caller_id, first_name: 'Ann' });
    const elsewhere = await made(shop[is_schedule ? 'offer' : 'schedule'].lead_token, {
      caller_id: ended.caller_id,
    });
    const before = await count();
    const lead = await made(lead_token, { caller_id: ended.caller_id, delete_existing: true });
    expect([
      await gone(ended),
      await gone(live),
      await gone(other),
      await gone(elsewhere),
      lead.data,
    ]).toEqual([true, true, false, false, {}]);
    expect(await count()).toBe(before - 1);
    await runEngine(world);
    expect([await texts(live), await texts(lead)]).toEqual([[], is_schedule ? ['first'] : []]);
  });

  test("restart_schedule true | the lead's schedule restarts from the beginning", async () => {
    const lead = await made(lead_token, { first_name: 'Ann' });
    await runEngine(world);
    const restart = await post(lead_token, { caller_id: lead.caller_id, restart_schedule: true });
    if (!is_schedule)
      return expect([restart.status, Object.keys(restart.body.errors)]).toEqual([
        422,
        ['restart_schedule'],
      ]);
    expect([restart.status, restart.body.lead]).toMatchObject([
      200,
      {
        id: lead.id,
        status: 'scheduled',
        next_action_at: '2027-01-12T17:00:00.000+00:00',
        data: { first_name: 'Ann' },
      },
    ]);
    await runEngine(world);
    expect(await texts(lead)).toEqual(['first', 'first']);
    await at('2027-01-13T17:00:00Z');
    expect(await texts(lead)).toEqual(['first', 'first', 'second', 'bye']);
  });

  test('restart_schedule true | what the carrier could not take before is tried anew, as often as anything else', async () => {
    if (!is_schedule) return;
    const lead = await made(lead_token, { caller_id: '3105550104' });
    const tries = async () =>
      (await world.sql<{ tries: number }>('SELECT tries FROM leads WHERE id = $1', [lead.id]))[0]!
        .tries;
    await runEngine(world);
    expect(await tries()).toBe(1);
    await post(lead_token, { caller_id: lead.caller_id, restart_schedule: true });
    expect(await tries()).toBe(0);
  });

  test('next_action_at given | the time of the next scheduled action changes to that time', async () => {
    const lead = await made(lead_token);
    await runEngine(world);
    const moved = await post(lead_token, {
      caller_id: lead.caller_id,
      next_action_at: '2027-01-12 19:00:00 +0000',
    });
    if (!is_schedule)
      return expect([moved.status, Object.keys(moved.body.errors)]).toEqual([
        422,
        ['next_action_at'],
      ]);
    expect(moved.body.lead).toMatchObject({
      id: lead.id,
      next_action_at: '2027-01-12T19:00:00.000+00:00',
      has_next_action: true,
    });
    const later = await made(lead_token, { next_action_at: '2027-01-13 19:00:00 +0000' });
    await at('2027-01-12T18:59:59Z');
    expect([await texts(lead), await texts(later)]).toEqual([['first'], []]);
    await at('2027-01-12T19:00:00Z');
    expect([await texts(lead), await texts(later)]).toEqual([['first', 'second', 'bye'], []]);
    await at('2027-01-13T19:00:00Z');
    expect(await texts(later)).toEqual(['first']);
  });

  test("blocked true | the lead cannot call any of the account's numbers and no outbound actions are taken for it", async () => {
    const elsewhere = await made((await open()).schedule.lead_token, {
      next_action_at: '2027-01-12 18:00:00 +0000',
    });
    const { caller_id } = elsewhere;
    const lead = await made(lead_token, {
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
  });

  test('PUT /api/v1/leads/:caller_id/caller_opt_out | lead_token given | lead is opted out; no more SMS, calls or emails', async () => {
    const lead = await made(lead_token, { schedule_callback_in_seconds: 60 });
    const other = await made((await open()).schedule.lead_token, {
      caller_id: lead.caller_id,
      next_action_at: '2027-01-12 18:00:00 +0000',
    });
    const res = await api('put', `leads/${lead.caller_id}/caller_opt_out`, {
      auth: null,
      query: { lead_token },
    });
    expect([res.status, res.body.lead]).toMatchObject([
      200,
      { id: lead.id, status: 'opt_out', opt_out: true, has_next_action: false, is_live: true },
    ]);
    await at('2027-01-14T17:00:00Z');
    for (const each of [lead, other])
      expect([await texts(each), await calls(each), (await shown(each)).status]).toEqual([
        [],
        0,
        'opt_out',
      ]);
    const again = await post(lead_token, {
      caller_id: lead.caller_id,
      ...(is_schedule && { restart_schedule: true }),
    });
    expect([again.status, again.body.lead.status, Object.keys(again.body.warnings)]).toEqual([
      200,
      'opt_out',
      ['caller_id'],
    ]);
    await runEngine(world);
    expect([await texts(lead), await calls(lead)]).toEqual([[], 0]);
  });

  test('/api/v1/leads/:caller_id/caller_remove | lead_token given | lead is removed from the schedule or offer; no further actions are taken for it', async () => {
    const lead = await made(lead_token, { schedule_callback_in_seconds: 60 });
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
  });

  test('PUT /api/v1/leads/:caller_id/caller_move_to_end_of_schedule | lead_token given | lead moves to the end of its schedule', async () => {
    const lead = await made(lead_token, { schedule_callback_at: '2027-01-13 17:00:00 +0000' });
    const move = () =>
      api('put', `leads/${lead.caller_id}/caller_move_to_end_of_schedule`, {
        auth: null,
        query: { lead_token },
      });
    const res = await move();
    if (!is_schedule)
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
    const again = await move();
    expect([again.status, Object.keys(again.body.errors)]).toEqual([422, ['caller_id']]);
    await at('2027-01-14T17:00:00Z');
    expect([await texts(lead), await calls(lead)]).toEqual([['bye'], 0]);
  });
});

describe('time | hours_to_expire hours have passed | lead exits the schedule and end-of-schedule actions run', () => {
  test.each<[string, Fields, Fields]>([
    ['of the schedule', { hours_to_expire: 2 }, {}],
    ['of the lead, which counts more', { hours_to_expire: 1 }, { hours_to_expire: 2 }],
    ['of the lead, in minutes', { hours_to_expire: 1 }, { hours_to_expire: 1, expires_in: 120 }],
  ])('those %s', async (_, of_schedule, of_lead) => {
    const { schedule } = await open(of_schedule);
    const lead = await made(schedule.lead_token, of_lead);
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
    const lead = await made((await open()).schedule.lead_token);
    const { lead_token } = (await open({ hours_to_expire: 1 })).schedule;
    const waiting = await made(lead_token);
    await runEngine(world);
    await post(lead_token, { caller_id: waiting.caller_id, hours_to_expire: 3 });
    await at('2027-01-12T19:00:00Z');
    expect(await texts(waiting)).toEqual(['first']);
    await at('2027-01-12T20:00:00Z');
    expect([await texts(waiting), await texts(lead)]).toEqual([['first', 'bye'], ['first']]);
  });

  test('a lead of an offer is no longer picked up after expires_in minutes', async () => {
    const lead = await made((await open()).offer.lead_token, { expires_in: 90 });
    await at('2027-01-12T18:29:59Z');
    expect(await shown(lead)).toMatchObject({ status: 'queue', is_live: true });
    await at('2027-01-12T18:30:00Z');
    expect(await shown(lead)).toMatchObject({ status: 'expired', is_live: false });
  });
});

describe('outbound activity | outbound calls plus SMS reach max_contact_attempts | lead exits the schedule and end-of-schedule actions run', () => {
  test.each<[string, Fields, Fields]>([
    ['of the schedule', { max_contact_attempts: 2 }, {}],
    ['of the lead, which counts more', { max_contact_attempts: 1 }, { max_contact_attempts: 2 }],
  ])('those %s', async (_, of_schedule, of_lead) => {
    const email = { action_type: 'email', subject: 'no attempt', body: 'Hi' };
    const { schedule } = await openShop(
      world,
      [sms('one'), email, dial, sms('two many'), email, sms('bye', { end: true })],
      of_schedule,
    );
    const lead = await made(schedule.lead_token, { email: 'ann@example.com', ...of_lead });
    await runEngine(world);
    expect([await texts(lead), await calls(lead), await shown(lead)]).toMatchObject([
      ['one', 'bye'],
      1,
      { status: 'exceeded_max_calls', is_live: false },
    ]);
    expect(await world.sql('SELECT FROM emails WHERE lead_id = $1', [lead.id])).toHaveLength(1);
  });
});

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

describe('POST /api/v1/leads | unblock_contact true | caller_id is removed from the company blacklist', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await open();
  });
  const token = async (company: Company, permissions: string[]) =>
    world.credentials(company, permissions, { kind: 'user_token', user_email: 'ann@example.com' });
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

  test('with the auth_token of a user who may update leads takes the number off the blacklist, and keeps no token of it', async () => {
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
  });

  test('concerns the company of the lead token alone', async () => {
    const caller_id = await blocked();
    await theirs.api('post', 'contacts/caller_block', { body: { caller_ids: [caller_id] } });
    expect(
      (await unblock(caller_id, { auth_token: await token(world.company, ['leads:update']) }))
        .status,
    ).toBe(201);
    expect([await listed(caller_id), await listed(caller_id, theirs)]).toEqual([false, true]);
  });
});

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
    '%s …/%s finds the lead in any spelling of its number, and answers it as it now is',
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
        expect(res.headers['cache-control']).toBe(method === 'get' ? 'no-store' : undefined);
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
      expect((await ask(method, fresh(), verb)).status).toBe(404);
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
          impossible.length > 100 || ['caller_id'],
        ]);
      }
      const lead = await made(shop.schedule.lead_token);
      const foreign = await openShop(world, [], {}, theirs);
      for (const lead_token of [shop.offer.lead_token, foreign.schedule.lead_token])
        expect((await ask(method, lead.caller_id, verb, { lead_token })).status).toBe(404);
      expect(await shown(lead)).toEqual(lead);
    },
  );

  test.each([
    ['caller_opt_out', 'PUT, GET'],
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
