import { softswitch } from '../../support/softswitch';
import { PAYS, soldCalls } from '../../support/sold-calls';

// Reports of buyers' systems about calls, each with fields of its own.

const here = softswitch('2026-06-01T16:30:00Z'); // Monday 12:30 in New York
const { ok, offer, begin } = here;
const { sold, loadEvents } = soldCalls(here);

describe('a postback', () => {
  test('takes unknown keys as tokens, from the query string and the body', async () => {
    const { call, shown } = await sold();
    const res = await here.world.company.api('post', `calls/update_call/${call.uuid}`, {
      query: { revenue: 30, policy_id: 'P-1', 'Agent Name': 'Ann', zone_id: '7' },
      body: { premium: 120.5, nested: { a: 1 }, description: 'sold by phone' },
    });
    expect([res.status, res.body.warnings]).toEqual([200, {}]);
    expect(await shown()).toMatchObject({
      revenue: 30,
      token_values: {
        policy_id: 'P-1',
        agent_name: 'Ann',
        zone_id: '7',
        premium: 120.5,
        nested: { a: 1 },
      },
    });
    expect((await loadEvents(call)).at(-1)).toMatchObject({
      event: 'note',
      message: 'sold by phone',
    });
  });

  test('loses no conversion to keys that cannot be tokens, and keeps credentials out', async () => {
    const { call, shown, change } = await sold();
    await change({ buyer_converted: false });
    const token = await here.world.credentials(
      here.world.company,
      ['calls:update', 'calls:money'],
      { kind: 'user_token', user_email: 'ann@example.com' },
    );
    const res = await here.world.company.api('post', `calls/update_call/${call.uuid}`, {
      auth: null,
      query: { auth_token: token, buyer_converted: 1 },
      body: { '!!!': 'no name', big: 'x'.repeat(70_000), fine: 'yes' },
    });
    expect([res.status, Object.keys(res.body.warnings).toSorted()]).toEqual([200, ['!!!', 'big']]);
    const after = await shown();
    expect(after).toMatchObject({
      buyer_converted: true,
      revenue: 20,
      token_values: { fine: 'yes' },
    });
    expect(Object.keys(after.token_values)).not.toContain('auth_token');
  });

  test('sets and adds payouts, and keeps the reason', async () => {
    const { call, shown, change } = await sold();
    await change({ add_payout: '2.50', adjustment_reason: 'bonus' });
    expect((await shown()).payout).toBe(9.5);
    expect((await loadEvents(call)).at(-1)).toMatchObject({
      event: 'payout_changed',
      details: { from: 7, to: 9.5, adjustment_reason: 'bonus' },
    });
    expect((await change({ payout: 1, add_payout: 1 })).body.errors).toEqual({
      add_payout: ['must not be given together with payout'],
    });
    expect((await change({ add_payout: -10 })).body.errors).toEqual({
      add_payout: [expect.stringContaining('$0.00 or above')],
    });
    await change({ adjustment_reason: 'looked at it' });
    expect((await loadEvents(call)).at(-1)).toMatchObject({
      event: 'note',
      message: 'looked at it',
    });
  });

  test('says what stands in the way of a payout, and takes the rest', async () => {
    const buyer = await here.buyer(PAYS);
    const call = await begin(await offer({ buyer_ids: [buyer] }));
    const both = { buyer_converted: true, offer_converted: true };
    const none = await ok('post', `calls/update_call/${call.uuid}`, both);
    expect(none).toMatchObject({
      call: { buyer_converted: true, traffic_source_converted: false },
      warnings: { offer_converted: [expect.stringContaining('no traffic source')] },
    });
    const { id: trafficSourceId } = (await ok('post', 'traffic_sources', { name: 'X' }))
      .traffic_source;
    const unpaid = await begin(await offer({ buyer_ids: [buyer] }), {
      traffic_source_id: trafficSourceId,
    });
    const marked = await ok('post', `calls/update_call/${unpaid.uuid}`, both);
    expect(marked).toMatchObject({
      call: { buyer_converted: true, traffic_source_converted: true, payout: 0 },
      warnings: { offer_converted: [expect.stringContaining('pays this traffic source nothing')] },
    });
  });
});
