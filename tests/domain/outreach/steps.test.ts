import { processDueLeads } from '../../../src/domain/outreach/due-leads';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  loadLeadRow,
  NOON,
  openShop,
  SMS,
  submit,
  wait,
} from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';
import { repetitions } from '../../support/repetitions';

type Fields = Record<string, unknown>;

const env = outreachAtNoon();
const { ok, startLead, hours, texts, events, status } = env;

describe('a lead', () => {
  test.each<[string, Fields[], Fields, Fields, string[]]>([
    [
      'its hours are over',
      [SMS, wait(9), SMS],
      {},
      { hours_to_expire: 2 },
      ['left_schedule: expired', 'ended: expired'],
    ],
    [
      'the lead’s own hours are over',
      [SMS, wait(9), SMS],
      { hours_to_expire: 1 },
      { hours_to_expire: 4 },
      ['left_schedule: expired', 'ended: expired'],
    ],
    [
      'expires_in, in minutes, is over',
      [SMS, wait(9), SMS],
      { expires_in: 30 },
      { hours_to_expire: 4 },
      ['left_schedule: expired', 'ended: expired'],
    ],
    [
      'its attempts are used up',
      [SMS, DIAL, SMS],
      {},
      { max_contact_attempts: 2 },
      ['left_schedule: exceeded_max_calls', 'ended: exceeded_max_calls'],
    ],
    [
      'the lead’s own attempts are',
      [SMS, SMS],
      { max_contact_attempts: 1 },
      {},
      ['left_schedule: exceeded_max_calls', 'ended: exceeded_max_calls'],
    ],
  ])(
    'is left when %s, for the actions of its end',
    async (_, actions, fields, schedule, toldLast) => {
      const { lead } = await startLead(
        [...actions, { ...EMAIL, end: true }],
        { email: 'ann@example.com', ...fields },
        schedule,
      );
      await hours(0.5);
      await hours(1);
      await hours(2);
      expect((await events(lead)).slice(-3)).toEqual([
        toldLast[0],
        'email_sent: sent',
        toldLast[1],
      ]);
    },
  );

  test.each<[string, Fields[], Fields]>([
    ['completed', [EMAIL], {}],
    ['completed', [], {}],
    ['completed', [{ ...SMS, token_filter_list: ['x:1'] }], {}],
    ['completed', [SMS, DIAL], { caller_id: '2125550101', then: EMAIL }],
    ['completed_attempted', [DIAL], { caller_id: '2125550105' }],
    ['completed_attempted', [DIAL], { caller_id: '2125550106' }],
    ['completed_attempted', [DIAL], { caller_id: '2125550107' }],
    ['completed_connected', [DIAL], {}],
    ['failure', [SMS, DIAL], { caller_id: '2125550101' }],
    ['failure', [EMAIL], { email: 'bounce@example.com' }],
    ['failure', [EMAIL], { email: undefined }],
  ])('leaves a lead %s after %j', async (final, actions, { then, ...fields }) => {
    const { lead } = await startLead([...actions, ...(then ? [then as Fields] : [])], {
      email: 'ann@example.com',
      ...fields,
    });
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      status: final,
      is_live: false,
      due_at: null,
      claim_id: null,
    });
  });

  test('leaves a lead that has converted completed_converted', async () => {
    const { lead } = await startLead([DIAL, wait(1)]);
    await env.world.sql('UPDATE leads SET buyer_converted = true WHERE id = $1', [lead]);
    await hours(1);
    expect(await status(lead)).toBe('completed_converted');
  });
});

describe('the instructions of a schedule', () => {
  test('restart begins again after a minute, until the attempts are used up', async () => {
    const { lead } = await startLead(
      [SMS, { action_type: 'restart' }],
      {},
      { max_contact_attempts: 3 },
    );
    expect(await texts(lead)).toHaveLength(1);
    for (let minute = 1; minute <= 5; minute++) await hours(minute / 60);
    expect([await texts(lead), await status(lead)]).toEqual([
      ['Hello', 'Hello', 'Hello'],
      'exceeded_max_calls',
    ]);
  });

  test('exit leads to the end', async () => {
    const { lead } = await startLead([
      { action_type: 'exit' },
      SMS,
      { ...SMS, body: 'Bye', end: true },
      { action_type: 'exit', end: true },
      { ...SMS, end: true },
    ]);
    expect([await texts(lead), await status(lead)]).toEqual([['Bye'], 'completed']);
  });

  test.each([
    // By default an opt-out ends the schedule too.
    ['opt_out', 'opt_out', 'opted_out', ['left_schedule: opted_out']],
    ['block', 'blocked', 'blocked', []],
  ])(
    '%s stops all leads of the number, before anything else is sent',
    async (actionType, stopped, event, ended) => {
      const second = await startLead([wait(1), SMS]);
      const { lead } = await startLead([SMS, { action_type: actionType }, SMS]);
      await hours(1);
      expect([
        await texts(lead),
        await texts(second.lead),
        await status(lead),
        await status(second.lead),
      ]).toEqual([['Hello'], [], stopped, stopped]);
      const { contacts } = await ok('get', 'contacts?caller_id=3105550123');
      expect(contacts).toMatchObject([{ [stopped]: true }]);
      const logged = [`${event}: by its schedule`, ...ended];
      expect(await events(lead)).toEqual(['sms_sent: delivered', ...logged]);
      expect(await events(second.lead)).toContain(
        `${event}: by the schedule of a lead of this number`,
      );
    },
  );

  test('move_to_schedule moves the lead, at the earliest a minute after it entered', async () => {
    const target = await openShop(
      env.here,
      [{ ...SMS, body: 'There' }],
      { name: 'Target' },
      env.here.company,
    );
    const { lead } = await startLead([
      SMS,
      { action_type: 'move_to_schedule', to_schedule_id: target.schedule.id },
    ]);
    expect(await texts(lead)).toEqual(['Hello']);
    await hours(1 / 60);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello', 'There'], 'completed']);
    expect(await events(lead)).toEqual([
      'sms_sent: delivered',
      'moved_to_schedule: Target',
      'sms_sent: delivered',
      'left_schedule: completed',
      'ended: completed',
    ]);
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      schedule_id: String(target.schedule.id),
      offer_id: String(target.offer.id),
    });
  });

  test.each<[string, (target: { id: number; lead_token: string }) => Promise<unknown>, string]>([
    [
      'holds its number by then',
      ({ lead_token }) => submit(env.here, lead_token),
      'its number is already in the schedule it was to be moved to',
    ],
    [
      'is gone by then',
      ({ id }) => ok('delete', `schedules/${id}`),
      'the schedule it was to be moved to is gone',
    ],
  ])('a move into a schedule that %s ends the lead, and says so', async (_, change, why) => {
    const target = await openShop(env.here, [wait(9)], {}, env.here.company);
    const { lead } = await startLead([
      DIAL,
      wait(1),
      { action_type: 'move_to_schedule', to_schedule_id: target.schedule.id },
    ]);
    await change(target.schedule);
    await hours(1);
    expect((await events(lead)).at(-1)).toBe(`ended: completed_connected: ${why}`);
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      status: 'completed_connected',
      is_live: false,
      due_at: null,
    });
  });

  test('if two leads of a number move to one schedule at once, the first is there', async () => {
    const target = await openShop(env.here, [wait(9)], {}, env.here.company);
    const move = { action_type: 'move_to_schedule', to_schedule_id: target.schedule.id };
    const [first, second] = [await startLead([wait(1), move]), await startLead([wait(1), move])];
    await hours(1);
    expect((await events(first.lead)).slice(-2)).toEqual([
      'moved_to_schedule: Follow up',
      expect.stringMatching(/^waiting: /),
    ]);
    expect((await events(second.lead)).at(-1)).toBe(
      'ended: completed: its number is already in the schedule it was to be moved to',
    );
  });

  test('many leads that move at once all move, with several workers', async () => {
    const count = repetitions(200, 2_000);
    const target = await openShop(env.here, [], {}, env.here.company);
    const from = await openShop(
      env.here,
      [{ action_type: 'move_to_schedule', to_schedule_id: target.schedule.id }],
      {},
      env.here.company,
    );
    await fillSchedule(env.here, from.schedule.id, {
      first: 12_122_000_000,
      count,
      now: new Date(Date.parse(NOON) - 60_000),
    });
    const work = async () => {
      const options = { batch_size: count / 5 };
      while ((await processDueLeads(env.here.deps, options)) > 0);
    };
    await Promise.all([1, 2, 3, 4].map(work));
    const rows = await env.world.sql(
      'SELECT status, schedule_id FROM leads WHERE company_id = $1 GROUP BY 1, 2',
      [env.here.company.id],
    );
    expect(rows).toEqual([{ status: 'completed', schedule_id: String(target.schedule.id) }]);
    const [logged] = await env.world.sql(
      `SELECT count(*)::int FROM lead_logs WHERE company_id = $1 AND event = 'moved_to_schedule'`,
      [env.here.company.id],
    );
    expect(logged).toEqual({ count });
  });

  test('webhook queues a job for its log', async () => {
    // Ids that are not in order as text.
    await env.world.sql(
      `SELECT setval('lead_logs_id_seq', (
        SELECT greatest(m, (10 ^ length(m::text))::bigint - 4)
        FROM (SELECT coalesce(max(id), 1) AS m FROM lead_logs) x
      ))`,
    );
    const { lead } = await startLead([
      SMS,
      { action_type: 'webhook', url: 'https://hooks.example/x' },
      { action_type: 'webhook', url: 'https://hooks.example/y' },
    ]);
    const logs = await env.world.sql(
      `SELECT id::text FROM lead_logs WHERE lead_id = $1 AND event = 'webhook_queued' ORDER BY id`,
      [lead],
    );
    const jobs = await env.world.sql(
      `SELECT data FROM jobs.job
        WHERE name = 'send_action_webhook' AND data->>'company_id' = $1
        ORDER BY data->>'lead_log_id'`,
      [String(env.here.company.id)],
    );
    expect(jobs).toEqual(
      logs.map(({ id }) => ({
        data: { company_id: String(env.here.company.id), lead_log_id: id },
      })),
    );
    expect(jobs).toHaveLength(2);
  });
});
