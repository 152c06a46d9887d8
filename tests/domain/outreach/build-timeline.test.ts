import { standingClock } from '../../support/clock';
import { NOON, openShop, runEngine, type Shop } from '../../support/leads';
import {
  DIAL,
  EMAIL,
  HOOK,
  hours,
  SMS,
  formatStep,
  buildTimelineHelpers,
} from '../../support/timeline';
import { createWorld, type World } from '../../support/world';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());
beforeEach(() => time.set(NOON));

const { api, timeline, future, submitted, newLead } = buildTimelineHelpers(() => world);

describe('a step that is put off says until when and why', () => {
  const DARK = '2027-01-13T06:00:00Z';
  const end = (at: string) => `${at} leave_schedule, ${at} end`;
  test('a text at ten in the evening is put off to eight, before and after a step', async () => {
    time.set(DARK);
    const { id } = await newLead([SMS, EMAIL]);
    const expected =
      '01-13T08:00 sms (daylight_hours), 01-13T08:00 email, ' +
      '01-13T08:00 leave_schedule, 01-13T08:00 end';
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

  test('nor is a carrier that is down, which has a message', async () => {
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
      '01-12T17:00 sms !token_filter, 01-12T17:00 email, ' +
        '01-12T17:00 leave_schedule, 01-12T17:00 end',
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
    // By default an opt-out ends the schedule, and nothing is left to be done.
    const lead = await newLead(actions, { schedule: { exit_on: ['converted'] } });
    expect([200, 201]).toContain((await stop(lead)).status);
    expect(await future(lead.id)).toBe(never(obstacle, ...all));
    await runEngine(world);
    expect(await future(lead.id)).toBe(never(obstacle, ...all));
    expect((await timeline(lead.id)).future.every(({ message }) => message !== null)).toBe(true);
  });

  test('an opt-out stops what follows the next wait, as outreach does', async () => {
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
      'an exit, after which nothing follows',
      [[SMS, hours(1), { action_type: 'exit' }, SMS]],
      '01-12T17:00 sms, 01-12T17:00 wait, 01-12T18:00 exit, 01-12T18:00 end',
    ],
  ])('%s', async (_name, lead, expected) =>
    expect(await future((await newLead(...lead)).id)).toBe(expected),
  );

  test('a schedule that restarts itself is forecast for up to two hundred steps', async () => {
    const { id } = await newLead([SMS, hours(1), { action_type: 'restart' }]);
    const { future: steps } = await timeline(id);
    expect([steps.length, steps.slice(2, 5).map(formatStep)]).toEqual([
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
