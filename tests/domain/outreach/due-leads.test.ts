import {
  DIAL,
  EMAIL,
  loadLeadRow,
  openShop,
  runEngine,
  loadSent,
  SMS,
  loadStory,
  submit,
  wait,
} from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';

type Fields = Record<string, unknown>;

const env = outreachAtNoon();
const { ok, startLead, until, hours, texts, events, status } = env;

describe('a schedule', () => {
  test('is done in order, each step once; what is sent is stored, counted and logged', async () => {
    const actions = [
      { ...SMS, body: 'Hi {{first_name}}' },
      EMAIL,
      DIAL,
      wait(1),
      { ...SMS, body: 'Again' },
      { ...EMAIL, subject: 'Bye', end: true },
    ];
    const { lead, schedule, offer } = await startLead(actions, {
      first_name: 'Ann',
      email: 'ann@example.com',
    });
    expect(await runEngine(env.here)).toBe(0);
    await until('2027-01-12T17:59:59.999Z');
    expect(await status(lead)).toBe('waiting');
    await until('2027-01-12T18:00:00Z');
    await hours(48);
    expect(await loadStory(env.world, lead)).toEqual([
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
    const [call] = await loadSent(env.world, 'calls', lead);
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

  test('fills in tokens of lead and system, escapes HTML, keeps subjects on one line', async () => {
    const sms =
      '{{first_name}} of {{city}}, [car]{your car} [pet]{your pet} {{nothing}}{{caller_id}} ' +
      '{{offer_name}} {{service_number}}';
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
    const { lead } = await startLead([{ ...SMS, body: sms }, email, plain], fields);
    expect(await texts(lead)).toEqual([
      'Ann of <i>"Ö" & co</i>, a {{city}} your pet +13105550123 Auto insurance +12125550100',
    ]);
    expect(await loadSent(env.world, 'emails', lead)).toMatchObject([
      {
        subject: 'For Ann Bcc: eve@example.net <i>"Ö" & co</i>',
        body: '<p>&lt;i&gt;&quot;Ö&quot; &amp; co&lt;/i&gt; & <b></p>',
        html: true,
      },
      { subject: 'Plain', body: '<i>"Ö" & co</i> <b>', html: false },
    ]);
  });

  test('includes its own earlier calls in the tokens of later texts', async () => {
    const { lead } = await startLead([
      DIAL,
      { ...SMS, body: '{{calls_last_1_days}} {{call_uuid}}' },
    ]);
    const [call] = await loadSent(env.world, 'calls', lead);
    expect(await texts(lead)).toEqual([`1 ${call!.uuid}`]);
  });

  test('an e-mail names the number the lead was given to call', async () => {
    const shop = await openShop(
      env.here,
      [{ ...EMAIL, body: 'Call {{service_number}}' }],
      {},
      env.here.company,
    );
    const { body } = await submit(env.here, shop.schedule.lead_token, {
      email: 'ann@example.com',
      assign_service_number: true,
    });
    await runEngine(env.here);
    expect(body.service_number_plain).toBe('12125550100');
    expect(await loadSent(env.world, 'emails', body.id)).toMatchObject([
      { body: 'Call +12125550100' },
    ]);
  });

  test('sends e-mails from the sender of the action, the schedule or the default', async () => {
    const actions = [EMAIL, { ...EMAIL, from_email: 'Ann <ann@desk.example>' }];
    const from = async (lead: number) =>
      (await loadSent(env.world, 'emails', lead)).map(({ from_email }) => from_email);
    const first = await startLead(
      actions,
      { email: 'ann@example.com' },
      { from_email: 'desk@desk.example' },
    );
    const second = await startLead(actions, { email: 'ann@example.com' });
    expect(await from(first.lead)).toEqual(['desk@desk.example', 'Ann <ann@desk.example>']);
    expect(await from(second.lead)).toEqual([
      'Trunkline <no-reply@trunkline.example>',
      'Ann <ann@desk.example>',
    ]);
  });

  test('skips actions whose filters the lead’s current tokens do not meet', async () => {
    const only = (body: string, ...tokenFilterList: string[]) => ({
      ...SMS,
      body,
      token_filter_list: tokenFilterList,
    });
    const { lead } = await startLead(
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
    expect(await events(lead)).toEqual([
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
});

describe('a schedule that changes', () => {
  test('is done as it is by the time the lead comes to it', async () => {
    const { lead, schedule } = await startLead([
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

  test('and is deleted contacts no lead any more', async () => {
    const { lead, schedule } = await startLead([
      SMS,
      wait(1),
      { ...SMS, body: 'Two' },
      { ...SMS, body: 'Bye', end: true },
    ]);
    await ok('delete', `schedules/${schedule}`);
    await hours(1);
    expect(await texts(lead)).toEqual(['Hello']);
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      status: 'disabled',
      is_live: false,
      due_at: null,
    });
  });
});
