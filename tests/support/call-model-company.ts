import { amount, limitName, type Setup } from './call-commands';
import {
  BID,
  PAID,
  PAID_AFTER,
  PAYOUT,
  type ModelBuyer,
  type ModelCall,
  type ModelGroup,
  type ModelOwner,
} from './call-model';
import type { World } from './world';

type Fields = Record<string, unknown>;
const OPEN = [0, 1, 2, 3, 4, 5, 6];

/** A request of the company of a world that must succeed. */
export const okOf =
  (world: World) => async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
    const res = await world.company.api(method, path, body ? { body } : {});
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };

/** A company as it is set up, and its model. */
export async function setUp(
  world: World,
  { groups, buyers, source: of_source }: Setup,
  bidder_url: string,
) {
  const ok = okOf(world);
  world.company = await world.addCompany();
  const modelOf = (
    { tier, zone, limits: given }: Pick<Setup['buyers'][number], 'tier' | 'zone' | 'limits'>,
    name: ModelOwner['name'],
  ): ModelOwner => ({
    name,
    zone,
    tier,
    paused: false,
    limits: new Map(given.map(({ cap, limit }) => [cap, amount(cap, limit)])),
    uses: [],
  });
  const fieldsOf = ({ limits: all, zone, tier }: ModelOwner) => ({
    time_zone: zone,
    tier,
    ...Object.fromEntries([...all].map(([cap, limit]) => [limitName(cap), limit])),
  });
  const made_groups: ModelGroup[] = [];
  for (const each of groups) {
    const { concurrency_cap_limit, ...fields } = fieldsOf(modelOf(each, 'group 0')) as Fields;
    const body = {
      name: 'Group',
      dial_buyers_type: each.at_once ? 'simultaneously' : 'sequentially',
      concurrency_cap: concurrency_cap_limit,
      ...fields,
    };
    const { id } = (await ok('post', 'buyer_groups', body)).buyer_group;
    made_groups.push({ ...modelOf(each, `group ${id}`), at_once: each.at_once });
  }
  const made: ModelBuyer[] = [];
  const lists: number[] = [];
  for (const [n, { press_one, hours, direct, in_groups, ...each }] of buyers.entries()) {
    // The first never bids, and bidders are in no groups: what a call may come to is known.
    const is_bidder = each.is_bidder && n > 0;
    const { prepaid } = each;
    // A buyer's hourly limits belong to its hours, which are all day here or what is drawn.
    const own = modelOf(each, 'buyer 0');
    const hourly = Object.fromEntries(
      [...own.limits]
        .filter(([cap]) => cap.endsWith('_hourly'))
        .map(([cap, limit]) => [limitName(cap), limit]),
    );
    const fields = Object.fromEntries(
      Object.entries(fieldsOf(own)).filter(([name]) => !name.endsWith('_hourly_limit')),
    );
    const [from, to] = hours ?? [0, 24];
    const times = [`${String(from).padStart(2, '0')}:00..${String(to - 1).padStart(2, '0')}:59`];
    const list = (await ok('post', 'buyer_suppressions', { name: 'List' })).buyer_suppression.id;
    const pays = is_bidder
      ? {
          buyer_type: 'rtb',
          ping_timeout_seconds: 5,
          bid_request: { url: bidder_url },
        }
      : { current_conversion_revenue: PAID, current_conversion_duration: PAID_AFTER };
    const account = prepaid && { prepaid: true, credit_limit: prepaid.credit * PAID };
    const body = {
      number: `+1212555010${n}`,
      press_one_to_accept: press_one,
      timeout_seconds: 30,
      buyer_suppression_ids: [list],
      ...pays,
      ...account,
      ...fields,
    };
    const { id } = (
      await ok('post', 'buyers', {
        ...body,
        business_hours_schedule: [{ ...hourly, schedule: OPEN.map((day) => ({ day, times })) }],
      })
    ).buyer;
    const paid_in = (prepaid?.calls ?? 0) * PAID;
    if (paid_in > 0)
      await ok('post', 'account_entries', { buyer_id: id, kind: 'deposit', amount: paid_in });
    const through = is_bidder ? [] : in_groups.flatMap((place) => made_groups[place] ?? []);
    lists.push(list);
    made.push({
      ...own,
      name: `buyer ${id}`,
      id,
      press_one,
      hours,
      suppressed: new Set(),
      direct: direct || through.length === 0,
      groups: through,
      price: is_bidder ? BID : PAID,
      balance: prepaid ? paid_in : null,
      credit: (prepaid?.credit ?? 0) * PAID,
    });
  }
  for (const group of made_groups)
    await ok('put', `buyer_groups/${group.name.split(' ')[1]}`, {
      buyer_ids: made.filter((buyer) => buyer.groups.includes(group)).map(({ id }) => id),
    });
  const source = await makeSource(modelOf(of_source, 'source 0'), ok);
  const buyer_group_ids = made_groups.map(({ name }) => Number(name.split(' ')[1]));
  const offer_id = (
    await ok('post', 'offers', {
      name: 'Auto',
      buyer_ids: made.filter(({ direct }) => direct).map(({ id }) => id),
      buyer_group_ids,
    })
  ).offer.id;
  return { source, buyers: made, groups: made_groups, lists, offer_id, calls: [] as ModelCall[] };
}
/** A limit that no call reaches: the caps of a source without any limit count nothing. */
export const FAR = 1_000_000;

async function makeSource(model: ModelOwner, ok: ReturnType<typeof okOf>): Promise<ModelOwner> {
  const limits = [...model.limits].map(([cap, limit]) => [limitName(cap), limit] as const);
  const { id } = (
    await ok('post', 'traffic_sources', {
      name: 'Source',
      time_zone: model.zone,
      payouts: [{ payout_type: 'fixed', amount: PAYOUT }],
      revenue_total_limit: FAR,
      ...Object.fromEntries(limits),
    })
  ).traffic_source;
  return { ...model, name: `source ${id}` };
}

export type State = Awaited<ReturnType<typeof setUp>>;
