import { processDueLeads } from '../../../src/domain/outreach/due-leads';
import { eventually } from '../../support/engine-process';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  loadLeadRow,
  NOON,
  openShop,
  ownNumber,
  runEngine,
  loadSent,
  SMS,
  submit,
  wait,
} from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';

const env = outreachAtNoon();
const { ok, submitted, startLead, hours, texts, events, status } = env;

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
      const { lead, schedule, offer } = await startLead(
        [wait(1), SMS, EMAIL, DIAL, wait(1), { ...SMS, body: 'Later' }],
        { email: 'ann@example.com' },
      );
      const owner = `${owners}/${owners === 'schedules' ? schedule : offer}`;
      const list = await listed({ [owner]: {} });
      await hours(1);
      expect((await events(lead)).slice(-4, -1)).toEqual(Array(3).fill('skipped: suppressed'));
      await ok('post', `buyer_suppressions/${list}/caller_unblock`, { caller_ids: ['3105550123'] });
      await hours(2);
      expect([await texts(lead), await status(lead)]).toEqual([['Later'], 'completed']);
    },
  );

  test('one that was kept from all its contacts by a suppression list ends as dnc', async () => {
    const { lead, schedule } = await submitted([SMS, DIAL]);
    await listed({ [`schedules/${schedule}`]: {} });
    await runEngine(env.here);
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
    async (_, stopped, stop, _name, resume) => {
      const laterActions = [wait(1), { ...SMS, body: 'Again' }, wait(3), { ...SMS, body: 'Third' }];
      const { lead } = await startLead([SMS, ...laterActions], {}, { exit_on: ['converted'] });
      await stop();
      expect(await loadLeadRow(env.world, lead)).toMatchObject({ status: stopped, due_at: null });
      await hours(2);
      expect(await texts(lead)).toEqual(['Hello']);
      await resume();
      await runEngine(env.here);
      expect(await texts(lead)).toEqual(['Hello', 'Again']);
      await stop();
      await resume();
      await hours(4.99);
      expect(await texts(lead)).toEqual(['Hello', 'Again']);
      await hours(5);
      expect(await texts(lead)).toEqual(['Hello', 'Again', 'Third']);
    },
  );

  test('a number that was stopped unnoticed is not contacted', async () => {
    const { lead } = await submitted([
      { action_type: 'webhook', url: 'https://hooks.example' },
      SMS,
    ]);
    await env.world.sql(
      `INSERT INTO contacts (company_id, uuid, caller_number, opt_out)
        VALUES ($1, gen_random_uuid(), 13105550123, true)`,
      [env.here.company.id],
    );
    await runEngine(env.here);
    expect(await events(lead)).toEqual([
      'webhook_queued',
      'opted_out: its number has opted out',
      'left_schedule: opted_out',
    ]);
  });

  test.each(['schedules', 'offers'] as const)(
    'a pause of its %s stops it, and it goes on when that is over',
    async (owners) => {
      await env.world.work();
      const { lead, schedule, offer } = await startLead([SMS, wait(1), { ...SMS, body: 'Again' }]);
      const owner = `${owners}/${owners === 'schedules' ? schedule : offer}`;
      await ok('put', owner, { paused: true });
      await hours(2);
      expect([await status(lead), await texts(lead)]).toEqual(['disabled', ['Hello']]);
      await ok('put', owner, { paused: false });
      await eventually(async () => (await status(lead)) !== 'disabled', 50);
      await runEngine(env.here);
      expect([await status(lead), await texts(lead)]).toEqual(['completed', ['Hello', 'Again']]);
    },
  );

  test('only leads whose next step cannot be determined are put off, not their batch', async () => {
    const { schedule } = await openShop(env.here, [SMS], {}, env.here.company);
    const leads = await fillSchedule(env.here, schedule.id, {
      first: 13_105_550_110,
      count: 50,
      now: new Date(NOON),
    });
    await env.world.sql(`UPDATE leads SET zones = '{Nowhere/Land}' WHERE id = $1`, [leads[20]]);
    const broken = await openShop(env.here, [SMS], {}, env.here.company);
    const [brokenLead] = await fillSchedule(env.here, broken.schedule.id, {
      first: 13_105_550_199,
      count: 1,
      now: new Date(NOON),
    });
    await env.world.sql(`UPDATE schedules SET daylight_hours = 'never' WHERE id = $1`, [
      broken.schedule.id,
    ]);
    expect(await runEngine(env.here)).toBe(51);
    const ended = await env.world.sql<{ id: string }>(
      `SELECT id FROM leads WHERE company_id = $1 AND status = 'completed' ORDER BY id`,
      [env.here.company.id],
    );
    expect(ended.map(({ id }) => Number(id))).toEqual(leads.filter((id) => id !== leads[20]));
    for (const id of [leads[20]!, brokenLead!])
      expect(await loadLeadRow(env.world, id)).toMatchObject({
        is_live: true,
        status: 'scheduled',
        due_at: new Date('2027-01-12T17:10:00Z'),
      });
    await env.world.sql(`UPDATE leads SET zones = '{America/New_York}' WHERE id = $1`, [leads[20]]);
    await env.world.sql(`UPDATE schedules SET daylight_hours = '08:00..20:59' WHERE id = $1`, [
      broken.schedule.id,
    ]);
    await hours(0.5);
    expect([await status(leads[20]!), await status(brokenLead!)]).toEqual([
      'completed',
      'completed',
    ]);
  });
});

describe('the order and the numbers of leads', () => {
  test('the lowest priorities go first; a quarter of a batch is for leads without', async () => {
    const { schedule } = await openShop(env.here, [SMS], {}, env.here.company);
    const now = new Date(NOON);
    const plain = await fillSchedule(env.here, schedule.id, {
      first: 13_102_000_000,
      count: 150,
      now,
    });
    const first = await fillSchedule(env.here, schedule.id, {
      first: 13_103_000_000,
      count: 500,
      now,
      priority: '500 - n',
    });
    // Leads that are due at the same instant may go in any order.
    await env.world.sql(
      `UPDATE leads SET due_at = due_at - ($2::bigint - id) * interval '1 millisecond'
        WHERE company_id = $1 AND lead_priority IS NULL`,
      [env.here.company.id, plain.at(-1)],
    );
    expect(await processDueLeads(env.here.deps)).toBe(400);
    const texted = await env.world.sql<{ lead_id: string }>(
      'SELECT lead_id FROM text_messages WHERE company_id = $1 ORDER BY id',
      [env.here.company.id],
    );
    expect(texted.map(({ lead_id }) => Number(lead_id))).toEqual([
      ...first.toReversed().slice(0, 300),
      ...plain.slice(0, 100),
    ]);
  });

  test('a lead keeps a number: of its offer, of its area, else assigned longest ago', async () => {
    const shop = await openShop(env.here, [SMS, wait(1), SMS, DIAL], {}, env.here.company);
    const otherOffer = await ok('post', 'offers', { name: 'Other' });
    const ownNumbers = [
      await ownNumber(env.here, env.here.company, '14155550100', shop.offer.id),
      await ownNumber(env.here, env.here.company, '14155550111', shop.offer.id),
    ];
    await ownNumber(env.here, env.here.company, '13105550111', otherOffer.offer.id);
    const fallback = await openShop(
      env.here,
      [SMS],
      { offer_id: otherOffer.offer.id },
      env.here.company,
    );
    const from = async (lead: number) =>
      [
        ...(await loadSent(env.world, 'text_messages', lead)),
        ...(await loadSent(env.world, 'calls', lead)),
      ].map(({ from_number }) => from_number);
    const leads: number[] = [];
    for (const callerId of ['3102000001', '3102000002', '3102000003'])
      leads.push(
        (await submit(env.here, shop.schedule.lead_token, { caller_id: callerId })).body.id,
      );
    const there = [
      (await submit(env.here, fallback.schedule.lead_token, { caller_id: '3102000009' })).body.id,
      (await submit(env.here, fallback.schedule.lead_token, { caller_id: '2122000009' })).body.id,
    ];
    await runEngine(env.here);
    await hours(1);
    const [a, b, c] = [await from(leads[0]!), await from(leads[1]!), await from(leads[2]!)];
    expect([a[0], b[0]].toSorted()).toEqual(['14155550100', '14155550111']);
    for (const numbers of [a, b, c]) expect(numbers[1]).toBe(numbers[0]);
    for (const lead of leads)
      expect(ownNumbers).toContain(Number((await loadLeadRow(env.world, lead)).dial_number_id));
    expect([await from(there[0]), await from(there[1])]).toEqual([
      ['13105550111'],
      ['13105550111'],
    ]);
  });
});
