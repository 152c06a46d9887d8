import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { HISTORY } from '../../src/operate/migration/history';
import { RESOURCES } from '../../src/operate/migration/resources';
import { createCallWriter } from './calls';
import { listen } from './loopback';
import { leadUpdate } from './write-leads';
import { createRecord, createRecords, type Fields } from './records';
import type { Api, World } from './world';

export { buildEnvironment } from './job-process';

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
  return { server, url: `${(await listen(server)).url}/api/v1` };
}

/** Fills the account; its ids lie apart from those of a new one. Returns what makes more. */
export async function fillAccount(world: World, auth: string) {
  const { company } = world;
  const api: Api = (method, path, options) => company.api(method, path, { ...options, auth });
  const make = async (path: string, body: Fields): Promise<number> =>
    (await createRecord(api, path, body)).id;
  await fillHistory(world, make, await fillSetup(world, api));
  return make;
}

type Make = Awaited<ReturnType<typeof fillAccount>>;
type Ids = Awaited<ReturnType<typeof fillSetup>>;

async function fillSetup({ company }: World, api: Api) {
  const step = { schedule_id: 'Spring', action_type: 'sms' };
  const ids = await createRecords(api, {
    value_lists: {
      states: { values: ['CA', 'NV'], legacy_id: 20 },
      zips: { kind: 'zip_codes', values: ['2108'], legacy_id: 21 },
    },
    phone_numbers: { Main: { prefix: '212' } },
    buyer_fleets: { Solar: { user_fleet_id: 'solar', legacy_id: 50 } },
    buyers: {
      Acme: {
        number: '+13105550123',
        user_buyer_id: 'acme',
        legacy_id: 900,
        buyer_fleet_id: 'Solar',
        connection_daily_limit: 7,
        display_caller_id_type: 'display_service_number_id',
        display_service_number_id: 'Main',
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
      },
    },
    buyer_groups: { West: { buyer_ids: ['Acme'], concurrency_cap: 4, legacy_id: 60 } },
    buyer_suppressions: { No: { buyer_ids: ['Acme'], legacy_id: 70 } },
    traffic_sources: { Ads: { user_traffic_source_id: 'ads', legacy_id: 80 } },
    offers: {
      Auto: {
        user_offer_id: 'auto',
        buyer_ids: ['Acme'],
        buyer_group_ids: ['West'],
        buyer_suppression_ids: [70],
        legacy_id: 90,
      },
    },
    schedules: { Spring: { offer_id: 'Auto', legacy_id: 95 } },
    schedule_actions: {
      first: { ...step, body: 'Hello', legacy_id: 200 },
      second: { ...step, body: 'Again', legacy_id: 201 },
    },
    access_control_lists: { Partners: { permissions: ['buyers:read'], legacy_id: 45 } },
    users: { ann: { team_ids: ['Partners'], invite: false, legacy_id: 40 } },
    call_centers: { Denver: { legacy_id: 30 } },
    agent_statuses: { lunch: { legacy_id: 34 } },
    agents: {
      Ann: { user_id: '40', call_center_ids: ['Denver'], buyer_ids: ['Acme'], legacy_id: 33 },
    },
    dispositions: { sold: { legacy_id: 35 } },
    inbound_webhooks: {
      Seller: { vanity_uri: 'seller-of-ads', offer_id: 'Auto', legacy_id: 36 },
    },
    outgoing_webhooks: {
      CRM: {
        trigger_type: 'every_call',
        url: 'https://crm.example.com/calls?id=[[call_id]]',
        legacy_id: 37,
      },
    },
  });
  const callerIds = ['+12125550101', '+12125550102'];
  await company.api('post', 'buyer_suppressions/70/caller_block', {
    body: { caller_ids: callerIds },
  });
  await company.api('put', `phone_numbers/${ids.Main}`, {
    body: { offer_id: ids.Auto, traffic_source_id: ids.Ads },
  });
  return ids;
}

async function fillHistory(world: World, make: Make, ids: Ids): Promise<void> {
  const { company, sql } = world;
  const lead = (callerId: string, body: Fields) =>
    make('leads/capture', { caller_id: callerId, ...body });
  await sql(`SELECT setval('leads_id_seq', 7000), setval('calls_id_seq', 8000),
    setval('contacts_id_seq', 9000)`);
  const waiting = await lead('+13105550201', {
    schedule_id: ids.Spring,
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
    offer_id: ids.Auto,
    traffic_source_id: ids.Ads,
    sub_id: 'banner',
  });
  const out = await lead('+13105550203', { schedule_id: ids.Spring });
  const { lead_token } = (await company.api('get', `schedules/${ids.Spring}`)).body.schedule;
  await company.api('put', `leads/+13105550203/caller_opt_out`, { query: { lead_token } });
  await company.api('post', 'contacts/caller_block', { body: { caller_ids: ['+13105550204'] } });
  await company.api('delete', `leads/${out}`);
  const call = {
    created_at: '2026-05-04T10:00:00Z',
    updated_at: '2026-05-04T10:03:00Z',
    ended_at: '2026-05-04T10:02:00Z',
    offer_id: ids.Auto,
    traffic_source_id: ids.Ads,
    number_id: ids.Main,
    token_values: { state: 'CA' },
  };
  await createCallWriter(world, company).call({
    ...call,
    caller_number: 13105550202,
    lead_id: sold,
    buyer_id: ids.Acme,
    connect_to: '+13105550123',
    answered_at: '2026-05-04T10:00:05Z',
    connected_at: '2026-05-04T10:00:05Z',
    revenue: 12.5,
    buyer_revenue: 12.5,
    payout: 4,
    buyer_converted: true,
    traffic_source_converted: true,
    agent_id: ids.Ann,
    disposition_id: ids.sold,
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
