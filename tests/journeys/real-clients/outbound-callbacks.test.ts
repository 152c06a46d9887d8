import { submit, wait } from '../../support/leads';
import { createMember } from '../../support/teams';
import { BUSY, MACHINE, outboundCalls, PERSON, ROUTED } from '../../support/outbound';

const here = outboundCalls();
const { ok, buyer, shop, play, run, calls, usage, lead, story } = here;
const { env } = here;

describe('what nobody answers', () => {
  test.each([
    ['3105550105', 'busy'],
    ['3105550106', 'no_answer'],
    ['3105550107', 'failed'],
  ])('%s is %s: no buyer is dialed, and the attempt counts', async (callerId, status) => {
    const acme = await buyer();
    const setup = await shop([acme], { lead: { caller_id: callerId } });
    await run();
    expect(await calls(setup.lead)).toMatchObject([{ status, answered_by: null, buyer_id: null }]);
    expect(await lead(setup.lead)).toMatchObject({
      status: 'completed_attempted',
      contact_attempts: 1,
    });
    expect(await usage(acme, 'attempt_total_used')).toBe(0);
  });
});

describe('a schedule that ends when a lead is connected', () => {
  test.each([
    ['a buyer takes the call', PERSON, '+12125550122', true],
    ['a person hears no buyer', PERSON, BUSY, false],
    ['a machine is hung up on', MACHINE, '+12125550122', false],
  ])('%s', async (_, callerId, number, ends) => {
    const setup = await shop([await buyer({ number })], {
      actions: [ROUTED, wait(1), ROUTED],
      lead: { caller_id: callerId },
    });
    await ok('put', `schedules/${setup.schedule.id}`, { exit_on: ['connected'] });
    await run();
    expect((await story(setup.lead)).includes('left_schedule: connected')).toBe(ends);
    await env.hours(1);
    expect(await calls(setup.lead)).toHaveLength(ends ? 1 : 2);
  });

  test('with a conversion, the lead is not called again', async () => {
    const acme = await buyer({ current_conversion_revenue: 40, current_conversion_duration: 90 });
    const setup = await shop([acme], { actions: [ROUTED, wait(1), ROUTED] });
    await run();
    await env.hours(1);
    expect(await calls(setup.lead)).toMatchObject([{ buyer_converted: true }]);
    expect((await lead(setup.lead)).status).toBe('completed_converted');
  });
});

describe('callbacks and POST /calls without a destination are routed too', () => {
  test('a callback waits for a buyer, and goes to the one that routing chooses', async () => {
    const acme = await buyer({ paused: true });
    const setup = await shop([acme], {
      actions: [{ action_type: 'wait', wait_amount: 9, wait_unit: 'days' }],
      lead: { schedule_callback_in_seconds: 60 },
    });
    await env.hours(0.1);
    expect(await lead(setup.lead)).toMatchObject({ delay_reason: 'no_buyer' });
    await ok('put', `buyers/${acme}`, { paused: false });
    await env.hours(0.5);
    await play();
    expect(await calls(setup.lead)).toMatchObject([
      { buyer_id: acme, connected_to: '+12125550122' },
    ]);
    const [callback] = await env.world.sql(
      'SELECT status FROM scheduled_callbacks WHERE lead_id = $1',
      [setup.lead],
    );
    expect(callback).toEqual({ status: 'done' });
  });

  test('a call by request goes through the same routing', async () => {
    const acme = await buyer({ current_conversion_revenue: 40, current_conversion_duration: 90 });
    const setup = await shop([acme], { actions: [] });
    const { call } = await ok('post', 'calls', { lead_id: setup.lead });
    expect(call).toMatchObject({
      status: 'ringing',
      connected_to: null,
      machine_action: 'hang_up',
    });
    await play();
    expect((await ok('get', `calls/${call.id}`)).call).toMatchObject({
      status: 'completed',
      buyer_id: acme,
      revenue: 40,
    });
  });

  test('a schedule and a lead without an offer have nobody to call for, and say so', async () => {
    const { schedule } = await ok('post', 'schedules', { name: 'Without an offer' });
    await ok('post', 'schedule_actions', { schedule_id: schedule.id, action_type: 'dial' });
    await shop([]);
    const res = await submit(env.here, schedule.lead_token, { caller_id: '3105550177' });
    await run();
    expect(await story(res.body.id)).toContain(
      'call_failed: neither the lead nor its schedule has an offer whose buyers could take it',
    );
    const refused = await env.here.company.api('post', 'calls', {
      body: { lead_id: res.body.id },
    });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['schedule_id']]);
  });

  test('a call by request is refused while no buyer would take it', async () => {
    const setup = await shop([await buyer({ paused: true })], { actions: [] });
    const res = await env.here.company.api('post', 'calls', { body: { lead_id: setup.lead } });
    expect([res.status, res.body.errors.schedule_id]).toEqual([
      422,
      [expect.stringContaining('paused (1)')],
    ]);
  });

  test('a lead of a paused traffic source is called when that is no longer paused', async () => {
    const acme = await buyer();
    const { id } = (await ok('post', 'traffic_sources', { name: 'Search' })).traffic_source;
    const setup = await shop([acme], { lead: { traffic_source_id: id } });
    await ok('put', `traffic_sources/${id}`, { paused: true });
    await run();
    expect(await calls(setup.lead)).toEqual([]);
    expect(await story(setup.lead)).toContainEqual(
      expect.stringContaining('the traffic source is paused'),
    );
    const refused = await env.here.company.api('post', 'calls', { body: { lead_id: setup.lead } });
    expect([refused.status, refused.body.error_codes]).toEqual([
      422,
      { schedule_id: ['no_buyer'] },
    ]);
    await ok('put', `traffic_sources/${id}`, { paused: false });
    await env.hours(0.5);
    await play();
    expect(await calls(setup.lead)).toMatchObject([{ buyer_id: acme, traffic_source_id: id }]);
  });

  test('who does not see all buyers is not told how many there are for each reason', async () => {
    const { id } = (await ok('post', 'traffic_sources', { name: 'Search' })).traffic_source;
    const setup = await shop([await buyer({ paused: true })], { lead: { traffic_source_id: id } });
    await run();
    const permissions = ['leads:read', 'lead_logs:read'];
    const grants = { traffic_source_ids: [id], permissions };
    const user = await createMember(env.here.company, 'publisher@example.com', grants);
    const answers = [
      await user.api('get', `lead_logs?lead_id=${setup.lead}`),
      await user.api('get', `leads/${setup.lead}/timeline`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { text } of answers) {
      expect(text).toContain('would take the call');
      expect(text).not.toContain('(1)');
    }
    expect(await story(setup.lead)).toContainEqual(expect.stringContaining('paused (1)'));
  });

  test('a message without leave_message, and the other way round, is 422', async () => {
    const setup = await shop([await buyer()], { actions: [] });
    const errors = async (body: object) =>
      (await env.here.company.api('post', 'calls', { body: { lead_id: setup.lead, ...body } })).body
        .errors;
    expect(await errors({ machine_action: 'leave_message' })).toHaveProperty('machine_message');
    expect(await errors({ machine_action: 'hang_up', machine_message: 'Hi' })).toHaveProperty(
      'machine_message',
    );
    expect(await errors({ machine_message: 'Hi' })).toHaveProperty('machine_action');
  });
});
