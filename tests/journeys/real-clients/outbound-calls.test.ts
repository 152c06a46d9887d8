import { runEngine, wait } from '../../support/leads';
import { BUSY, MACHINE, outboundCalls, ROUTED } from '../../support/outbound';

const here = outboundCalls();
const { ok, buyer, shop, play, run, calls, attempts, usage, lead, story } = here;
const { env } = here;

const PAYS = {
  current_conversion_revenue: 40,
  current_conversion_duration: 90,
};

describe('a dial without connect_to is sold like an incoming call', () => {
  test('the first buyer is busy, the second takes the call and pays for it', async () => {
    const first = await buyer({ number: BUSY, tier: 1, ...PAYS });
    const second = await buyer({ tier: 2, ...PAYS });
    const source = (await ok('post', 'traffic_sources', { name: 'Ads' })).traffic_source.id;
    const setup = await shop([first, second], {
      actions: [ROUTED, wait(1)],
      offer: {
        payouts: [{ payout_type: 'fixed', amount: 15, paid_for: 'duration', duration: 60 }],
      },
      lead: { traffic_source_id: source, first_name: 'Ann' },
    });
    await runEngine(env.here);
    expect((await lead(setup.lead)).status).toBe('running');
    await play();
    const [call, ...otherCalls] = await calls(setup.lead);
    expect(otherCalls).toEqual([]);
    expect(call).toMatchObject({
      category: 'outbound',
      status: 'completed',
      answered_by: 'human',
      abandoned: false,
      offer_id: setup.offer,
      schedule_id: setup.schedule.id,
      buyer_id: second,
      connected_to: '+12125550122',
      buyer_converted: true,
      revenue: 40,
      traffic_source_id: source,
      payout: 15,
      attempts_count: 2,
      answered_duration: 120,
      token_values: { first_name: 'Ann' },
    });
    expect(await attempts(call!)).toEqual([
      [first, 'busy'],
      [second, 'completed'],
    ]);
    const { decisions } = await ok('get', `calls/${String(call!.id)}/decision`);
    expect(decisions).toMatchObject([
      { round: 1, action: 'dial', buyer_ids: [first] },
      { round: 2, action: 'dial', buyer_ids: [second] },
    ]);
    expect(await usage(second, 'buyer_conversion_total_used')).toBe(1);
    expect(await usage(second, 'concurrency_cap_used')).toBe(0);
    const [row] = await env.world.sql(
      'SELECT revenue, payout, buyer_converted, connected_call_id FROM leads WHERE id = $1',
      [setup.lead],
    );
    expect(row).toEqual({
      revenue: '40.00',
      payout: '15.00',
      buyer_converted: true,
      connected_call_id: String(call!.id),
    });
    expect((await lead(setup.lead)).status).toBe('scheduled');
    expect(await story(setup.lead)).toEqual(
      expect.arrayContaining(['call_placed: ringing', 'call_changed: completed: was connected']),
    );
  });

  test('a job that runs again dials nobody a second time', async () => {
    const acme = await buyer(PAYS);
    const setup = await shop([acme]);
    await runEngine(env.here);
    await play(3);
    const [call] = await calls(setup.lead);
    expect(await attempts(call!)).toEqual([[acme, 'completed']]);
    expect(await usage(acme, 'attempt_total_used')).toBe(1);
    expect(call).toMatchObject({ revenue: 40 });
  });

  test('a buyer who must press 1 does, and the greeting for callers is not in the way', async () => {
    const acme = await buyer({ press_one_to_accept: true });
    const setup = await shop([acme]);
    await run();
    const [call] = await calls(setup.lead);
    expect(await attempts(call!)).toEqual([[acme, 'completed']]);
    const { call_events } = await ok('get', `calls/${String(call!.id)}/events`);
    expect((call_events as { event: string }[]).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['answered', 'dialed', 'key_press', 'completed']),
    );
  });
});

describe('before a lead is dialed', () => {
  test('it waits while no buyer would take the call, says why once, and is called then', async () => {
    const acme = await buyer({
      time_zone: 'UTC',
      business_hours_schedule: [{ schedule: [{ day: 2, times: ['19:00..20:00'] }] }],
    });
    const setup = await shop([acme]);
    await run();
    expect(await calls(setup.lead)).toEqual([]);
    expect(await lead(setup.lead)).toMatchObject({ status: 'scheduled', delay_reason: 'no_buyer' });
    const due = (await lead(setup.lead)).due_at!;
    expect(due).toEqual(new Date('2027-01-12T17:10:00Z'));
    const { timeline } = await ok('get', `leads/${setup.lead}/timeline`);
    expect(timeline.future[0]).toMatchObject({
      action: 'dial',
      buyer_available: false,
      message: expect.stringContaining('closed (1)'),
    });
    for (let at = due.getTime(); at < Date.parse('2027-01-12T19:00:00Z'); at += 600_000) {
      env.time.set(new Date(at).toISOString());
      await run();
    }
    expect((await story(setup.lead)).filter((line) => line.startsWith('delayed'))).toEqual([
      'delayed: no_buyer until 2027-01-12T17:10:00.000Z: ' +
        'no buyer of the offer would take the call: closed (1)',
    ]);
    expect(await calls(setup.lead)).toEqual([]);
    expect((await lead(setup.lead)).due_at).toEqual(new Date('2027-01-12T19:00:00Z'));
    env.time.set('2027-01-12T19:00:00Z');
    await run();
    expect(await calls(setup.lead)).toMatchObject([{ buyer_id: acme, status: 'completed' }]);
  });

  test('the timeline says that a buyer would take the call', async () => {
    const setup = await shop([await buyer()]);
    const { timeline } = await ok('get', `leads/${setup.lead}/timeline`);
    expect(timeline.future[0]).toMatchObject({
      action: 'dial',
      text: `connects to a buyer of the offer ${setup.offer}`,
      buyer_available: true,
      message: null,
    });
  });

  test('no cap is taken by the look', async () => {
    const acme = await buyer({ attempt_total_limit: 5 });
    const setup = await shop([acme], { actions: [ROUTED] });
    await ok('get', `leads/${setup.lead}/timeline`);
    expect(await usage(acme, 'attempt_total_used')).toBe(0);
  });

  test('opt-outs and suppressions that came while it waited are heeded', async () => {
    const acme = await buyer({ paused: true });
    const setup = await shop([acme]);
    await run();
    expect(await lead(setup.lead)).toMatchObject({ delay_reason: 'no_buyer' });
    await ok('put', `buyers/${acme}`, { paused: false });
    await ok('post', 'contacts/caller_block', { caller_ids: ['3105550123'] });
    await env.hours(1);
    await play();
    expect(await calls(setup.lead)).toEqual([]);
    expect((await lead(setup.lead)).status).toBe('blocked');
  });

  test('a lead whose schedule expires meanwhile leaves it', async () => {
    const setup = await shop([await buyer({ paused: true })], { lead: { expires_in: 5 } });
    await run();
    expect((await lead(setup.lead)).due_at).toEqual(new Date('2027-01-12T17:05:00Z'));
    await env.hours(0.1);
    expect((await lead(setup.lead)).status).toMatch(/expired|completed/);
  });
});

describe('an answered call without a buyer', () => {
  const abandonable = () =>
    shop([], {
      actions: [{ ...ROUTED, only_when_buyer_available: false }],
      offer: { abandoned_message: 'This was Acme, +1 212 555 0100.', fallback_type: 'voicemail' },
    });

  test('is abandoned after its message, counted and reported', async () => {
    const setup = await abandonable();
    await run();
    const [call] = await calls(setup.lead);
    expect(call).toMatchObject({
      status: 'completed',
      abandoned: true,
      fallback: 'message',
      answered_by: 'human',
      hangup_cause: 'no_buyers',
    });
    expect(await story(setup.lead)).toContain(
      'call_changed: abandoned: answered, and no buyer was found',
    );
    const otherBuyer = await buyer();
    await ok('put', `offers/${setup.offer}`, { buyer_ids: [otherBuyer] });
    for (const category of ['schedule', 'offer']) {
      const { rows, totals } = await ok('get', `calls/reports?category=${category}`);
      expect(rows).toMatchObject([
        {
          key: String(category === 'offer' ? setup.offer : setup.schedule.id),
          calls: 1,
          answered_by_person: 1,
          abandoned: 1,
          abandoned_rate: 1,
        },
      ]);
      expect(totals).toMatchObject({ answered_by_person: 1, abandoned: 1, abandoned_rate: 1 });
    }
    const nothing = await ok('get', 'calls/reports?created_at_to=2027-01-01T00:00:00Z');
    expect(nothing.totals).toMatchObject({ abandoned: 0, abandoned_rate: 0 });
  });

  test('is abandoned too when all buyers that were dialed are busy', async () => {
    const busy = await buyer({ number: BUSY });
    const setup = await shop([busy]);
    await run();
    const [call] = await calls(setup.lead);
    expect(call).toMatchObject({ status: 'completed', abandoned: true, attempts_count: 1 });
    expect(await usage(busy, 'concurrency_cap_used')).toBe(0);
    expect((await lead(setup.lead)).status).toBe('completed_attempted');
  });
});

describe('an answering machine', () => {
  test('is hung up on, and no cap is taken', async () => {
    const acme = await buyer();
    const setup = await shop([acme], { lead: { caller_id: MACHINE } });
    await run();
    const [call] = await calls(setup.lead);
    expect(call).toMatchObject({
      status: 'completed',
      answered_by: 'machine',
      machine_action: 'hang_up',
      hangup_cause: 'machine',
      abandoned: false,
      attempts_count: 0,
      buyer_id: null,
    });
    expect(await usage(acme, 'attempt_total_used')).toBe(0);
    expect(await lead(setup.lead)).toMatchObject({
      status: 'completed_attempted',
      contact_attempts: 1,
    });
    expect(await story(setup.lead)).toContain('call_changed: completed: answered by a machine');
    const { totals } = await ok('get', 'calls/reports');
    expect(totals).toMatchObject({ answered_by_person: 0, abandoned: 0 });
  });

  test('hears a message with tokens, or is connected, as the action says', async () => {
    const acme = await buyer();
    const leave = {
      ...ROUTED,
      machine_action: 'leave_message',
      machine_message: 'Hello {{first_name}}',
    };
    const messageSetup = await shop([acme], {
      actions: [leave],
      lead: { caller_id: MACHINE, first_name: 'Ann' },
    });
    const connectSetup = await shop([acme], {
      actions: [{ ...ROUTED, machine_action: 'connect' }],
      lead: { caller_id: MACHINE },
    });
    await run();
    expect(await calls(messageSetup.lead)).toMatchObject([
      { answered_by: 'machine', machine_message: 'Hello Ann', attempts_count: 0 },
    ]);
    expect(await calls(connectSetup.lead)).toMatchObject([
      { answered_by: 'machine', buyer_id: acme },
    ]);
  });

  test('for which no buyer is found is not an abandoned person', async () => {
    const setup = await shop([await buyer({ number: BUSY })], {
      actions: [{ ...ROUTED, machine_action: 'connect' }],
      lead: { caller_id: MACHINE },
    });
    await run();
    expect(await calls(setup.lead)).toMatchObject([
      { status: 'completed', answered_by: 'machine', abandoned: false, attempts_count: 1 },
    ]);
  });

  test('is detected for a fixed destination when the action asks for it', async () => {
    const fixed = { ...ROUTED, connect_to: '+13105550199', machine_action: 'hang_up' };
    const machine = await shop([], { actions: [fixed], lead: { caller_id: MACHINE } });
    const person = await shop([], { actions: [fixed] });
    const plain = await shop([], { actions: [{ ...ROUTED, connect_to: '+13105550199' }] });
    await run();
    const was = { connected_to: '+13105550199', status: 'completed' };
    expect(await calls(machine.lead)).toMatchObject([{ ...was, answered_by: 'machine' }]);
    expect(await calls(person.lead)).toMatchObject([{ ...was, answered_by: 'human' }]);
    expect(await calls(plain.lead)).toMatchObject([{ ...was, answered_by: null }]);
    const statuses = [];
    for (const setup of [machine, person, plain]) statuses.push((await lead(setup.lead)).status);
    expect(statuses).toEqual(['completed_attempted', 'completed_connected', 'completed_connected']);
  });
});
