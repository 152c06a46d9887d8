import { soldCalls, readUsage } from '../../support/sold-calls';
import { softswitch } from '../../support/softswitch';

// The attack: payouts above what the buyer pays, corrected and then returned. Caps on earned
// revenue forgot what was below $0, kept dollars that no call brings, and refused calls until their
// window ended. And the reverse: dollars taken off a call of an earlier hour made room in the
// present one.

const here = softswitch('2026-06-01T16:00:00Z');
const { ok, later } = here;
const { sold } = soldCalls(here);

type Fields = Record<string, unknown>;
const HOUR = 3600;

/** The dollars that are used, by window: revenue and earned revenue. */
const readUsedDollars = (record: Fields) =>
  Object.fromEntries(
    Object.entries(readUsage(record)).map(([window, used]) => [
      window,
      (used as number[]).slice(1),
    ]),
  );
const same = (used: number[]) => ({ hourly: used, daily: used, monthly: used, total: used });

/** A call of $20 of which the source gets $7, with a cap of everyone that it counts for. */
async function sellWithCaps() {
  const soldCall = await sold();
  const { traffic_source_id } = soldCall;
  const path = `traffic_sources/${traffic_source_id}`;
  await ok('put', path, { earned_revenue_daily_limit: 500 });
  await ok('put', `buyers/${soldCall.buyer}`, { earned_revenue_daily_limit: 50 });
  const change = async (fields: Fields) => {
    const res = await soldCall.change(fields);
    expect([res.status, res.text]).toEqual([200, expect.anything()]);
  };
  const source = async () => (await ok('get', path)).traffic_source;
  /** Usage of the buyer, which equals that of its group. */
  const used = async () => {
    const books = await soldCall.books();
    const ofBuyer = readUsedDollars((await ok('get', `buyers/${soldCall.buyer}`)).buyer);
    expect(books.group).toEqual(books.buyer);
    return ofBuyer;
  };
  return { ...soldCall, change, source, used };
}

describe('a payout above what the buyer pays', () => {
  test.each([[[80]], [[100, 0]], [[80, 3, 91.7]]])(
    'that is set to %j and returned leaves nothing used',
    async (payouts) => {
      const { change, used, offer, traffic_source_id } = await sellWithCaps();
      for (const payout of payouts) {
        await change({ payout });
        expect(await used()).toEqual(same([20, Number((20 - payout).toFixed(2))]));
      }
      await change({ buyer_converted: false });
      await change({ offer_converted: false });
      expect(await used()).toEqual(same([0, 0]));
      const call = await here.begin(offer, { traffic_source_id, caller_number: '+13105550199' });
      expect(call.instruction.action).toBe('dial');
    },
  );

  test('counts below $0 for its source, and calls that bring dollars count on from there', async () => {
    const { change, offer, traffic_source_id, source } = await sellWithCaps();
    const second = await here.begin(offer, { traffic_source_id, caller_number: '+13105550199' });
    await here.report(second, 'answered');
    later(10);
    await here.report(second, 'completed', { duration: 10 });
    await ok('post', `calls/${second.id}`, { payout: 60.7 });
    expect((await source()).earned_revenue_daily_used).toBe(-40.7);
    await ok('post', `calls/${second.id}`, { payout: 2.25, add_revenue: 1 });
    expect((await source()).earned_revenue_daily_used).toBe(18.75);
    await change({ add_payout: 1 });
    expect((await source()).earned_revenue_total_used).toBe(18.75 - 1);
  });
});

describe('dollars that are taken off a call of an earlier hour', () => {
  test('leave the present hour as it is', async () => {
    const { change, used, offer, traffic_source_id } = await sellWithCaps();
    later(HOUR);
    const second = await here.begin(offer, { traffic_source_id, caller_number: '+13105550199' });
    await here.report(second, 'answered');
    later(10);
    await here.report(second, 'completed', { duration: 10 });
    await change({ revenue: 4 });
    expect(await used()).toMatchObject({ hourly: [20, 13], daily: [24, 10], total: [24, 10] });
    await change({ payout: 1 });
    expect(await used()).toMatchObject({ hourly: [20, 13], daily: [24, 16] });
    await change({ buyer_converted: false });
    expect(await used()).toMatchObject({ hourly: [20, 13], daily: [20, 13], total: [20, 13] });
  });

  test('take off first what was set in the present hour', async () => {
    const { change, used } = await sellWithCaps();
    later(HOUR);
    await change({ add_revenue: 10, add_payout: 5 });
    expect(await used()).toMatchObject({ hourly: [10, 5], daily: [30, 18] });
    await change({ revenue: 16, payout: 6 });
    expect(await used()).toMatchObject({ hourly: [0, 0], daily: [16, 10] });
    await change({ add_revenue: 2 });
    await change({ buyer_converted: false });
    expect(await used()).toEqual(same([0, 0]));
  });

  test('also where they were set before the call converted, for less', async () => {
    const buyer = await here.buyer({
      current_conversion_revenue: 20,
      current_conversion_duration: 60,
    });
    const call = await here.begin(await here.offer({ buyer_ids: [buyer] }));
    const used = async () => readUsedDollars((await ok('get', `buyers/${buyer}`)).buyer);
    await ok('post', `calls/${call.id}`, { revenue: 12 });
    later(HOUR);
    await ok('post', `calls/${call.id}`, { buyer_converted: true, revenue: 5 });
    expect(await used()).toMatchObject({ hourly: [0, 0], daily: [5, 5] });
    await ok('post', `calls/${call.id}`, { buyer_converted: false });
    expect(await used()).toEqual(same([0, 0]));
  });

  test('give a prepaid buyer back what it was charged', async () => {
    const { change, buyer } = await sellWithCaps();
    await ok('put', `buyers/${buyer}`, { prepaid: true });
    const { balance } = (await ok('get', `buyers/${buyer}`)).buyer;
    later(HOUR);
    await change({ revenue: 4 });
    expect((await ok('get', `buyers/${buyer}`)).buyer.balance).toBe(balance + 16);
  });
});

test('a source that a user pays for a call has a conversion, which a return takes off', async () => {
  const buyer = await here.buyer();
  const { id } = (
    await ok('post', 'traffic_sources', { name: 'Search', buyer_conversion_daily_limit: 9 })
  ).traffic_source;
  const offerId = await here.offer({ buyer_ids: [buyer] });
  const counted = async () =>
    (await ok('get', `traffic_sources/${id}`)).traffic_source.buyer_conversion_daily_used;
  const [first, second] = [
    await here.begin(offerId, { traffic_source_id: id }),
    await here.begin(offerId, { traffic_source_id: id, caller_number: '+13105550199' }),
  ];
  for (const call of [first, second]) await ok('post', `calls/${call.id}`, { payout: 3 });
  expect(await counted()).toBe(2);
  await ok('post', `calls/${first.id}`, { payout: 4 });
  expect(await counted()).toBe(2);
  await ok('post', `calls/${first.id}`, { offer_converted: false });
  expect(await counted()).toBe(1);
});
