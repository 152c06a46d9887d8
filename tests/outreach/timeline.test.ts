import { standingClock } from '../support/clock';
import { NOON, openShop, runEngine, type Shop } from '../support/leads';
import { createWorld, type World } from '../support/world';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());
beforeEach(() => time.set(NOON));

const api = (...args: Parameters<World['company']['api']>) => world.company.api(...args);
let given = 0;
/** A number in Los Angeles that nobody else in these tests has. */
const newNumber = () => `+1310777${String(1000 + given++)}`;

interface Step {
  at: string | null;
  action: string;
  schedule_action_id: number | null;
  name: string | null;
  end_of_schedule: boolean;
  text: string | null;
  delayed_by: string | null;
  blocked_by: string | null;
  message: string | null;
}
async function timeline(
  lead_id: number | string,
  query: object = {},
): Promise<{ past: Record<string, unknown>[]; future: Step[] }> {
  const res = await api('get', `leads/${lead_id}/timeline`, { query });
  expect(res.status).toBe(200);
  return res.body.timeline;
}
/** When, what, and why not or why later. */
const told = ({ at, action, delayed_by, blocked_by }: Step) =>
  [
    at?.slice(5, 16) ?? 'never',
    action,
    delayed_by && `(${delayed_by})`,
    blocked_by && `!${blocked_by}`,
  ]
    .filter(Boolean)
    .join(' ');
const future = async (lead_id: number, query?: object) =>
  (await timeline(lead_id, query)).future.map(told).join(', ');

const SMS = { action_type: 'sms', body: 'Hi [first_name]{you}' };
const EMAIL = { action_type: 'email', subject: 'About {{offer_name}}', body: 'x' };
const DIAL = { action_type: 'dial', connect_to: '+13105550199' };
const HOOK = { action_type: 'webhook', url: 'https://example.com/hook' };
const hours = (wait_amount: number) => ({ action_type: 'wait', wait_amount, wait_unit: 'hours' });

/** A lead in a schedule of these actions, to which nothing has happened yet. */
async function newLead(
  actions: object[],
  { schedule = {}, ...fields }: { schedule?: object } & Record<string, unknown> = {},
) {
  const shop = await openShop(
    world,
    actions as Record<string, unknown>[],
    schedule as Record<string, unknown>,
  );
  const made = await submitted(shop.schedule.lead_token, { email: 'ann@example.com', ...fields });
  return { shop, ...made };
}
async function submitted(
  lead_token: string,
  fields: object,
): Promise<{ id: number; number: string }> {
  const number = newNumber();
  const res = await api('post', 'leads', {
    auth: null,
    query: { lead_token, caller_id: number, ...fields },
  });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return { id: res.body.id, number };
}

describe('the timeline of a lead', () => {
  test('tells what will be done, when, and in which words', async () => {
    const { id, shop } = await newLead(
      [{ ...SMS, name: 'First text' }, hours(2), DIAL, EMAIL, { ...HOOK, end: true }],
      { first_name: 'Ann' },
    );
    const { future: steps } = await timeline(id);
    const shown = steps.map((step) => [told(step), step.text ?? step.message]);
    expect(shown).toEqual([
      ['01-12T17:00 sms', 'Hi Ann'],
      ['01-12T17:00 wait', 'until 2027-01-12T19:00:00.000+00:00'],
      ['01-12T19:00 dial', 'connects to +13105550199'],
      ['01-12T19:00 email', 'About Auto insurance'],
      ['01-12T19:00 leave_schedule', 'completed'],
      ['01-12T19:00 webhook', null],
      ['01-12T19:00 end', 'completed'],
    ]);
    const ids = (await api('get', `schedules/${shop.schedule.id}`)).body.schedule
      .schedule_action_ids;
    expect(steps.map(({ schedule_action_id }) => schedule_action_id)).toEqual([
      ...ids.slice(0, 4),
      null,
      ids[4],
      null,
    ]);
    expect(steps.map(({ name, end_of_schedule }) => [name, end_of_schedule])).toMatchObject([
      ['First text', false],
      [null, false],
      {},
      {},
      {},
      [null, true],
      {},
    ]);
    // Nothing of it was done by looking.
    expect(
      (await api('get', 'text_messages', { query: { lead_id: id } })).body.metadata.total_count,
    ).toBe(0);
  });

  test('tells what has happened in its order, and then only what is still to come', async () => {
    const { id } = await newLead([SMS, hours(2), DIAL]);
    await runEngine(world);
    const half = await timeline(id);
    expect(half.past.map(({ event, message }) => [event, message])).toEqual([
      ['created', null],
      ['sms_sent', 'delivered'],
      ['waiting', expect.stringContaining('19:00')],
    ]);
    expect(half.past.map(({ at }) => at)).toEqual(Array(3).fill('2027-01-12T17:00:00.000+00:00'));
    expect(half.future.map(told)).toEqual([
      '01-12T19:00 dial',
      '01-12T19:00 leave_schedule',
      '01-12T19:00 end',
    ]);
    time.set('2027-01-12T19:00:00Z');
    await runEngine(world);
    const whole = await timeline(id);
    expect(whole.past.slice(3).map(({ event }) => event)).toEqual([
      'call_placed',
      'left_schedule',
      'ended',
    ]);
    expect(whole.past.map(({ at }) => at)).toEqual(whole.past.map(({ at }) => at).toSorted());
    expect(whole.future).toEqual([]);
  });

  const DONE: Record<string, string> = {
    sms_sent: 'sms',
    email_sent: 'email',
    call_placed: 'dial',
    webhook_queued: 'webhook',
    waiting: 'wait',
    restarted: 'restart',
    ended: 'end',
    skipped: 'sms',
  };
  test('is what the engine then does, step by step', async () => {
    const skipped = { ...SMS, token_filter_list: ['state:CA'] };
    const { id } = await newLead(
      [
        SMS,
        hours(14),
        EMAIL,
        skipped,
        DIAL,
        { action_type: 'wait', wait_until: '06:30' },
        HOOK,
        { action_type: 'restart' },
        { ...EMAIL, end: true },
      ],
      { max_contact_attempts: 4 },
    );
    const { future: steps } = await timeline(id);
    for (const at of new Set(steps.map((step) => step.at))) {
      time.set(at!);
      await runEngine(world);
    }
    const { past } = await timeline(id);
    const done = past
      .slice(1)
      .filter(({ event }) => event !== 'delayed')
      .map(({ at, event, schedule_action_id }) => [
        at,
        DONE[String(event)] ?? 'leave_schedule',
        schedule_action_id,
      ]);
    expect(done).toEqual(
      steps.map(({ at, action, schedule_action_id }) => [at, action, schedule_action_id]),
    );
    expect(steps.length).toBe(16);
  });

  test('has its times in the zone that is asked for', async () => {
    const { id } = await newLead([hours(1), SMS]);
    const steps = async (time_zone?: string) =>
      (await timeline(id, { time_zone })).future.map(({ at, message }) => at ?? message);
    expect((await steps()).slice(0, 2)).toEqual([
      '2027-01-12T17:00:00.000+00:00',
      '2027-01-12T18:00:00.000+00:00',
    ]);
    expect((await steps('Eastern Time (US & Canada)')).slice(0, 2)).toEqual([
      '2027-01-12T12:00:00.000-05:00',
      '2027-01-12T13:00:00.000-05:00',
    ]);
    const local = await timeline(id, { time_zone: 'Asia/Kathmandu' });
    expect([local.past[0]!.at, local.future[1]!.at]).toEqual([
      '2027-01-12T22:45:00.000+05:45',
      '2027-01-12T23:45:00.000+05:45',
    ]);
    expect(local.future[0]!.message).toBe('until 2027-01-12T23:45:00.000+05:45');
    expect(
      (await api('get', `leads/${id}/timeline`, { query: { time_zone: 'Nowhere' } })).body.errors,
    ).toEqual({ time_zone: [expect.any(String)] });
  });

  test('has nothing to come once its schedule is gone', async () => {
    const { id, shop } = await newLead([SMS]);
    expect((await api('delete', `schedules/${shop.schedule.id}`)).status).toBe(200);
    expect((await timeline(id)).future).toEqual([]);
  });

  test('is of a lead of the company, by number or uuid, while it is there', async () => {
    const { id } = await newLead([SMS]);
    const { uuid } = (await api('get', `leads/${id}`)).body.lead;
    expect(await timeline(uuid)).toEqual(await timeline(id));
    expect((await (await world.addCompany()).api('get', `leads/${id}/timeline`)).status).toBe(404);
    await api('delete', `leads/${id}/id`);
    expect((await api('get', `leads/${id}/timeline`)).status).toBe(404);
  });
});

describe('a step that is put off says until when and why', () => {
  const DARK = '2027-01-13T06:00:00Z';
  const end = (at: string) => `${at} leave_schedule, ${at} end`;
  test('at ten in the evening a text is for eight in the morning, before the engine has looked at the lead and after', async () => {
    time.set(DARK);
    const { id } = await newLead([SMS, EMAIL]);
    const expected =
      '01-13T08:00 sms (daylight_hours), 01-13T08:00 email, 01-13T08:00 leave_schedule, 01-13T08:00 end';
    const query = { time_zone: 'America/Los_Angeles' };
    expect(await future(id, query)).toBe(expected);
    expect((await timeline(id)).future[0]!.message).toMatch(/daylight/);
    await runEngine(world);
    expect(await future(id, query)).toBe(expected);
    time.set('2027-01-13T15:59:00Z');
    expect(await future(id, query)).toBe(expected);
  });

  test('but a time that was asked for is no reason of that kind', async () => {
    time.set(DARK);
    const { id } = await newLead([SMS]);
    await runEngine(world);
    expect(
      (await api('put', `leads/${id}`, { body: { next_action_at: '2027-01-13T20:00:00Z' } }))
        .status,
    ).toBe(200);
    expect(await future(id)).toBe(`01-13T20:00 sms, ${end('01-13T20:00')}`);
  });

  test('nor is a carrier that is down, which is told in words', async () => {
    const { id } = await newLead([SMS], { caller_id: '+13105550104' });
    await runEngine(world);
    const [step] = (await timeline(id)).future;
    expect(step).toMatchObject({
      at: '2027-01-12T17:00:15.000+00:00',
      action: 'sms',
      delayed_by: null,
      blocked_by: null,
      message: expect.stringContaining('tried again'),
    });
  });

  test.each([
    [
      'business hours',
      [SMS],
      {
        business_hours_schedule: [{ day: 3, times: ['10:00..11:00'] }],
        time_zone: 'America/Los_Angeles',
      },
      `01-13T18:00 sms (business_hours), ${end('01-13T18:00')}`,
    ],
    [
      'a wait is not',
      [hours(1), SMS],
      {},
      `01-12T17:00 wait, 01-12T18:00 sms, ${end('01-12T18:00')}`,
    ],
    [
      'the hours behind a wait',
      [hours(14), SMS],
      {},
      `01-12T17:00 wait, 01-13T16:00 sms (daylight_hours), ${end('01-13T16:00')}`,
    ],
    [
      'a webhook is not',
      [hours(14), HOOK],
      {},
      `01-12T17:00 wait, 01-13T07:00 webhook, ${end('01-13T07:00')}`,
    ],
  ])('%s', async (_name, actions, schedule, expected) => {
    expect(await future((await newLead(actions, { schedule })).id)).toBe(expected);
  });
});

describe('a step that will not be done says why', () => {
  const never = (obstacle: string, ...steps: string[]) =>
    steps.map((step) => `never ${step} !${obstacle}`).join(', ');
  const all = ['sms', 'wait', 'email', 'leave_schedule', 'end'];
  const actions = [SMS, hours(1), EMAIL];

  test('the filter of its action is unmet', async () => {
    const { id } = await newLead([{ ...SMS, token_filter_list: ['state:CA'] }, EMAIL], {
      state: 'NV',
    });
    expect(await future(id)).toBe(
      '01-12T17:00 sms !token_filter, 01-12T17:00 email, 01-12T17:00 leave_schedule, 01-12T17:00 end',
    );
    expect((await timeline(id)).future[0]!.message).toMatch(/tokens/);
  });

  test.each<
    [string, string, (lead: { shop: Shop; number: string }) => Promise<{ status: number }>]
  >([
    [
      'it has opted out',
      'opt_out',
      ({ number, shop }) =>
        api('post', 'text_messages/receive', {
          body: { from: number, to: shop.number, body: 'STOP' },
        }),
    ],
    [
      'its number is on the blacklist',
      'blacklist',
      ({ number }) => api('post', 'contacts/caller_block', { body: { caller_ids: [number] } }),
    ],
    [
      'its schedule is paused',
      'paused',
      ({ shop }) => api('put', `schedules/${shop.schedule.id}`, { body: { paused: true } }),
    ],
    [
      'its offer is paused',
      'paused',
      ({ shop }) => api('put', `offers/${shop.offer.id}`, { body: { paused: true } }),
    ],
  ])('%s: nothing has a time, whatever the engine has done', async (_name, obstacle, stop) => {
    const lead = await newLead(actions);
    expect([200, 201]).toContain((await stop(lead)).status);
    expect(await future(lead.id)).toBe(never(obstacle, ...all));
    await runEngine(world);
    expect(await future(lead.id)).toBe(never(obstacle, ...all));
    expect((await timeline(lead.id)).future.every(({ message }) => message !== null)).toBe(true);
  });

  test('one that opts its lead out stops what comes behind the next wait, as the engine does', async () => {
    const { id } = await newLead([{ action_type: 'opt_out' }, HOOK, hours(1), HOOK]);
    const expected = '01-12T17:00 opt_out, 01-12T17:00 webhook, 01-12T17:00 wait';
    expect(await future(id)).toBe(
      `${expected}, ${never('opt_out', 'webhook', 'leave_schedule', 'end')}`,
    );
    await runEngine(world);
    expect((await timeline(id)).past.map(({ event }) => event).slice(0, 4)).toEqual([
      'created',
      'opted_out',
      'webhook_queued',
      'waiting',
    ]);
    time.set('2027-01-13T18:00:00Z');
    await runEngine(world);
    expect(
      (await timeline(id)).past.filter(({ event }) => event === 'webhook_queued'),
    ).toHaveLength(1);
  });

  test('its number is suppressed: contacts are passed over, at their times', async () => {
    const { id, number, shop } = await newLead([SMS, hours(1), EMAIL, HOOK]);
    const list = (
      await api('post', 'buyer_suppressions', {
        body: { name: 'Litigators', offer_ids: [shop.offer.id] },
      })
    ).body.buyer_suppression;
    await api('post', `buyer_suppressions/${list.id}/caller_block`, {
      body: { caller_ids: [number] },
    });
    const last = '01-12T18:00 webhook, 01-12T18:00 leave_schedule, 01-12T18:00 end';
    expect(await future(id)).toBe(
      `01-12T17:00 sms !suppressed, 01-12T17:00 wait, 01-12T18:00 email !suppressed, ${last}`,
    );
    await runEngine(world);
    expect(
      (await timeline(id)).past.map(({ event, message }) => `${String(event)} ${String(message)}`),
    ).toContain('skipped suppressed');
    expect((await api('get', `leads/${id}/buyer_is_available`)).body.reason).toBe(
      `the number is on the suppression list ${list.id}`,
    );
  });

  test('there is no address, no number to use, no hour, nothing to say', async () => {
    const { id } = await newLead([EMAIL, SMS], { email: '' });
    expect(await future(id)).toMatch(/^01-12T17:00 email !no_email, 01-12T17:00 sms, /);
    const impossible = await newLead([SMS], {
      schedule: {
        business_hours_schedule: [{ day: 2, times: ['02:00..03:00'] }],
        time_zone: 'America/Los_Angeles',
      },
    });
    expect(await future(impossible.id)).toBe('never sms !no_open_hours');
    const empty = await newLead([{ ...SMS, body: '{{nothing}}' }]);
    expect((await timeline(empty.id)).future[0]).toMatchObject({
      text: null,
      message: expect.stringContaining('empty'),
    });
    const poor = await world.addCompany();
    const { schedule } = await openShop(world, [DIAL], {}, poor);
    await world.sql('UPDATE numbers SET deleted_at = now() WHERE company_id = $1', [poor.id]);
    const lead = await submitted(schedule.lead_token, {});
    const [step] = (await poor.api('get', `leads/${lead.id}/timeline`)).body.timeline.future;
    expect(step).toMatchObject({ action: 'dial', blocked_by: 'no_number', text: null });
  });
});

describe('what limits a lead is foreseen', () => {
  test.each<[string, Parameters<typeof newLead>, string]>([
    [
      'the time it has',
      [[hours(5), SMS, { ...HOOK, end: true }], { hours_to_expire: 3 }],
      '01-12T17:00 wait, 01-12T20:00 leave_schedule, 01-12T20:00 webhook, 01-12T20:00 end',
    ],
    [
      'its attempts',
      [[SMS, DIAL, SMS], { schedule: { max_contact_attempts: 2 } }],
      '01-12T17:00 sms, 01-12T17:00 dial, 01-12T17:00 leave_schedule, 01-12T17:00 end',
    ],
    [
      'a callback goes first',
      [[SMS], { schedule_callback_in_seconds: 600 }],
      '01-12T17:10 callback, 01-12T17:10 sms, 01-12T17:10 leave_schedule, 01-12T17:10 end',
    ],
    [
      'an exit, behind which nothing is told',
      [[SMS, hours(1), { action_type: 'exit' }, SMS]],
      '01-12T17:00 sms, 01-12T17:00 wait, 01-12T18:00 exit, 01-12T18:00 end',
    ],
  ])('%s', async (_name, lead, expected) =>
    expect(await future((await newLead(...lead)).id)).toBe(expected),
  );

  test('the rounds of a schedule that restarts itself are told up to two hundred steps', async () => {
    const { id } = await newLead([SMS, hours(1), { action_type: 'restart' }]);
    const { future: steps } = await timeline(id);
    expect([steps.length, steps.slice(2, 5).map(told)]).toEqual([
      200,
      ['01-12T18:00 restart', '01-12T18:01 sms', '01-12T18:01 wait'],
    ]);
    const limited = await newLead([SMS, hours(1), { action_type: 'restart' }], {
      max_contact_attempts: 2,
    });
    expect((await timeline(limited.id)).future.map(({ action }) => action)).toEqual([
      'sms',
      'wait',
      'restart',
      'sms',
      'leave_schedule',
      'end',
    ]);
  });

  test('a lead of an offer waits until it expires, and is called back before that', async () => {
    const shop = await openShop(world, []);
    expect((await timeline((await submitted(shop.offer.lead_token, {})).id)).future).toEqual([]);
    const called = await submitted(shop.offer.lead_token, {
      expires_in: 60,
      schedule_callback_in_seconds: 600,
    });
    expect(await future(called.id)).toBe('01-12T17:10 callback, 01-12T18:00 end');
    const late = await submitted(shop.offer.lead_token, {
      expires_in: 5,
      schedule_callback_in_seconds: 600,
    });
    expect(await future(late.id)).toBe('01-12T17:05 end');
  });
});

describe('whether a buyer is there for a lead', () => {
  const buyer = async (body: object) =>
    (await api('post', 'buyers', { body: { number: '+13105550144', ...body } })).body.buyer
      .id as number;
  const asked = async (lead_id: number) => {
    const { status, body } = await api('get', `leads/${lead_id}/buyer_is_available`);
    expect(status).toBe(200);
    return body as {
      buyer_is_available: boolean;
      reason: string | null;
      buyers: { buyer_id: number; available: boolean; reason: string; message: string }[];
    };
  };
  const offering = async (buyer_ids: number[]) => {
    const lead = await newLead([hours(1)], { state: 'NV' });
    expect((await api('put', `offers/${lead.shop.offer.id}`, { body: { buyer_ids } })).status).toBe(
      200,
    );
    return lead;
  };

  test('is told buyer by buyer, with the reason of each that is not', async () => {
    const closed = {
      business_hours_schedule: [{ schedule: [{ day: 0, times: ['09:00..10:00'] }] }],
    };
    const ids = [
      await buyer({ name: 'ready' }),
      await buyer({ paused: true }),
      await buyer({ record_token_filter_list: ['state:CA'] }),
      await buyer({ attempt_daily_limit: 0 }),
      await buyer(closed),
    ];
    const { id } = await offering(ids);
    const { buyer_is_available, reason, buyers } = await asked(id);
    expect([buyer_is_available, reason]).toEqual([true, null]);
    expect(buyers.map((one) => [one.buyer_id, one.available, one.reason])).toEqual([
      [ids[0], true, null],
      [ids[1], false, 'paused'],
      [ids[2], false, 'filter_unmet'],
      [ids[3], false, 'cap_reached'],
      [ids[4], false, 'closed'],
    ]);
    expect(buyers.slice(1).every(({ message }) => message.length > 0)).toBe(true);
  });

  test('none is when each has a reason of its own', async () => {
    const { id } = await offering([await buyer({ paused: true })]);
    expect(await asked(id)).toMatchObject({
      buyer_is_available: false,
      reason: null,
      buyers: [{ available: false, reason: 'paused' }],
    });
  });

  test.each<
    [string, RegExp, (lead: { shop: Shop; number: string }) => Promise<{ status: number }>]
  >([
    [
      'its number is on the blacklist',
      /blacklist/,
      ({ number }) => api('post', 'contacts/caller_block', { body: { caller_ids: [number] } }),
    ],
    [
      'its offer is paused',
      /paused/,
      ({ shop }) => api('put', `offers/${shop.offer.id}`, { body: { paused: true } }),
    ],
    [
      'the offer has no buyers',
      /no buyers/,
      ({ shop }) => api('put', `offers/${shop.offer.id}`, { body: { buyer_ids: [] } }),
    ],
    [
      'it belongs to no offer any more',
      /no offer|no buyers/,
      ({ shop }) => api('delete', `offers/${shop.offer.id}`),
    ],
  ])('none is when %s', async (_name, reason, change) => {
    const lead = await offering([await buyer({})]);
    expect((await asked(lead.id)).buyer_is_available).toBe(true);
    expect((await change(lead)).status).toBe(200);
    expect(await asked(lead.id)).toMatchObject({
      buyer_is_available: false,
      reason: expect.stringMatching(reason),
    });
  });

  test('none is for a lead without offer, nor for one of another company', async () => {
    const { id } = await newLead([hours(1)], { schedule: { offer_id: null } });
    expect(await asked(id)).toMatchObject({
      buyer_is_available: false,
      reason: 'the lead belongs to no offer',
      buyers: [],
    });
    expect(
      (await (await world.addCompany()).api('get', `leads/${id}/buyer_is_available`)).status,
    ).toBe(404);
  });
});
