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
import type { Fields } from './records';
import { requests } from './requests';
import type { World } from './world';

const OPEN = [0, 1, 2, 3, 4, 5, 6];

/** A request of the company of a world that must succeed. */
export const bindOk = (world: World) => requests(() => world.company).ok;

/** A company as it is set up, and its model. */
export async function setUp(
  world: World,
  { groups, buyers, source: ofSource }: Setup,
  bidderUrl: string,
) {
  world.company = await world.addCompany();
  const { ok, create } = requests(() => world.company);
  const buildModel = (
    { tier, zone, limits: drawnLimits }: Pick<Setup['buyers'][number], 'tier' | 'zone' | 'limits'>,
    name: ModelOwner['name'],
  ): ModelOwner => ({
    name,
    zone,
    tier,
    paused: false,
    limits: new Map(drawnLimits.map(({ cap, limit }) => [cap, amount(cap, limit)])),
    uses: [],
  });
  const toFields = ({ limits: all, zone, tier }: ModelOwner) => ({
    time_zone: zone,
    tier,
    ...Object.fromEntries([...all].map(([cap, limit]) => [limitName(cap), limit])),
  });
  const madeGroups: ModelGroup[] = [];
  for (const group of groups) {
    const { concurrency_cap_limit, ...fields } = toFields(buildModel(group, 'group 0')) as Fields;
    const body = {
      name: 'Group',
      dial_buyers_type: group.at_once ? 'simultaneously' : 'sequentially',
      concurrency_cap: concurrency_cap_limit,
      ...fields,
    };
    const id = await create('buyer_groups', body);
    madeGroups.push({ ...buildModel(group, `group ${id}`), at_once: group.at_once });
  }
  const modelBuyers: ModelBuyer[] = [];
  const lists: number[] = [];
  for (const [n, { press_one, hours, direct, in_groups, ...owner }] of buyers.entries()) {
    // The first never bids, and bidders are in no groups: what a call may come to is known.
    const isBidder = owner.is_bidder && n > 0;
    const { prepaid } = owner;
    // A buyer's hourly limits belong to its hours, which are all day here or what is drawn.
    const model = buildModel(owner, 'buyer 0');
    const hourly = Object.fromEntries(
      [...model.limits]
        .filter(([cap]) => cap.endsWith('_hourly'))
        .map(([cap, limit]) => [limitName(cap), limit]),
    );
    const fields = Object.fromEntries(
      Object.entries(toFields(model)).filter(([name]) => !name.endsWith('_hourly_limit')),
    );
    const [from, to] = hours ?? [0, 24];
    const times = [`${String(from).padStart(2, '0')}:00..${String(to - 1).padStart(2, '0')}:59`];
    const list = await create('buyer_suppressions', { name: 'List' });
    const pays = isBidder
      ? {
          buyer_type: 'rtb',
          ping_timeout_seconds: 5,
          bid_request: { url: bidderUrl },
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
    const id = await create('buyers', {
      ...body,
      business_hours_schedule: [{ ...hourly, schedule: OPEN.map((day) => ({ day, times })) }],
    });
    const paidIn = (prepaid?.calls ?? 0) * PAID;
    if (paidIn > 0)
      await create('account_entries', { buyer_id: id, kind: 'deposit', amount: paidIn });
    const through = isBidder ? [] : in_groups.flatMap((index) => madeGroups[index] ?? []);
    lists.push(list);
    modelBuyers.push({
      ...model,
      name: `buyer ${id}`,
      id,
      press_one,
      hours,
      suppressed: new Set(),
      direct: direct || through.length === 0,
      groups: through,
      price: isBidder ? BID : PAID,
      balance: prepaid ? paidIn : null,
      credit: (prepaid?.credit ?? 0) * PAID,
    });
  }
  for (const group of madeGroups)
    await ok('put', `buyer_groups/${group.name.split(' ')[1]}`, {
      buyer_ids: modelBuyers.filter((buyer) => buyer.groups.includes(group)).map(({ id }) => id),
    });
  const sourceModel = buildModel(ofSource, 'source 0');
  const sourceId = await create('traffic_sources', {
    name: 'Source',
    time_zone: sourceModel.zone,
    payouts: [{ payout_type: 'fixed', amount: PAYOUT }],
    revenue_total_limit: FAR,
    ...Object.fromEntries([...sourceModel.limits].map(([cap, n]) => [limitName(cap), n])),
  });
  const offerId = await create('offers', {
    name: 'Auto',
    buyer_ids: modelBuyers.filter(({ direct }) => direct).map(({ id }) => id),
    buyer_group_ids: madeGroups.map(({ name }) => Number(name.split(' ')[1])),
  });
  return {
    source: { ...sourceModel, name: `source ${sourceId}` } as ModelOwner,
    buyers: modelBuyers,
    groups: madeGroups,
    lists,
    offer_id: offerId,
    calls: [] as ModelCall[],
  };
}
/** A limit that no call reaches: the caps of a source without any limit count nothing. */
export const FAR = 1_000_000;

export type State = Awaited<ReturnType<typeof setUp>>;
