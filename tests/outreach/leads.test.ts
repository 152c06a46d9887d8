import { contactDueLeads } from '../../src/outreach/contact-due-leads';
import { standingClock } from '../support/clock';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  leadRow,
  NOON,
  openShop,
  ownNumber,
  runEngine,
  schedulesOf,
  sentTo,
  SMS,
  submit,
  wait,
} from '../support/leads';
import { eventually } from '../support/engine-process';
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

const { ok, submitted, begun, until, hours, texts, told, status } = schedulesOf(() => here, time);

describe('what stops a lead', () => {
  const listed = async (more: object): Promise<number> => {
    const { buyer_suppression } = await ok('post', 'buyer_suppressions', { name: 'List' });
    await ok('post', `buyer_suppressions/${buyer_suppression.id}/caller_block`, {
      caller_ids: ['3105550123'],
    });
    await ok(
      'put',
      ...(Object.entries(more).map(([path, body]) => [
        path,
        { ...body, buyer_suppression_ids: [buyer_suppression.id] },
      ])[0] as [string, object]),
    );
    return buyer_suppression.id;
  };

  test.each(['schedules', 'offers'] as const)(
    'a suppression list that %s get after the lead came is seen in the moment of sending',
    async (owners) => {
      const { lead, schedule, offer } = await begun(
        [wait(1), SMS, EMAIL, DIAL, wait(1), { ...SMS, body: 'Later' }],
        { email: 'ann@example.com' },
      );
      const owner = `${owners}/${owners === 'schedules' ? schedule : offer}`;
      const list = await listed({ [owner]: {} });
      await hours(1);
      expect((await told(lead)).slice(-4, -1)).toEqual(Array(3).fill('skipped: suppressed'));
      await ok('post', `buyer_suppressions/${list}/caller_unblock`, { caller_ids: ['3105550123'] });
      await hours(2);
      expect([await texts(lead), await status(lead)]).toEqual([['Later'], 'completed']);
    },
  );

  test('one that was kept from all its contacts by a suppression list ends as dnc', async () => {
    const { lead, schedule } = await submitted([SMS, DIAL]);
    await listed({ [`schedules/${schedule}`]: {} });
    await runEngine(here);
    expect([await status(lead), await texts(lead)]).toEqual(['dnc', []]);
  });

  const contact = (verb: string) =>
    ok('post', `contacts/caller_${verb}`, { caller_ids: ['3105550123'] });
  const answer = (body: string) =>
    ok('post', 'text_messages/receive', { from: '3105550123', to: '2125550100', body });
  test.each<[string, string, () => Promise<unknown>, string, () => Promise<unknown>]>([
    ['the blacklist', 'blocked', () => contact('block'), 'a take-off', () => contact('unblock')],
    ['an answered STOP', 'opt_out', () => answer('Stop it'), 'START', () => answer('START')],
  ])(
    '%s stops it, and its schedule goes on where it stood after %#',
    async (_, stopped, stop, __, resume) => {
      const { lead } = await begun([
        SMS,
        wait(1),
        { ...SMS, body: 'Again' },
        wait(3),
        { ...SMS, body: 'Third' },
      ]);
      await stop();
      expect(await leadRow(world, lead)).toMatchObject({ status: stopped, due_at: null });
      await hours(2);
      expect(await texts(lead)).toEqual(['Hello']);
      await resume();
      await runEngine(here);
      expect(await texts(lead)).toEqual(['Hello', 'Again']);
      await stop();
      await resume();
      await hours(4.99);
      expect(await texts(lead)).toEqual(['Hello', 'Again']);
      await hours(5);
      expect(await texts(lead)).toEqual(['Hello', 'Again', 'Third']);
    },
  );

  test('a number that was stopped while nobody looked is not contacted', async () => {
    const { lead } = await submitted([
      { action_type: 'webhook', url: 'https://hooks.example' },
      SMS,
    ]);
    await world.sql(
      `INSERT INTO contacts (company_id, uuid, caller_number, opt_out)
        VALUES ($1, gen_random_uuid(), 13105550123, true)`,
      [here.company.id],
    );
    await runEngine(here);
    expect(await told(lead)).toEqual(['webhook_queued', 'opted_out: its number has opted out']);
  });

  test.each(['schedules', 'offers'] as const)(
    'a pause of its %s stops it, and it goes on when that is over',
    async (owners) => {
      await world.work();
      const { lead, schedule, offer } = await begun([SMS, wait(1), { ...SMS, body: 'Again' }]);
      const owner = `${owners}/${owners === 'schedules' ? schedule : offer}`;
      await ok('put', owner, { paused: true });
      await hours(2);
      expect([await status(lead), await texts(lead)]).toEqual(['disabled', ['Hello']]);
      await ok('put', owner, { paused: false });
      await eventually(async () => (await status(lead)) !== 'disabled', 50);
      await runEngine(here);
      expect([await status(lead), await texts(lead)]).toEqual(['completed', ['Hello', 'Again']]);
    },
  );

  test('a lead whose next step cannot be determined is put off, others of the batch are not', async () => {
    const { schedule } = await openShop(here, [SMS], {}, here.company);
    const leads = await fillSchedule(here, schedule.id, {
      first: 13_105_550_110,
      count: 50,
      now: new Date(NOON),
    });
    await world.sql(`UPDATE leads SET zones = '{Nowhere/Land}' WHERE id = $1`, [leads[20]]);
    const broken = await openShop(here, [SMS], {}, here.company);
    const [other] = await fillSchedule(here, broken.schedule.id, {
      first: 13_105_550_199,
      count: 1,
      now: new Date(NOON),
    });
    await world.sql(`UPDATE schedules SET daylight_hours = 'never' WHERE id = $1`, [
      broken.schedule.id,
    ]);
    expect(await runEngine(here)).toBe(51);
    const ended = await world.sql<{ id: string }>(
      `SELECT id FROM leads WHERE company_id = $1 AND status = 'completed' ORDER BY id`,
      [here.company.id],
    );
    expect(ended.map(({ id }) => Number(id))).toEqual(leads.filter((id) => id !== leads[20]));
    for (const id of [leads[20]!, other!])
      expect(await leadRow(world, id)).toMatchObject({
        is_live: true,
        status: 'scheduled',
        due_at: new Date('2027-01-12T17:10:00Z'),
      });
    await world.sql(`UPDATE leads SET zones = '{America/New_York}' WHERE id = $1`, [leads[20]]);
    await world.sql(`UPDATE schedules SET daylight_hours = '08:00..20:59' WHERE id = $1`, [
      broken.schedule.id,
    ]);
    await hours(0.5);
    expect([await status(leads[20]!), await status(other!)]).toEqual(['completed', 'completed']);
  });
});

describe('a callback', () => {
  test('of a lead in a schedule is connected as by its dial action, and the wait goes on', async () => {
    const { lead, token } = await begun([SMS, wait(9), { ...SMS, body: 'Again' }, DIAL]);
    await submit(here, token, { schedule_callback_in_seconds: 3600 });
    await hours(0.99);
    expect(await sentTo(world, 'calls', lead)).toEqual([]);
    await hours(1);
    expect(await sentTo(world, 'calls', lead)).toMatchObject([
      { connect_to: '+13105550199', schedule_action_id: null },
    ]);
    await hours(8.99);
    expect(await texts(lead)).toEqual(['Hello']);
    await hours(9);
    expect([await texts(lead), await status(lead)]).toEqual([
      ['Hello', 'Again'],
      'completed_connected',
    ]);
    expect(
      await world.sql('SELECT status FROM scheduled_callbacks WHERE lead_id = $1', [lead]),
    ).toEqual([{ status: 'done' }]);
  });

  const atOffer = async (fields: Fields = {}) => {
    const shop = await openShop(here, [], {}, here.company);
    const res = await submit(here, shop.offer.lead_token, {
      schedule_callback_in_seconds: 60,
      ...fields,
    });
    return { lead: res.body.id as number, offer: shop.offer.id };
  };
  test('of a lead at an offer is connected to an available buyer', async () => {
    const { lead, offer } = await atOffer();
    await ok('post', 'buyers', {
      name: 'Paused',
      number: '+13105550111',
      tier: 1,
      paused: true,
      offer_ids: [offer],
    }).catch(() => undefined);
    const buyers = [];
    for (const fields of [
      { paused: true, number: '+13105550111' },
      { number: '+13105550112', tier: 3 },
      { number: '+13105550113', tier: 2, timeout_seconds: 44 },
    ])
      buyers.push((await ok('post', 'buyers', { name: 'B', ...fields })).buyer.id);
    await ok('put', `offers/${offer}`, { buyer_ids: buyers });
    await hours(0.1);
    expect(await sentTo(world, 'calls', lead)).toMatchObject([
      { connect_to: '+13105550113', status: 'completed' },
    ]);
    expect(await leadRow(world, lead)).toMatchObject({
      status: 'queue',
      is_live: true,
      due_at: null,
      callback_at: null,
    });
  });

  test('that cannot be connected is logged and given up, and the lead waits for a call', async () => {
    const { lead } = await atOffer({ expires_in: 60 });
    await hours(0.1);
    expect((await told(lead)).slice(-1)).toEqual([
      'call_failed: there is no one the callback could be connected to',
    ]);
    expect(await leadRow(world, lead)).toMatchObject({
      status: 'queue',
      due_at: new Date('2027-01-12T18:00:00Z'),
      callback_at: null,
    });
    await hours(1);
    expect(await status(lead)).toBe('expired');
  });

  test('is not lost by a block that is taken back', async () => {
    const { lead, offer } = await atOffer();
    const { buyer } = await ok('post', 'buyers', { name: 'B', number: '+13105550112' });
    await ok('put', `offers/${offer}`, { buyer_ids: [buyer.id] });
    for (const verb of ['block', 'unblock'])
      await ok('post', `contacts/caller_${verb}`, { caller_ids: ['3105550123'] });
    await hours(0.1);
    expect(await sentTo(world, 'calls', lead)).toHaveLength(1);
  });

  test('keeps to daylight', async () => {
    time.set('2027-01-13T05:30:00Z');
    const { lead } = await atOffer();
    await until('2027-01-13T15:59:59Z');
    expect(await told(lead)).toEqual([
      'callback_scheduled: 2027-01-13 05:31:00+00',
      'delayed: daylight_hours until 2027-01-13T16:00:00.000Z',
    ]);
    await until('2027-01-13T16:00:00Z');
    expect((await told(lead)).at(-1)).toMatch(/^call_failed: there is no one/);
  });
});

describe('what the carrier and the mailer say', () => {
  test.each<[string, Fields, Fields, string[]]>([
    [
      'a number that is none',
      SMS,
      { caller_id: '2125550101' },
      ['sms_failed: failed: The sandbox was given a number that means: invalid_number.'],
    ],
    [
      'a landline',
      SMS,
      { caller_id: '2125550102' },
      ['sms_failed: failed: The sandbox was given a number that means: not_a_mobile.'],
    ],
    [
      'a recipient who told the carrier STOP',
      SMS,
      { caller_id: '2125550103' },
      ['sms_failed: failed: The sandbox was given a number that means: opted_out.'],
    ],
    ['a busy line', DIAL, { caller_id: '2125550105' }, ['call_placed: busy']],
    ['nobody who answers', DIAL, { caller_id: '2125550106' }, ['call_placed: no_answer']],
    ['a call that fails', DIAL, { caller_id: '2125550107' }, ['call_placed: failed: unreachable']],
    [
      'a text that does not arrive',
      SMS,
      { caller_id: '2125550107' },
      ['sms_sent: undelivered: unreachable'],
    ],
    [
      'a text taken for spam',
      SMS,
      { caller_id: '2125550108' },
      ['sms_sent: undelivered: filtered'],
    ],
    [
      'a mailbox that is none',
      EMAIL,
      { email: 'bounce@example.com' },
      ['email_failed: failed: The sandbox has no mailbox bounce.'],
    ],
    ['no e-mail address', EMAIL, {}, ['skipped: no_email']],
    [
      'a text without a word once its tokens are in',
      { ...SMS, body: ' {{none}} ' },
      {},
      ['sms_failed: the text is empty once its tokens are filled in'],
    ],
    [
      'a text that its tokens make too long',
      { ...SMS, body: '{{long}}' },
      { long: 'x'.repeat(1601) },
      [
        'sms_failed: the text has 1601 characters once its tokens are filled in; ' +
          'at most 1600 can be sent',
      ],
    ],
  ])('%s is told, and the schedule goes on', async (_, action, fields, words) => {
    const { lead } = await begun(
      [action, { action_type: 'webhook', url: 'https://hooks.example' }],
      fields,
    );
    expect(await told(lead)).toEqual([
      ...words,
      'webhook_queued',
      'left_schedule: completed',
      expect.stringMatching(/^ended/),
    ]);
  });

  test.each<[string, 'text_messages' | 'calls' | 'emails', Fields, Fields]>([
    ['carrier', 'text_messages', SMS, { caller_id: '2125550104' }],
    ['carrier', 'calls', DIAL, { caller_id: '2125550104' }],
    ['mailer', 'emails', EMAIL, { email: 'unavailable@example.com' }],
  ])(
    'a %s that is down (%s) is tried eight times with growing delays, then skipped',
    async (_, table, action, fields) => {
      const { lead } = await begun(
        [action, { action_type: 'webhook', url: 'https://hooks.example' }],
        { email: 'ann@example.com', ...fields },
      );
      const due: number[] = [];
      for (let row = await leadRow(world, lead); row.due_at; row = await leadRow(world, lead)) {
        expect([row.delay_reason, (await sentTo(world, table, lead))[0]!.status]).toEqual([
          'carrier',
          'sending',
        ]);
        due.push((row.due_at.getTime() - time.read().getTime()) / 1000);
        await until(row.due_at.toISOString());
      }
      expect(due).toEqual([15, 30, 60, 120, 240, 480, 960]);
      expect((await sentTo(world, table, lead))[0]).toMatchObject({
        status: 'failed',
        error_code: 'unavailable',
      });
      expect(await told(lead)).toContain('webhook_queued');
    },
  );

  test('a delivery that was being retried when the lead left its schedule is given up', async () => {
    const { lead } = await begun([SMS], { caller_id: '2125550104', expires_in: 1 });
    await hours(1);
    expect([await status(lead), (await sentTo(world, 'text_messages', lead))[0]!.status]).toEqual([
      'expired',
      'failed',
    ]);
  });

  test('a step is tried again as it by then is, and told so', async () => {
    const { lead } = await begun([{ ...SMS, body: 'Hi {{first_name}}' }], {
      caller_id: '2125550104',
      first_name: 'Ann',
    });
    await ok('put', `leads/${lead}`, { data: { first_name: 'Zoë' } });
    await hours(1);
    expect(await sentTo(world, 'text_messages', lead)).toMatchObject([
      { body: 'Hi Zoë', status: 'sending' },
    ]);
  });

  test('leads of a company without a number are not contacted and end as a failure', async () => {
    const { lead } = await submitted([SMS, DIAL]);
    await world.sql('UPDATE numbers SET deleted_at = now() WHERE company_id = $1', [
      here.company.id,
    ]);
    await runEngine(here);
    expect([await told(lead), await status(lead)]).toEqual([
      ['skipped: no_number', 'skipped: no_number', 'left_schedule: completed', 'ended: failure'],
      'failure',
    ]);
  });
});

describe('the order and the numbers of leads', () => {
  test('the lowest priorities go first; a quarter of a batch is for leads without one', async () => {
    const { schedule } = await openShop(here, [SMS], {}, here.company);
    const now = new Date(NOON);
    const plain = await fillSchedule(here, schedule.id, { first: 13_102_000_000, count: 150, now });
    const first = await fillSchedule(here, schedule.id, {
      first: 13_103_000_000,
      count: 500,
      now,
      priority: '500 - n',
    });
    // Of leads that are due at the same instant any may go first.
    await world.sql(
      `UPDATE leads SET due_at = due_at - ($2::bigint - id) * interval '1 millisecond'
        WHERE company_id = $1 AND lead_priority IS NULL`,
      [here.company.id, plain.at(-1)],
    );
    expect(await contactDueLeads(here.deps)).toBe(400);
    const texted = await world.sql<{ lead_id: string }>(
      'SELECT lead_id FROM text_messages WHERE company_id = $1 ORDER BY id',
      [here.company.id],
    );
    expect(texted.map(({ lead_id }) => Number(lead_id))).toEqual([
      ...first.toReversed().slice(0, 300),
      ...plain.slice(0, 100),
    ]);
  });

  test('a lead keeps a number: of its offer, of its area, else assigned longest ago', async () => {
    const shop = await openShop(here, [SMS, wait(1), SMS, DIAL], {}, here.company);
    const other = await ok('post', 'offers', { name: 'Other' });
    const own = [
      await ownNumber(here, here.company, '14155550100', shop.offer.id),
      await ownNumber(here, here.company, '14155550111', shop.offer.id),
    ];
    await ownNumber(here, here.company, '13105550111', other.offer.id);
    const fallback = await openShop(here, [SMS], { offer_id: other.offer.id }, here.company);
    const from = async (lead: number) =>
      [
        ...(await sentTo(world, 'text_messages', lead)),
        ...(await sentTo(world, 'calls', lead)),
      ].map(({ from_number }) => from_number);
    const leads: number[] = [];
    for (const caller_id of ['3102000001', '3102000002', '3102000003'])
      leads.push((await submit(here, shop.schedule.lead_token, { caller_id })).body.id);
    const there = [
      (await submit(here, fallback.schedule.lead_token, { caller_id: '3102000009' })).body.id,
      (await submit(here, fallback.schedule.lead_token, { caller_id: '2122000009' })).body.id,
    ];
    await runEngine(here);
    await hours(1);
    const [a, b, c] = [await from(leads[0]!), await from(leads[1]!), await from(leads[2]!)];
    expect([a[0], b[0]].toSorted()).toEqual(['14155550100', '14155550111']);
    for (const numbers of [a, b, c]) expect(numbers[1]).toBe(numbers[0]);
    for (const lead of leads)
      expect(own).toContain(Number((await leadRow(world, lead)).dial_number_id));
    expect([await from(there[0]), await from(there[1])]).toEqual([
      ['13105550111'],
      ['13105550111'],
    ]);
  });
});
