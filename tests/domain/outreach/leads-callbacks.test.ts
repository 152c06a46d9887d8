import { DIAL, loadLeadRow, openShop, loadSent, SMS, submit, wait } from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';

type Fields = Record<string, unknown>;

const env = outreachAtNoon();
const { ok, startLead, until, hours, texts, events, status } = env;

describe('a callback', () => {
  test('of a lead in a schedule is connected like its dial action; the wait goes on', async () => {
    const { lead, token } = await startLead([SMS, wait(9), { ...SMS, body: 'Again' }, DIAL]);
    await submit(env.here, token, { schedule_callback_in_seconds: 3600 });
    await hours(0.99);
    expect(await loadSent(env.world, 'calls', lead)).toEqual([]);
    await hours(1);
    expect(await loadSent(env.world, 'calls', lead)).toMatchObject([
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
      await env.world.sql('SELECT status FROM scheduled_callbacks WHERE lead_id = $1', [lead]),
    ).toEqual([{ status: 'done' }]);
  });

  const atOffer = async (fields: Fields = {}) => {
    const shop = await openShop(env.here, [], {}, env.here.company);
    const res = await submit(env.here, shop.offer.lead_token, {
      schedule_callback_in_seconds: 60,
      ...fields,
    });
    return { lead: res.body.id as number, offer: shop.offer.id };
  };
  test('of a lead at an offer is placed when a buyer is available', async () => {
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
    expect(await loadSent(env.world, 'calls', lead)).toMatchObject([
      { connect_to: null, status: 'ringing', offer_id: String(offer) },
    ]);
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      status: 'queue',
      is_live: true,
      due_at: null,
      callback_at: null,
    });
  });

  test('waits while no buyer would take it, at most until the lead expires', async () => {
    const { lead } = await atOffer({ expires_in: 60 });
    await hours(0.1);
    expect((await events(lead)).slice(-1)).toEqual([
      'delayed: no_buyer until 2027-01-12T17:16:00.000Z: the offer has no buyers',
    ]);
    expect(await loadLeadRow(env.world, lead)).toMatchObject({
      status: 'scheduled',
      due_at: new Date('2027-01-12T17:16:00Z'),
      callback_at: new Date('2027-01-12T17:01:00Z'),
    });
    for (const part of [0.3, 0.5, 0.7, 0.9, 1]) await hours(part);
    expect((await events(lead)).filter((line) => line.startsWith('delayed'))).toHaveLength(1);
    expect(await status(lead)).toBe('expired');
  });

  test('is not lost by a block that is taken back', async () => {
    const { lead, offer } = await atOffer();
    const { buyer } = await ok('post', 'buyers', { name: 'B', number: '+13105550112' });
    await ok('put', `offers/${offer}`, { buyer_ids: [buyer.id] });
    for (const verb of ['block', 'unblock'])
      await ok('post', `contacts/caller_${verb}`, { caller_ids: ['3105550123'] });
    await hours(0.1);
    expect(await loadSent(env.world, 'calls', lead)).toHaveLength(1);
  });

  test('keeps to daylight', async () => {
    env.time.set('2027-01-13T05:30:00Z');
    const { lead } = await atOffer();
    await until('2027-01-13T15:59:59Z');
    expect(await events(lead)).toEqual([
      'callback_scheduled: 2027-01-13T05:31:00.000+00:00',
      'delayed: daylight_hours until 2027-01-13T16:00:00.000Z',
    ]);
    await until('2027-01-13T16:00:00Z');
    expect((await events(lead)).at(-1)).toMatch(/^delayed: no_buyer/);
  });
});
