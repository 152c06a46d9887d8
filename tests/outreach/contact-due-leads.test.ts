import { standingClock } from '../support/clock';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  leadRow,
  NOON,
  openShop,
  runEngine,
  schedulesOf,
  sentTo,
  SMS,
  story,
  submit,
  wait,
} from '../support/leads';
import { createWorld, type World } from '../support/world';

type Fields = Record<string, unknown>;

let world: World;
/** The world as a company of the test's own sees it. */
let here: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
beforeEach(async () => {
  time.set(NOON);
  here = { ...world, company: await world.addCompany() };
});
afterAll(() => world.close());

const { ok, begun, until, hours, texts, told, status } = schedulesOf(() => here, time);

describe('a schedule', () => {
  test('is done in its order, each step once, and what was sent is kept, counted and told', async () => {
    const actions = [
      { ...SMS, body: 'Hi {{first_name}}' },
      EMAIL,
      DIAL,
      wait(1),
      { ...SMS, body: 'Again' },
      { ...EMAIL, subject: 'Bye', end: true },
    ];
    const { lead, schedule, offer } = await begun(actions, {
      first_name: 'Ann',
      email: 'ann@example.com',
    });
    expect(await runEngine(here)).toBe(0);
    await until('2027-01-12T17:59:59.999Z');
    expect(await status(lead)).toBe('waiting');
    await until('2027-01-12T18:00:00Z');
    await hours(48);
    expect(await story(world, lead)).toEqual([
      'created',
      'sms_sent: delivered',
      'email_sent: sent',
      'call_placed: completed',
      'waiting: until 2027-01-12T18:00:00.000Z',
      'sms_sent: delivered',
      'left_schedule: completed',
      'email_sent: sent',
      'ended: completed_connected',
    ]);
    const { text_messages } = await ok('get', 'text_messages');
    expect(text_messages.map(({ body }: Fields) => body).toSorted()).toEqual(['Again', 'Hi Ann']);
    for (const message of text_messages)
      expect(message).toMatchObject({
        sandbox: true,
        carrier: 'sandbox',
        status: 'delivered',
        from_number: '+12125550100',
        to_number: '+13105550123',
        lead_id: lead,
        schedule_id: schedule,
        offer_id: offer,
        token_values: { first_name: 'Ann' },
        carrier_message_id: expect.stringMatching(/^SB/),
      });
    const { emails } = await ok('get', 'emails');
    expect(emails.map(({ subject }: Fields) => subject).toSorted()).toEqual(['Bye', 'News']);
    for (const email of emails)
      expect(email).toMatchObject({
        sandbox: true,
        mailer: 'sandbox',
        status: 'sent',
        to_email: 'ann@example.com',
        lead_id: lead,
      });
    const [call] = await sentTo(world, 'calls', lead);
    expect(call).toMatchObject({
      connect_to: '+13105550199',
      carrier: 'sandbox',
      status: 'completed',
      to_number: '13105550123',
    });
    const { contacts } = await ok('get', 'contacts?caller_id=3105550123');
    expect(contacts).toMatchObject([
      {
        calls_count: 1,
        sms_count: 2,
        emails_count: 2,
        last_contacted_at: '2027-01-12T18:00:00.000+00:00',
      },
    ]);
    const { lead_logs } = await ok('get', `lead_logs?lead_id=${lead}`);
    expect(
      lead_logs
        .filter(({ event }: Fields) => event === 'sms_sent')
        .map(({ text_message_id }: Fields) => text_message_id)
        .toSorted(),
    ).toEqual(text_messages.map(({ id }: Fields) => id).toSorted());
  });

  test('puts tokens into texts: the lead’s own, the system’s, defaults; escaped in HTML, on one line in a subject', async () => {
    const sms =
      '{{first_name}} of {{city}}, [car]{your car} [pet]{your pet} {{nothing}}{{caller_id}} {{offer_name}} {{service_number}}';
    const email = {
      ...EMAIL,
      subject: 'For {{ name }}\n{{city}}',
      body: '<p>{{city}} & [pet]{<b>}</p>',
      html: true,
    };
    const plain = { ...EMAIL, subject: 'Plain', body: '{{city}} <b>' };
    const fields = {
      email: 'ann@example.com',
      name: 'Ann\r\nBcc: eve@example.net',
      city: '<i>"Ö" & co</i>',
      car: 'a {{city}}',
    };
    const { lead } = await begun([{ ...SMS, body: sms }, email, plain], fields);
    expect(await texts(lead)).toEqual([
      'Ann of <i>"Ö" & co</i>, a {{city}} your pet +13105550123 Auto insurance +12125550100',
    ]);
    expect(await sentTo(world, 'emails', lead)).toMatchObject([
      {
        subject: 'For Ann Bcc: eve@example.net <i>"Ö" & co</i>',
        body: '<p>&lt;i&gt;&quot;Ö&quot; &amp; co&lt;/i&gt; & <b></p>',
        html: true,
      },
      { subject: 'Plain', body: '<i>"Ö" & co</i> <b>', html: false },
    ]);
  });

  test('tells in texts of the calls that its own steps have made', async () => {
    const { lead } = await begun([DIAL, { ...SMS, body: '{{calls_last_1_days}} {{call_uuid}}' }]);
    const [call] = await sentTo(world, 'calls', lead);
    expect(await texts(lead)).toEqual([`1 ${call!.uuid}`]);
  });

  test('an e-mail names the number the lead was given to call', async () => {
    const shop = await openShop(
      here,
      [{ ...EMAIL, body: 'Call {{service_number}}' }],
      {},
      here.company,
    );
    const { body } = await submit(here, shop.schedule.lead_token, {
      email: 'ann@example.com',
      assign_service_number: true,
    });
    await runEngine(here);
    expect(body.service_number_plain).toBe('12125550100');
    expect(await sentTo(world, 'emails', body.id)).toMatchObject([{ body: 'Call +12125550100' }]);
  });

  test('sends e-mails from who the action says, else the schedule, else the installation', async () => {
    const actions = [EMAIL, { ...EMAIL, from_email: 'Ann <ann@desk.example>' }];
    const from = async (lead: number) =>
      (await sentTo(world, 'emails', lead)).map(({ from_email }) => from_email);
    const one = await begun(
      actions,
      { email: 'ann@example.com' },
      { from_email: 'desk@desk.example' },
    );
    const other = await begun(actions, { email: 'ann@example.com' });
    expect(await from(one.lead)).toEqual(['desk@desk.example', 'Ann <ann@desk.example>']);
    expect(await from(other.lead)).toEqual([
      'Trunkline <no-reply@trunkline.example>',
      'Ann <ann@desk.example>',
    ]);
  });

  test('passes over what the lead’s tokens do not meet, as they are when it comes to it', async () => {
    const only = (body: string, ...token_filter_list: string[]) => ({
      ...SMS,
      body,
      token_filter_list,
    });
    const { lead } = await begun(
      [
        only('young', 'age:<18'),
        only('grown', 'age:>=18'),
        wait(1),
        only('late', 'state:in CA,NV'),
        { ...DIAL, token_filter_list: ['x:1'] },
      ],
      { age: 30 },
    );
    expect(await texts(lead)).toEqual(['grown']);
    await ok('put', `leads/${lead}`, { data: { state: 'nv' } });
    await hours(1);
    expect(await texts(lead)).toEqual(['grown', 'late']);
    expect(await told(lead)).toEqual([
      'skipped: token_filter',
      'sms_sent: delivered',
      'waiting: until 2027-01-12T18:00:00.000Z',
      'updated',
      'sms_sent: delivered',
      'skipped: token_filter',
      'left_schedule: completed',
      'ended: completed',
    ]);
  });

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
    async (_, actions, fields, schedule, told_last) => {
      const { lead } = await begun(
        [...actions, { ...EMAIL, end: true }],
        { email: 'ann@example.com', ...fields },
        schedule,
      );
      await hours(0.5);
      await hours(1);
      await hours(2);
      expect((await told(lead)).slice(-3)).toEqual([
        told_last[0],
        'email_sent: sent',
        told_last[1],
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
    const { lead } = await begun([...actions, ...(then ? [then as Fields] : [])], {
      email: 'ann@example.com',
      ...fields,
    });
    expect(await leadRow(world, lead)).toMatchObject({
      status: final,
      is_live: false,
      due_at: null,
      claim_id: null,
    });
  });

  test('leaves a lead that has converted completed_converted', async () => {
    const { lead } = await begun([DIAL, wait(1)]);
    await world.sql('UPDATE leads SET buyer_converted = true WHERE id = $1', [lead]);
    await hours(1);
    expect(await status(lead)).toBe('completed_converted');
  });
});

describe('a schedule that changes', () => {
  test('is done as it is by the time the lead comes to it', async () => {
    const { lead, schedule } = await begun([
      SMS,
      wait(1),
      { ...SMS, body: 'Two' },
      { ...SMS, body: 'Three' },
    ]);
    const { schedule_actions: actions } = await ok(
      'get',
      `schedule_actions?schedule_id=${schedule}&order=position&order_dir=asc`,
    );
    await ok('put', `schedule_actions/${actions[2].id}`, { body: 'Second' });
    await ok('delete', `schedule_actions/${actions[3].id}`);
    await ok('post', 'schedule_actions', {
      schedule_id: schedule,
      ...SMS,
      body: 'New',
      position: 2.5,
    });
    await ok('post', 'schedule_actions', {
      schedule_id: schedule,
      ...SMS,
      body: 'Too late',
      position: 0.5,
    });
    await hours(1);
    expect([await texts(lead), await status(lead)]).toEqual([
      ['Hello', 'New', 'Second'],
      'completed',
    ]);
  });

  test('and is deleted contacts nobody any more', async () => {
    const { lead, schedule } = await begun([
      SMS,
      wait(1),
      { ...SMS, body: 'Two' },
      { ...SMS, body: 'Bye', end: true },
    ]);
    await ok('delete', `schedules/${schedule}`);
    await hours(1);
    expect(await texts(lead)).toEqual(['Hello']);
    expect(await leadRow(world, lead)).toMatchObject({
      status: 'disabled',
      is_live: false,
      due_at: null,
    });
  });
});

describe('the instructions of a schedule', () => {
  test('restart begins anew after a minute, until the attempts are used up', async () => {
    const { lead } = await begun(
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
    const { lead } = await begun([
      { action_type: 'exit' },
      SMS,
      { ...SMS, body: 'Bye', end: true },
      { action_type: 'exit', end: true },
      { ...SMS, end: true },
    ]);
    expect([await texts(lead), await status(lead)]).toEqual([['Bye'], 'completed']);
  });

  test.each([
    ['opt_out', 'opt_out', 'opted_out'],
    ['block', 'blocked', 'blocked'],
  ])(
    '%s stops all leads of the number, before anything else is sent',
    async (action_type, stopped, event) => {
      const other = await begun([wait(1), SMS]);
      const { lead } = await begun([SMS, { action_type }, SMS]);
      await hours(1);
      expect([
        await texts(lead),
        await texts(other.lead),
        await status(lead),
        await status(other.lead),
      ]).toEqual([['Hello'], [], stopped, stopped]);
      const { contacts } = await ok('get', 'contacts?caller_id=3105550123');
      expect(contacts).toMatchObject([{ [stopped]: true }]);
      expect(await told(lead)).toEqual(['sms_sent: delivered', `${event}: by its schedule`]);
      expect((await told(other.lead)).at(-1)).toBe(
        `${event}: by the schedule of a lead of this number`,
      );
    },
  );

  test('move_to_schedule takes the lead over, a minute after it came at the earliest', async () => {
    const target = await openShop(
      here,
      [{ ...SMS, body: 'There' }],
      { name: 'Target' },
      here.company,
    );
    const { lead } = await begun([
      SMS,
      { action_type: 'move_to_schedule', to_schedule_id: target.schedule.id },
    ]);
    expect(await texts(lead)).toEqual(['Hello']);
    await hours(1 / 60);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello', 'There'], 'completed']);
    expect(await told(lead)).toEqual([
      'sms_sent: delivered',
      'moved_to_schedule: Target',
      'sms_sent: delivered',
      'left_schedule: completed',
      'ended: completed',
    ]);
    expect(await leadRow(world, lead)).toMatchObject({
      schedule_id: String(target.schedule.id),
      offer_id: String(target.offer.id),
    });
  });

  test.each<[string, (target: { id: number; lead_token: string }) => Promise<unknown>, string]>([
    [
      'holds its number by then',
      ({ lead_token }) => submit(here, lead_token),
      'its number is already in the schedule it was to be moved to',
    ],
    [
      'is gone by then',
      ({ id }) => ok('delete', `schedules/${id}`),
      'the schedule it was to be moved to is gone',
    ],
  ])('a move into a schedule that %s ends the lead, and says so', async (_, change, why) => {
    const target = await openShop(here, [wait(9)], {}, here.company);
    const { lead } = await begun([
      DIAL,
      wait(1),
      { action_type: 'move_to_schedule', to_schedule_id: target.schedule.id },
    ]);
    await change(target.schedule);
    await hours(1);
    expect((await told(lead)).at(-1)).toBe(`ended: completed_connected: ${why}`);
    expect(await leadRow(world, lead)).toMatchObject({
      status: 'completed_connected',
      is_live: false,
      due_at: null,
    });
  });

  test('many leads that move at once all move, with several workers', async () => {
    const target = await openShop(here, [], {}, here.company);
    const from = await openShop(
      here,
      [{ action_type: 'move_to_schedule', to_schedule_id: target.schedule.id }],
      {},
      here.company,
    );
    await fillSchedule(here, from.schedule.id, {
      first: 12_122_000_000,
      count: 2_000,
      now: new Date(Date.parse(NOON) - 60_000),
    });
    await Promise.all([1, 2, 3, 4].map(() => runEngine(here)));
    const rows = await world.sql(
      'SELECT status, schedule_id FROM leads WHERE company_id = $1 GROUP BY 1, 2',
      [here.company.id],
    );
    expect(rows).toEqual([{ status: 'completed', schedule_id: String(target.schedule.id) }]);
    const [logged] = await world.sql(
      `SELECT count(*)::int FROM lead_logs WHERE company_id = $1 AND event = 'moved_to_schedule'`,
      [here.company.id],
    );
    expect(logged).toEqual({ count: 2_000 });
  });

  test('webhook queues a job for what it told', async () => {
    // Ids that are not in order as text.
    await world.sql(
      `SELECT setval('lead_logs_id_seq', (SELECT greatest(m, (10 ^ length(m::text))::bigint - 4) FROM (SELECT coalesce(max(id), 1) AS m FROM lead_logs) x))`,
    );
    const { lead } = await begun([
      SMS,
      { action_type: 'webhook', url: 'https://hooks.example/x' },
      { action_type: 'webhook', url: 'https://hooks.example/y' },
    ]);
    const logs = await world.sql(
      `SELECT id::text FROM lead_logs WHERE lead_id = $1 AND event = 'webhook_queued' ORDER BY id`,
      [lead],
    );
    const jobs = await world.sql(
      `SELECT data FROM jobs.job WHERE name = 'send_action_webhook' AND data->>'company_id' = $1 ORDER BY data->>'lead_log_id'`,
      [String(here.company.id)],
    );
    expect(jobs).toEqual(
      logs.map(({ id }) => ({ data: { company_id: String(here.company.id), lead_log_id: id } })),
    );
    expect(jobs).toHaveLength(2);
  });
});

describe('the hours of a lead', () => {
  test('are daylight in every zone of area code and ZIP', async () => {
    time.set('2027-01-12T15:00:00Z');
    const { lead } = await begun(
      [
        SMS,
        wait(599, 'minutes'),
        { ...SMS, body: 'Late' },
        wait(1, 'minutes'),
        { ...SMS, body: 'Too late' },
      ],
      { caller_id: '2125550177', zip: '90012' },
    );
    expect((await leadRow(world, lead)).zones).toEqual(['America/Los_Angeles', 'America/New_York']);
    await until('2027-01-12T15:59:59.999Z');
    expect(await texts(lead)).toEqual([]);
    // Eight in Los Angeles, eleven in New York.
    await until('2027-01-12T16:00:00Z');
    expect(await texts(lead)).toEqual(['Hello']);
    await until('2027-01-13T01:59:00.000Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late']);
    // Nine in the evening in New York.
    await until('2027-01-13T02:00:00.000Z');
    await until('2027-01-13T15:59:59.999Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late']);
    await until('2027-01-13T16:00:00Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late', 'Too late']);
    expect(await told(lead)).toContain('delayed: daylight_hours until 2027-01-12T16:00:00.000Z');
  });

  test.each([
    ['spring', '2026-03-08T05:00:00Z', '2026-03-08T12:00:00Z'],
    ['autumn', '2026-11-01T04:30:00Z', '2026-11-01T13:00:00Z'],
  ])(
    'begin at 08:00 of the changed clock after the night of %s, and not earlier',
    async (_, night, morning) => {
      time.set(night);
      const { lead } = await begun([SMS], { caller_id: '2125550177' });
      await until(new Date(Date.parse(morning) - 3_600_000).toISOString());
      await until(new Date(Date.parse(morning) - 1).toISOString());
      expect(await texts(lead)).toEqual([]);
      await until(morning);
      expect(await texts(lead)).toEqual(['Hello']);
    },
  );

  test('are those of the business too', async () => {
    const schedule = {
      business_hours_schedule: [
        { day: 2, times: ['13:00..13:59'] },
        { day: 3, times: ['07:00..08:29'] },
      ],
    };
    const { lead } = await begun(
      [SMS, wait(2), { ...SMS, body: 'Tomorrow' }],
      { caller_id: '2125550177' },
      schedule,
    );
    expect(await told(lead)).toEqual(['delayed: business_hours until 2027-01-12T18:00:00.000Z']);
    await hours(1);
    await hours(3);
    await until('2027-01-13T12:59:59Z');
    expect(await texts(lead)).toEqual(['Hello']);
    await until('2027-01-13T13:00:00Z');
    expect(await texts(lead)).toEqual(['Hello', 'Tomorrow']);
  });
});
