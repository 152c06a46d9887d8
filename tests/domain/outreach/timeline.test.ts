import { standingClock } from '../../support/clock';
import { NOON, runEngine, type Shop } from '../../support/leads';
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

const { api, timeline, newLead } = buildTimelineHelpers(() => world);

describe('the timeline of a lead', () => {
  test('shows what will be done, when, and with which text', async () => {
    const { id, shop } = await newLead(
      [{ ...SMS, name: 'First text' }, hours(2), DIAL, EMAIL, { ...HOOK, end: true }],
      { first_name: 'Ann' },
    );
    const { future: steps } = await timeline(id);
    const shown = steps.map((step) => [formatStep(step), step.text ?? step.message]);
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
    // Reading the timeline sends nothing.
    expect(
      (await api('get', 'text_messages', { query: { lead_id: id } })).body.metadata.total_count,
    ).toBe(0);
  });

  test('shows what has happened in order, then only what is still to come', async () => {
    const { id } = await newLead([SMS, hours(2), DIAL]);
    await runEngine(world);
    const half = await timeline(id);
    expect(half.past.map(({ event, message }) => [event, message])).toEqual([
      ['created', null],
      ['sms_sent', 'delivered'],
      ['waiting', expect.stringContaining('19:00')],
    ]);
    expect(half.past.map(({ at }) => at)).toEqual(Array(3).fill('2027-01-12T17:00:00.000+00:00'));
    expect(half.future.map(formatStep)).toEqual([
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
    const steps = async (timeZone?: string) =>
      (await timeline(id, { time_zone: timeZone })).future.map(({ at, message }) => at ?? message);
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

describe('whether a buyer is there for a lead', () => {
  const buyer = async (body: object) =>
    (await api('post', 'buyers', { body: { number: '+13105550144', ...body } })).body.buyer
      .id as number;
  const loadAvailability = async (leadId: number) => {
    const { status, body } = await api('get', `leads/${leadId}/buyer_is_available`);
    expect(status).toBe(200);
    return body as {
      buyer_is_available: boolean;
      reason: string | null;
      buyers: { buyer_id: number; available: boolean; reason: string; message: string }[];
    };
  };
  const offering = async (buyerIds: number[]) => {
    const lead = await newLead([hours(1)], { state: 'NV' });
    expect(
      (await api('put', `offers/${lead.shop.offer.id}`, { body: { buyer_ids: buyerIds } })).status,
    ).toBe(200);
    return lead;
  };

  test('is listed by buyer, with the reason for each that is not available', async () => {
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
    const { buyer_is_available, reason, buyers } = await loadAvailability(id);
    expect([buyer_is_available, reason]).toEqual([true, null]);
    expect(
      buyers.map((candidate) => [candidate.buyer_id, candidate.available, candidate.reason]),
    ).toEqual([
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
    expect(await loadAvailability(id)).toMatchObject({
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
    expect((await loadAvailability(lead.id)).buyer_is_available).toBe(true);
    expect((await change(lead)).status).toBe(200);
    expect(await loadAvailability(lead.id)).toMatchObject({
      buyer_is_available: false,
      reason: expect.stringMatching(reason),
    });
  });

  test('none is for a lead without offer, nor for one of another company', async () => {
    const { id } = await newLead([hours(1)], { schedule: { offer_id: null } });
    expect(await loadAvailability(id)).toMatchObject({
      buyer_is_available: false,
      reason: 'the lead belongs to no offer',
      buyers: [],
    });
    expect(
      (await (await world.addCompany()).api('get', `leads/${id}/buyer_is_available`)).status,
    ).toBe(404);
  });
});
