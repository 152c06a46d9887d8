import { Client } from 'pg';
import type { Deps } from '../deps';
import type { Db } from '../db/tenant';
import { populateLeads } from './demo-leads';
import { createHandlers } from '../handlers';
import type { Caller } from '../http/auth/caller';
import { createCompany, type NewCompany } from './create-company';

const LOCK = 7_481_203;
const OFFICE = [1, 2, 3, 4, 5].map((day) => ({ day, times: ['09:00..17:59'] }));
const EVENINGS = [1, 2, 3, 4, 5].map((day) => ({ day, times: ['17:00..21:59'] }));

/** Makes the demo company on an installation that has no company yet; answers nothing when it has one. */
export async function ensureDemo(deps: Deps): Promise<NewCompany | undefined> {
  // A connection beside the pool: making the company needs those of the pool.
  const client = new Client({ connectionString: deps.database.url });
  await client.connect();
  try {
    // Two servers may start on the same empty database.
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const { rows } = await client.query('SELECT EXISTS (SELECT FROM companies) AS any');
    return rows[0].any ? undefined : await createDemo(deps, 'Demo Company');
  } finally {
    await client.end();
  }
}

/** A company with a small believable world: an insurance seller's buyers, their groups and fleets. All or nothing. */
export const createDemo = (deps: Deps, name: string): Promise<NewCompany> =>
  createCompany(name, deps, { more: (db, company) => populate(db, company, deps) });

async function populate(
  db: Db,
  { company_id, credentials }: NewCompany,
  deps: Deps,
): Promise<void> {
  const handlers = createHandlers(deps);
  const caller: Caller = {
    company_id,
    company_name: '',
    access_token_id: credentials.id,
    kind: 'key_pair',
    name: 'seed',
    public_key: credentials.public_key,
    user_id: null,
    user_email: null,
    superuser: true,
    permissions: new Set(),
  };
  const call = {
    db,
    caller,
    params: {},
    query: {},
    upload: undefined,
    if_match: undefined,
    if_none_match: undefined,
    owner: undefined,
    ip: '',
  };
  await handlers.createBuyerFleet({
    ...call,
    body: {
      name: 'Auto insurance',
      user_fleet_id: 'auto',
      description: 'Buyers of auto insurance calls',
    },
  });
  await handlers.createBuyerFleet({
    ...call,
    body: {
      name: 'Home insurance',
      user_fleet_id: 'home',
      description: 'Buyers of home insurance calls',
    },
  });
  const fleets = await db.query<{ id: string; user_fleet_id: string }>({
    text: 'SELECT id::text, user_fleet_id FROM buyer_fleets WHERE company_id = $1',
    values: [company_id],
  });
  const fleet = Object.fromEntries(fleets.map(({ id, user_fleet_id }) => [user_fleet_id, id]));
  for (const body of buyers(fleet)) await handlers.createBuyer({ ...call, body });
  await handlers.createBuyerGroup({
    ...call,
    body: {
      name: 'West coast',
      tier: 1,
      weight: 60,
      time_zone: 'Pacific Time (US & Canada)',
      connection_hourly_limit: 40,
      add_user_buyer_ids: ['acme_la', 'bayline'],
    },
  });
  await handlers.createBuyerGroup({
    ...call,
    body: {
      name: 'Night desk',
      dial_buyers_type: 'simultaneously',
      tier: 2,
      concurrency_cap: 8,
      add_user_buyer_ids: ['harbor_night', 'hillside_voip'],
    },
  });
  await handlers.createBuyerSuppression({
    ...call,
    body: { name: 'Do not call', add_user_buyer_ids: ['acme_la', 'bayline'] },
  });
  const [list] = await db.query<{ id: string }>({
    text: 'SELECT id::text FROM buyer_suppressions WHERE company_id = $1',
    values: [company_id],
  });
  const caller_ids = ['(310) 555-0190', '+1 212 555 0191', '6175550192'];
  await handlers.blockBuyerSuppressionCallers({
    ...call,
    params: { id: list!.id },
    body: { caller_ids },
  });
  await populateLeads(db, call, { handlers, deps });
}

function buyers(fleet: Record<string, string>) {
  return [
    {
      name: 'Acme Insurance, Los Angeles',
      user_buyer_id: 'acme_la',
      number: '+13105550111',
      email: 'desk@acme.example',
      time_zone: 'Pacific Time (US & Canada)',
      weight: 70,
      concurrency_cap_limit: 6,
      attempt_daily_limit: 200,
      buyer_fleet_id: fleet.auto!,
      record_calls: true,
      record_token_filter_list: ['state:in CA,NV,OR'],
      business_hours_schedule: [{ connection_hourly_limit: 25, schedule: OFFICE }],
      current_conversion_name: '90 seconds',
      current_conversion_revenue: 24.5,
      current_conversion_duration: 90,
      current_conversion_duplicate_timeframe: 86_400,
    },
    {
      name: 'Bayline Auto',
      user_buyer_id: 'bayline',
      number: '+14155550122',
      time_zone: 'Pacific Time (US & Canada)',
      weight: 30,
      concurrency_cap_limit: 3,
      revenue_daily_limit: 1_500,
      buyer_fleet_id: fleet.auto!,
      press_one_to_accept: true,
      current_conversion_name: '60 seconds',
      current_conversion_revenue: 19,
      current_conversion_duration: 60,
      current_conversion_duplicate_timeframe: 2_592_000,
    },
    {
      name: 'Hudson Home',
      user_buyer_id: 'hudson',
      number: '+12125550133',
      route_by_type: 'revenue' as const,
      buyer_fleet_id: fleet.home!,
      connection_monthly_limit: 2_000,
      business_hours_schedule: [{ schedule: OFFICE }],
      buyer_conversions_schedule: [
        {
          buyer_conversions_attributes: [
            { name: 'Office hours', duration: 120, revenue: 38, duplicate_timeframe: 7_200 },
          ],
          schedule: OFFICE,
        },
        {
          buyer_conversions_attributes: [
            { name: 'Evening', duration: 120, revenue: 27, duplicate_timeframe: 7_200 },
          ],
          schedule: EVENINGS,
        },
      ],
    },
    {
      name: 'Harbor night desk',
      user_buyer_id: 'harbor_night',
      number: '+16175550144',
      tier: 2,
      dtmf_tones: 'ww1',
      buyer_fleet_id: fleet.home!,
      current_conversion_revenue: 12,
      current_conversion_duration: 45,
    },
    {
      name: 'Hillside VoIP',
      user_buyer_id: 'hillside_voip',
      number: 'sip:intake@pbx.hillside.example',
      tier: 2,
      timeout_seconds: 25,
      current_conversion_revenue: 11,
      current_conversion_duration: 45,
    },
    {
      name: 'Summit Legal',
      user_buyer_id: 'summit',
      number: '+17205550155',
      time_zone: 'America/Denver',
      paused: true,
      tier: 3,
      current_conversion_revenue: 55,
      current_conversion_duration: 180,
    },
  ];
}
