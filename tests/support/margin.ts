import type { softswitch } from './softswitch';
import { createMember } from './teams';

/** Dollars of a call, and the parties behind it: texts that stand nowhere else. */
export const SECRETS = {
  sale: ['31.31', 'Secret Buyer', 'secret-buyer', '12125550177'],
  purchase: ['7.77', 'Secret Source', 'secret-source'],
  profit: ['23.54'],
  company: ['4.44', '5.55'],
};

const READS = [
  'buyers',
  'buyer_groups',
  'offers',
  'traffic_sources',
  'calls',
  'leads',
  'phone_numbers',
  'inbound_webhooks',
  'change_logs',
  'schedules',
  'traffic_source_tokens',
  'account_entries',
  'statements',
].map((resource) => `${resource}:read`);

/** A call of a lead that a buyer pays for and whose source is paid, in a new company. */
export async function createSoldCall({ world, ...here }: ReturnType<typeof softswitch>) {
  const { company } = world;
  const payout = { payout_type: 'fixed', amount: 7.77 };
  const ids = await world.createRecords({
    buyers: {
      'Secret Buyer': {
        user_buyer_id: 'secret-buyer',
        number: '+12125550177',
        current_conversion_revenue: 31.31,
        current_conversion_duration: 5,
      },
    },
    buyer_groups: { Group: { buyer_ids: ['Secret Buyer'] } },
    traffic_sources: {
      'Secret Source': {
        user_traffic_source_id: 'secret-source',
        // Its caps count what buyers pay too.
        attempt_total_limit: 100,
        revenue_total_limit: 3131.31,
        earned_revenue_total_limit: 2323.54,
        allowed_buyer_ids: ['Secret Buyer'],
        payouts: [payout],
      },
    },
    offers: {
      Auto: {
        buyer_group_ids: ['Group'],
        payouts: [{ traffic_source_id: 'Secret Source', ...payout }],
      },
    },
    inbound_webhooks: {
      Sellers: {
        vanity_uri: `margin-${company.id}`,
        offer_id: 'Auto',
        traffic_source_id: 'Secret Source',
      },
    },
  });
  const { lead_token } = (await world.ok('get', `offers/${ids.Auto}`)).offer;
  const source = { traffic_source_id: ids['Secret Source'] };
  const query = { lead_token, caller_id: '+13105550188', ...source };
  const lead = await world.api('post', 'leads', { auth: null, query });
  const call = await here.begin(ids.Auto, source);
  await here.report(call, 'answered');
  here.later(10);
  await here.report(call, 'completed', { duration: 10 });
  await world.sql('UPDATE calls SET service_cost = 4.44, provider_cost = 5.55 WHERE id = $1', [
    call.id,
  ]);
  let members = 0;
  return {
    ids: {
      buyers: ids['Secret Buyer'],
      buyer_groups: ids.Group,
      offers: ids.Auto,
      traffic_sources: ids['Secret Source'],
      calls: call.id,
      leads: lead.body.id,
      inbound_webhooks: ids.Sellers,
    } as Record<string, number>,
    call: call as { id: number; uuid: string },
    /** A user of a team that is granted these records, with more permissions. */
    user: (name: string, grants: object, permissions: string[] = []) =>
      createMember(company, `${name}${++members}@example.com`, {
        ...grants,
        permissions: [...READS, ...permissions],
      }),
    company: company.api,
  };
}

export type Margin = Awaited<ReturnType<typeof createSoldCall>>;
