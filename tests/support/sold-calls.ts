import type { Fields } from './records';
import { CALLER, type softswitch } from './softswitch';

export type { Fields };
export const PAYS = { current_conversion_revenue: 20, current_conversion_duration: 5 };
const CAPS = ['buyer_conversion', 'revenue', 'earned_revenue'];
export const WINDOWS = ['hourly', 'daily', 'monthly', 'total'];
/** Usage of each cap, by window: conversions, revenue, earned revenue. */
export const readUsage = (record: Fields) =>
  Object.fromEntries(
    WINDOWS.map((window) => [window, CAPS.map((cap) => record[`${cap}_${window}_used`])]),
  );
export const ALL = (used: number[]) => Object.fromEntries(WINDOWS.map((window) => [window, used]));

export const SOLD = {
  buyer: ALL([1, 20, 13]),
  group: ALL([1, 20, 13]),
  lead: { revenue: 20, payout: 7, buyer_converted: true, offer_converted: true },
  report: { conversions: 1, traffic_source_conversions: 1, revenue: 20, payout: 7, profit: 13 },
  counted: 1,
  paid: 1,
};
export const RETURNED = {
  buyer: ALL([0, 0, 0]),
  group: ALL([0, 0, 0]),
  lead: { revenue: 0, payout: 0, buyer_converted: false, offer_converted: false },
  report: { conversions: 0, traffic_source_conversions: 0, revenue: 0, payout: 0, profit: 0 },
  counted: 0,
  paid: 0,
};

/** Calls that are sold in the company of a test, and what was counted for them. */
export function soldCalls(here: ReturnType<typeof softswitch>) {
  const { ok, begin, report, world } = here;

  /** A buyer in a group at an offer that pays its source, with a lead whose call has converted. */
  async function sold() {
    const { buyer, group, offer, source } = await world.createRecords({
      buyers: { buyer: { timeout_seconds: 30, ...PAYS } },
      buyer_groups: { group: { buyer_ids: ['buyer'] } },
      traffic_sources: { source: {} },
      offers: {
        offer: {
          buyer_group_ids: ['group'],
          payouts: [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }],
        },
      },
    });
    const { lead_token } = (await ok('get', `offers/${offer}`)).offer;
    const query = { lead_token, caller_id: CALLER, traffic_source_id: source };
    const lead = await world.api('post', 'leads', { auth: null, query });
    const call = await begin(offer, { traffic_source_id: source });
    await report(call, 'answered');
    here.later(10);
    await report(call, 'completed', { duration: 10 });
    const shown = async () => (await ok('get', `calls/${call.id}`)).call;
    const change = (fields: Fields, path = `calls/update_call/${call.uuid}`) =>
      world.api('post', path, { body: fields });
    const books = async () => ({
      buyer: readUsage((await ok('get', `buyers/${buyer}`)).buyer),
      group: readUsage((await ok('get', `buyer_groups/${group}`)).buyer_group),
      lead: (await ok('get', `leads/${lead.body.id}`)).lead,
      report: (await ok('get', 'calls/reports')).totals,
      counted: (await ok('get', 'calls?buyer_converted=true')).metadata.total_count,
      paid: (await ok('get', 'calls?offer_converted=true')).metadata.total_count,
    });
    return {
      buyer,
      group,
      offer,
      call,
      lead: lead.body.id,
      shown,
      change,
      books,
      traffic_source_id: source,
    };
  }

  const loadEvents = async (call: { id: number }) =>
    (await ok('get', `calls/${call.id}/events`)).call_events as Fields[];

  return { sold, loadEvents };
}
