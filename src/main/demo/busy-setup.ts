import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import type { Call, Handlers } from '../../api/handlers';
import { BUSY_IDS } from './queries/demo';

// Additions of a busy demo company to a quiet one: more sources and offers, payouts, a blacklist,
// and a webhook whose receiver does not exist.

type Maker = Omit<Call<'createOffer'>, 'body' | 'query'> & { query: Record<never, never> };

const SOURCES: Schemas['TrafficSourceCreate'][] = [
  { name: 'Social ads', user_traffic_source_id: 'social' },
  { name: 'Partner calls', user_traffic_source_id: 'partner' },
];

const OFFERS: Schemas['OfferCreate'][] = [
  {
    name: 'Home insurance',
    user_offer_id: 'home',
    add_user_buyer_ids: ['hudson', 'harbor_night', 'hillside_voip'],
    payouts: [{ payout_type: 'percentage', amount: 55 }],
  },
  {
    name: 'Legal advice',
    user_offer_id: 'legal',
    add_user_buyer_ids: ['summit'],
    fallback_type: 'message',
    fallback_message: 'All of our lawyers are busy. Please call again tomorrow.',
  },
];

/** Takes calls for which the other buyers have no room, until it is full too. */
const OVERFLOW: Schemas['BuyerCreate'] = {
  name: 'Cascade Auto',
  user_buyer_id: 'cascade',
  number: '+15035550166',
  tier: 2,
  attempt_daily_limit: 280,
  current_conversion_revenue: 15,
  current_conversion_duration: 60,
};

/** Ids of the records that the day uses, by the company's own names. */
export interface BusyIds {
  offers: Record<string, string>;
  sources: Record<string, string>;
  schedule_id: string;
  list_id: string;
}

export async function prepareBusyDay(db: Db, call: Maker, handlers: Handlers): Promise<BusyIds> {
  for (const body of SOURCES) await handlers.createTrafficSource({ ...call, body });
  await handlers.createBuyer({ ...call, body: OVERFLOW });
  for (const body of OFFERS) await handlers.createOffer({ ...call, body });
  const ids = groupIds(await db.sql(BUSY_IDS, {}));
  await handlers.updateOffer({
    ...call,
    params: { id: ids.offers.auto! },
    body: {
      add_user_buyer_ids: ['cascade'],
      payouts: [{ payout_type: 'fixed', amount: 11 }],
    },
  });
  await handlers.blockContacts({ ...call, body: { caller_ids: ['+13105550003', '+12125550007'] } });
  await handlers.createOutgoingWebhook({
    ...call,
    body: {
      name: 'Conversions to a CRM that is gone',
      trigger_type: 'buyer_converted',
      // Names in .example never resolve (RFC 2606).
      url: 'https://crm.example/conversions',
    },
  });
  return ids;
}

function groupIds(rows: readonly { kind: string; name: string | null; id: string }[]): BusyIds {
  const of = (kind: string) =>
    Object.fromEntries(
      rows.flatMap((row) => (row.kind === kind ? [[row.name ?? '', row.id]] : [])),
    );
  const [scheduleId, listId] = [of('schedule').auto_new!, of('list')['Do not call']!];
  return { offers: of('offer'), sources: of('source'), schedule_id: scheduleId, list_id: listId };
}
