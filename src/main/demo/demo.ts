import { HostsClient } from '../../data/postgres/hosts-client';
import type { Schemas } from '../../platform/contract/contract';
import { sqlOn } from '../../data/sql';
import type { Deps } from '../../domain/deps';
import type { Db } from '../../data/db';
import { buildDemoBuyers } from './demo-buyers';
import { populateLeads } from './demo-leads';
import { createHandlers } from '../handlers';
import type { Caller } from '../../api/auth/caller';
import { DEMO_FLEETS, DEMO_LIST, HAS_COMPANIES, LOCK_DEMO } from './queries/demo';
import { StartError } from '../../platform/start-error';
import { deliverOnce, importNumbers, playDay } from './busy-day';
import { DAY_MS, planBusyDay, type BusyOptions } from './busy-plan';
import { prepareBusyDay } from './busy-setup';
import { createCompany, type NewCompany } from '../../operate/installation/create-company';

const LOCK = 7_481_203;

export interface FirstStart {
  demo?: NewCompany | undefined;
  /** True if there is no company. */
  is_empty: boolean;
}

/** Makes the demo company if there is no company yet, unless DEMO=false. */
export async function prepareCompanies(deps: Deps): Promise<FirstStart> {
  if (deps.parts()[0] !== deps) return { is_empty: false };
  // A separate connection, because making the company needs those of the pool.
  const client = new HostsClient({ connectionString: deps.database.session_url });
  await client.connect();
  try {
    const sql = sqlOn(client);
    // Two servers may start on the same empty database.
    await sql(LOCK_DEMO, { lock: LOCK });
    const [companies] = await sql(HAS_COMPANIES, {});
    if (companies!.any || !deps.config.demo) return { is_empty: !companies!.any };
    return { demo: await createDemo(deps, 'Demo Company'), is_empty: false };
  } finally {
    await client.end();
  }
}

/**
 * Makes a company with sample data: buyers of insurance calls, their groups and fleets, an offer
 * and a schedule. All or nothing.
 */
export const createDemo = (deps: Deps, name: string): Promise<NewCompany> =>
  createCompany(name, deps, {
    demo: true,
    more: (db, company) => populate(db, company, deps),
  });

/** A busy day contacts leads, and none of them may be a real person. */
const buildSandboxError = () =>
  new StartError('A busy demo needs CARRIER=sandbox: its leads would be texted and called.');

/**
 * Makes a demo company with the last 24 hours of a busy day: calls, conversions, leads, an import
 * and a webhook that fails. It uses the operations of requests, with its own clock; equal seed and
 * time make an equal day.
 */
export async function createBusyDemo(
  deps: Deps,
  name: string,
  { now = deps.clock(), ...options }: Omit<BusyOptions, 'now'> & { now?: Date },
): Promise<NewCompany> {
  if (deps.carrier.name !== 'sandbox') throw buildSandboxError();
  const plan = planBusyDay({ now, ...options });
  // The company is as old as its day: the windows of caps begin with it.
  let time = new Date(now.getTime() - DAY_MS);
  const then = { ...deps, clock: () => time };
  const company = await createDemo(then, name);
  const db = deps.tenants.of(company.company_id);
  const handlers = createHandlers(then);
  const call = buildCall(db, company);
  const ids = await prepareBusyDay(db, call, handlers);
  const day = { db, call, handlers, ids, plan, deps: then, at: (at: Date) => void (time = at) };
  await playDay(day, now);
  await importNumbers(day);
  await deliverOnce(db, deps);
  return company;
}

async function populate(db: Db, company: NewCompany, deps: Deps): Promise<void> {
  const handlers = createHandlers(deps);
  const call = buildCall(db, company);
  for (const body of FLEETS) await handlers.createBuyerFleet({ ...call, body });
  const fleets = await db.sql(DEMO_FLEETS, {});
  const fleet = Object.fromEntries(fleets.map(({ id, user_fleet_id }) => [user_fleet_id, id]));
  for (const body of buildDemoBuyers(fleet)) await handlers.createBuyer({ ...call, body });
  for (const body of GROUPS) await handlers.createBuyerGroup({ ...call, body });
  await handlers.createBuyerSuppression({
    ...call,
    body: { name: 'Do not call', add_user_buyer_ids: ['acme_la', 'bayline'] },
  });
  const [list] = await db.sql(DEMO_LIST, {});
  await handlers.blockBuyerSuppressionCallers({
    ...call,
    params: { id: list!.id },
    body: { caller_ids: ['(310) 555-0190', '+1 212 555 0191', '6175550192'] },
  });
  await populateLeads(db, call, { handlers, deps });
}

/** Arguments of the handlers, with the company's first key pair as caller. */
function buildCall(db: Db, { company_id, credentials }: NewCompany) {
  const caller: Caller = {
    company_id,
    company_name: '',
    access_token_id: credentials.id,
    kind: 'key_pair',
    name: 'seed',
    public_key: credentials.public_key,
    credentials: credentials.public_key,
    user_id: null,
    user_email: null,
    superuser: true,
    permissions: new Set(),
  };
  return {
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
}

const FLEETS = [
  {
    name: 'Auto insurance',
    user_fleet_id: 'auto',
    description: 'Buyers of auto insurance calls',
  },
  {
    name: 'Home insurance',
    user_fleet_id: 'home',
    description: 'Buyers of home insurance calls',
  },
];

const GROUPS: Schemas['BuyerGroupCreate'][] = [
  {
    name: 'West coast',
    tier: 1,
    weight: 60,
    time_zone: 'Pacific Time (US & Canada)',
    connection_hourly_limit: 40,
    add_user_buyer_ids: ['acme_la', 'bayline'],
  },
  {
    name: 'Night desk',
    dial_buyers_type: 'simultaneously',
    tier: 2,
    concurrency_cap: 8,
    add_user_buyer_ids: ['harbor_night', 'hillside_voip'],
  },
];
