import type { Api } from './world';
import type { softswitch } from './softswitch';
import { createMember, type Member } from './teams';

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

export interface Margin {
  ids: Record<string, number>;
  call: { id: number; uuid: string };
  /** A user of a team that is granted these records, with more permissions. */
  user(name: string, grants: object, permissions?: string[]): Promise<Member>;
  company: Api;
}

/** A call of a lead that a buyer pays for and whose source is paid, in a new company. */
export async function createSoldCall(here: ReturnType<typeof softswitch>): Promise<Margin> {
  const { ok } = here;
  const { company } = here.world;
  const buyer = await here.buyer({
    name: 'Secret Buyer',
    user_buyer_id: 'secret-buyer',
    number: '+12125550177',
    current_conversion_revenue: 31.31,
    current_conversion_duration: 5,
  });
  const group = await here.group({ buyer_ids: [buyer] });
  const source = (
    await ok('post', 'traffic_sources', {
      name: 'Secret Source',
      user_traffic_source_id: 'secret-source',
      // Its caps count what buyers pay too.
      attempt_total_limit: 100,
      revenue_total_limit: 3131.31,
      earned_revenue_total_limit: 2323.54,
      allowed_buyer_ids: [buyer],
      payouts: [{ payout_type: 'fixed', amount: 7.77 }],
    })
  ).traffic_source.id;
  const { offer } = await ok('post', 'offers', {
    name: 'Auto',
    buyer_group_ids: [group],
    payouts: [{ traffic_source_id: source, payout_type: 'fixed', amount: 7.77 }],
  });
  const lead = await company.api('post', 'leads', {
    auth: null,
    query: { lead_token: offer.lead_token, caller_id: '+13105550188', traffic_source_id: source },
  });
  const call = await here.begin(offer.id, { traffic_source_id: source });
  await here.report(call, 'answered');
  here.later(10);
  await here.report(call, 'completed', { duration: 10 });
  const { inbound_webhook } = await ok('post', 'inbound_webhooks', {
    name: 'Sellers',
    vanity_uri: `margin-${company.id}`,
    offer_id: offer.id,
    traffic_source_id: source,
  });
  await here.world.sql('UPDATE calls SET service_cost = 4.44, provider_cost = 5.55 WHERE id = $1', [
    call.id,
  ]);
  let members = 0;
  return {
    ids: {
      buyers: buyer,
      buyer_groups: group,
      offers: offer.id,
      traffic_sources: source,
      calls: call.id,
      leads: lead.body.id,
      inbound_webhooks: inbound_webhook.id,
    },
    call,
    user: (name, grants, permissions = []) =>
      createMember(company, `${name}${++members}@example.com`, {
        ...grants,
        permissions: [...READS, ...permissions],
      }),
    company: company.api,
  };
}
