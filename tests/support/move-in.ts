import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { HISTORY } from '../../src/operate/migration/history';
import { RESOURCES } from '../../src/operate/migration/resources';
import { createCallWriter } from './calls';
import { leadUpdate } from './write-leads';
import { PEPPER_OF_TESTS, type World } from './world';

// An account with something of everything that `migrate --from` moves, and how it is compared.

export const MOVED = ['phone_numbers', ...RESOURCES, ...HISTORY] as const;

/** Serves an application over HTTP; `first` may answer instead. */
export async function serve(
  app: World['app'],
  first: (req: IncomingMessage, res: ServerResponse) => boolean = () => false,
): Promise<{ server: Server; url: string }> {
  const server = createServer(
    (req, res) => void (first(req, res) || (app as RequestListener)(req, res)),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1` };
}

/** The environment of a command on the database of a world. */
export const buildEnvironment = ({ database, deps }: World): Record<string, string> => ({
  ...database,
  KEY_PEPPER: PEPPER_OF_TESTS,
  DATA_DIR: deps.config.data_dir,
  STORAGE_DIR: deps.config.storage_dir,
});

type Make = (path: string, body: object) => Promise<number>;

/** Fills the account; its ids lie apart from those of a new one. Returns what makes more. */
export async function fillAccount(world: World, auth: string): Promise<Make> {
  const { company } = world;
  const make: Make = async (path, body) => {
    const { status, body: reply } = await company.api('post', path, { body, auth });
    expect({ path, status, errors: reply.errors }).toMatchObject({ status: 201 });
    const record = Object.values(reply as object).find((value) => value?.legacy_id);
    return (record as { id: number }).id;
  };
  const ids = await fillSetup(world, make);
  await fillHistory(world, make, ids);
  return make;
}

type Ids = Awaited<ReturnType<typeof fillSetup>>;

async function fillSetup({ company }: World, make: Make) {
  await make('value_lists', { name: 'states', values: ['CA', 'NV'], legacy_id: 20 });
  await make('value_lists', { name: 'zips', kind: 'zip_codes', values: ['2108'], legacy_id: 21 });
  const number = await make('phone_numbers', { prefix: '212', name: 'Main' });
  const fleet = await make('buyer_fleets', {
    name: 'Solar',
    user_fleet_id: 'solar',
    legacy_id: 50,
  });
  const buyer = await make('buyers', {
    name: 'Acme',
    number: '+13105550123',
    user_buyer_id: 'acme',
    legacy_id: 900,
    buyer_fleet_id: fleet,
    connection_daily_limit: 7,
    display_caller_id_type: 'display_service_number_id',
    display_service_number_id: number,
    record_token_filter_list: ['state:in list:states'],
    states: ['CA', 'NV'],
    area_codes: ['310'],
    zip_list_id: 21,
    business_hours_schedule: [
      { schedule: [{ day: 1, times: ['09:00..17:00'] }], attempt_hourly_limit: 3 },
    ],
    buyer_conversions_schedule: [
      {
        schedule: [{ day: 2, times: ['00:00..23:59'] }],
        buyer_conversions_attributes: [{ name: 'Sale', duration: 60, revenue: 12.5 }],
      },
    ],
  });
  const group = await make('buyer_groups', {
    name: 'West',
    buyer_ids: [buyer],
    concurrency_cap: 4,
    legacy_id: 60,
  });
  await make('buyer_suppressions', { name: 'No', buyer_ids: [buyer], legacy_id: 70 });
  const callerIds = ['+12125550101', '+12125550102'];
  await company.api('post', 'buyer_suppressions/70/caller_block', {
    body: { caller_ids: callerIds },
  });
  const source = await make('traffic_sources', {
    name: 'Ads',
    user_traffic_source_id: 'ads',
    legacy_id: 80,
  });
  const offer = await make('offers', {
    name: 'Auto',
    user_offer_id: 'auto',
    buyer_ids: [buyer],
    buyer_group_ids: [group],
    buyer_suppression_ids: [70],
    legacy_id: 90,
  });
  await company.api('put', `phone_numbers/${number}`, {
    body: { offer_id: offer, traffic_source_id: source },
  });
  const schedule = await make('schedules', { name: 'Spring', offer_id: offer, legacy_id: 95 });
  const steps = { schedule_id: schedule, action_type: 'sms' };
  const [first, second] = [
    await make('schedule_actions', { ...steps, body: 'Hello', legacy_id: 200 }),
    await make('schedule_actions', { ...steps, body: 'Again', legacy_id: 201 }),
  ];
  const team = await make('access_control_lists', {
    name: 'Partners',
    permissions: ['buyers:read'],
    legacy_id: 45,
  });
  await make('users', { email: 'ann@example.com', team_ids: [team], invite: false, legacy_id: 40 });
  const callCenter = await make('call_centers', { name: 'Denver', legacy_id: 30 });
  await make('agent_statuses', { key: 'lunch', name: 'Lunch', legacy_id: 34 });
  const agent = await make('agents', {
    user_id: '40',
    name: 'Ann',
    call_center_ids: [callCenter],
    buyer_ids: [buyer],
    legacy_id: 33,
  });
  const disposition = await make('dispositions', { key: 'sold', name: 'Sold', legacy_id: 35 });
  await make('inbound_webhooks', {
    name: 'Seller',
    vanity_uri: 'seller-of-ads',
    offer_id: offer,
    legacy_id: 36,
  });
  await make('outgoing_webhooks', {
    name: 'CRM',
    trigger_type: 'every_call',
    url: 'https://crm.example.com/calls?id=[[call_id]]',
    legacy_id: 37,
  });
  return { number, buyer, source, offer, schedule, first, second, agent, disposition };
}

async function fillHistory(world: World, make: Make, ids: Ids): Promise<void> {
  const { company, sql } = world;
  const lead = (callerId: string, body: object) =>
    make('leads/capture', { caller_id: callerId, ...body });
  await sql(`SELECT setval('leads_id_seq', 7000), setval('calls_id_seq', 8000),
    setval('contacts_id_seq', 9000)`);
  const waiting = await lead('+13105550201', {
    schedule_id: ids.schedule,
    email: 'eve@example.com',
    data: { first_name: 'Eve', zip: '90012' },
    next_action_at: '2030-01-01 10:00:00 +0000',
    max_contact_attempts: 5,
  });
  // It has been sent the first text, and gets the second.
  await sql(leadUpdate('position = a.position', 'l.id = $1').replace('FROM held', HELD), [
    waiting,
    ids.first,
  ]);
  const sold = await lead('+13105550202', {
    offer_id: ids.offer,
    traffic_source_id: ids.source,
    sub_id: 'banner',
  });
  const out = await lead('+13105550203', { schedule_id: ids.schedule });
  const { lead_token } = (await company.api('get', `schedules/${ids.schedule}`)).body.schedule;
  await company.api('put', `leads/+13105550203/caller_opt_out`, { query: { lead_token } });
  await company.api('post', 'contacts/caller_block', { body: { caller_ids: ['+13105550204'] } });
  await company.api('delete', `leads/${out}`);
  const call = {
    created_at: '2026-05-04T10:00:00Z',
    updated_at: '2026-05-04T10:03:00Z',
    ended_at: '2026-05-04T10:02:00Z',
    offer_id: ids.offer,
    traffic_source_id: ids.source,
    number_id: ids.number,
    token_values: { state: 'CA' },
  };
  await createCallWriter(world, company).call({
    ...call,
    caller_number: 13105550202,
    lead_id: sold,
    buyer_id: ids.buyer,
    connect_to: '+13105550123',
    answered_at: '2026-05-04T10:00:05Z',
    connected_at: '2026-05-04T10:00:05Z',
    revenue: 12.5,
    buyer_revenue: 12.5,
    payout: 4,
    buyer_converted: true,
    traffic_source_converted: true,
    agent_id: ids.agent,
    disposition_id: ids.disposition,
    disposition_notes: 'Bought both',
    recording_url: 'https://example.com/recordings/1.mp3',
    carrier_call_id: 'CA1',
    total_duration: 120,
    answered_duration: 115,
    routed: true,
  });
  await createCallWriter(world, company).call({
    ...call,
    caller_number: 13105550205,
    fallback: 'none',
  });
}

/** The action that was done last, for `leadUpdate`. */
const HELD = 'FROM held JOIN schedule_actions a ON a.company_id = held_company AND a.id = $2';

/** Columns that differ between installations, or follow from when something was done. */
const OWN_FIELDS =
  /^(company_id|user_updated_at|updated_at|paused|(un)?paused_at|cap_reset_at|.*_used)$/;
/** Ids of what belongs to a record, and counts of what is not moved. */
const OWN_PARTS =
  /^(call_limit_id|buyer_conversion_ids|current_conversion_id|paused_by_user_id|record_token_\w+_id|attempts_count|status_changed_at|last_online_at|secret_rotated_at|carrier_number_id)$/;

/** All records of a resource as they can be compared, by their ids. */
export async function loadComparable({ company }: World, resource: string) {
  const { body } = await company.api('get', resource, { query: { per_page: 100 } });
  const records = (body[body.metadata.root] as Record<string, unknown>[]).filter(
    (r) => !r.built_in,
  );
  return records
    .map((record) =>
      Object.fromEntries(
        Object.entries(record).filter(([name]) => !OWN_FIELDS.test(name) && !OWN_PARTS.test(name)),
      ),
    )
    .sort((a, b) => Number(a.id) - Number(b.id));
}
