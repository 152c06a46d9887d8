import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { findStoredRecord, type StoredRecord } from '../../../src/api/records/stored-fields';
import { createFixture, type Fixture } from '../../support/example';
import { useWorld } from '../../support/use-world';

// Derived from openapi.yaml: every record that a PUT changes is sent back as GET shows it.

const world = useWorld();
const { api } = world;
let fixture: Fixture;

const EVENTS = ['lead_changed', 'call_changed', 'contact_fields_changed', 'lead_opted_out'];
beforeAll(async () => {
  fixture = await createFixture(world);
  await fillIn();
  for (const triggerType of EVENTS)
    await api('post', 'outgoing_webhooks', {
      body: { name: triggerType, trigger_type: triggerType, url: 'https://example.com/hook' },
    });
});

type Fields = Record<string, unknown>;
const records = contract.operations.flatMap((operation) => {
  const record = findStoredRecord(operation);
  return record ? [[operation.id, operation, record] as const] : [];
});

/** Fills in fields that the contract's examples leave blank. */
async function fillIn() {
  const { ids } = fixture;
  const put = async (path: string, body: object) => {
    const res = await api('put', path, { body });
    expect([path, res.status, res.body.errors]).toEqual([path, 200, {}]);
  };
  await put(`buyers/${ids.buyers}`, {
    name: 'Round "trip"',
    dtmf_tones: '1w2',
    record_token_filter_list: ['state:in CA,NV', 'age:>=18'],
    record_token_additional_list: 'source:a,b,kind:x',
    business_hours_schedule: [
      { attempt_hourly_limit: 2, schedule: [{ day: 1, times: ['00:00..23:59'] }] },
    ],
    current_conversion_revenue: 12.5,
    current_conversion_duration: 45,
    current_conversion_token_values: ['state:CA'],
    current_conversion_attribution_token_values: ['paid:yes'],
    buyer_suppression_ids: [ids.buyer_suppressions],
    buyer_fleet_id: ids.buyer_fleets,
    concurrency_cap_limit: 4,
    revenue_daily_limit: 99.5,
    epc_timeframe: 24,
  });
  await put(`buyer_groups/${ids.buyer_groups}`, {
    concurrency_cap: 7,
    buyer_ids: [ids.buyers],
    earned_revenue_hourly_limit: 3.25,
  });
  await put(`schedules/${ids.schedules}`, {
    exit_on: ['replied', 'connected'],
    triggers: [
      { on: 'call_missed', token_filter_list: ['state:in CA,NV', 'age:>=18'] },
      { on: 'lead_created' },
    ],
    business_hours_schedule: [{ day: 1, times: ['09:00..17:00'] }],
    hours_to_expire: 48,
    buyer_suppression_ids: [ids.buyer_suppressions],
  });
  await put(`offers/${ids.offers}`, {
    abandoned_message: 'Sorry, "all" are busy',
    buyer_suppression_ids: [ids.buyer_suppressions],
    payouts: [
      {
        payout_type: 'fixed',
        amount: 5.25,
        paid_for: 'buyer_conversion',
        traffic_source_id: ids.traffic_sources,
      },
    ],
  });
  await put('company', {
    help_text: 'Call us',
    opt_out_text: 'Bye',
    opt_in_text: 'Hi',
    contact_countries: ['US', 'CA'],
    service_cost_per_minute: 0.0125,
  });
  await put(`schedule_actions/${ids.schedule_actions}`, {
    action_type: 'dial',
    body: null,
    machine_action: 'leave_message',
    machine_message: 'Please call back',
    token_filter_list: ['state:CA'],
  });
  await put(`access_control_lists/${ids.access_control_lists}`, {
    traffic_source_ids: [ids.traffic_sources],
    buyer_ids: [ids.buyers],
    offer_ids: [ids.offers],
  });
  await put(`traffic_sources/${ids.traffic_sources}`, {
    first_name: 'Ann',
    company_name: 'Ann & Co',
    email: 'ann@example.com',
    user_traffic_source_id: '1000',
  });
  await put(`leads/${ids.leads}`, {
    email: 'lead@example.com',
    lead_priority: 1.5,
    traffic_source_id: ids.traffic_sources,
    data: { first_name: 'Ann', nested: 'a,b' },
  });
}

const buildPath = (operation: Operation) => fixture.path(operation);

async function get(
  operation: Operation,
  { root, serializer }: StoredRecord,
  query: object = serializer ? { serializer } : {},
): Promise<Fields> {
  const res = await api('get', buildPath(operation), { query });
  expect(res.status).toBe(200);
  return res.body[root];
}

/** Everything that a change leaves behind. */
const countTraces = async () =>
  (
    await world.sql(
      `SELECT (SELECT count(*) FROM change_logs) AS changes,
        (SELECT count(*) FROM webhook_events) AS events,
        (SELECT count(*) FROM lead_logs) AS lead_logs`,
    )
  )[0];

const put = async (operation: Operation, body: unknown, more: object = {}) =>
  api('put', buildPath(operation), { body, ...more });

const listSerializers = ({ parameters }: Operation): (string | undefined)[] => {
  const serializer = parameters.find(({ name }) => name === 'serializer');
  const values = (serializer ? contract.resolve(serializer.schema).enum : []) as string[];
  return [undefined, ...values.filter((value) => value !== '')];
};

test('every record that can be written is among these', () => {
  expect(records.map(([id]) => id)).toEqual(
    contract.operations.flatMap(({ id, method, body, path }) =>
      method === 'put' && body && (/\{id\}$/.test(path) || path.endsWith('/company')) ? id : [],
    ),
  );
});

describe.each(records)('%s', (_, operation, record) => {
  test('of a record as GET shows it changes nothing, with each serializer', async () => {
    const queries = listSerializers(record.show).map((serializer) =>
      serializer ? { serializer } : {},
    );
    for (const query of queries) {
      const before = [await get(operation, record), await countTraces()];
      const res = await put(operation, await get(operation, record, query));
      expect([query, res.status, res.body.errors]).toEqual([query, 200, {}]);
      expect([await get(operation, record), await countTraces()]).toEqual(before);
    }
  });

  test('of a record as a list shows it in another time zone changes nothing', async () => {
    const shown = await get(operation, record);
    const collection = operation.path.replace(/\/\{id\}$/, '');
    if (collection === operation.path) return; // The company is in no list.
    const zone = { ids: shown.id, time_zone: 'Asia/Kolkata' };
    const listed = await api('get', collection, { query: zone });
    const [listedRecord] = Object.values<Fields[]>(listed.body).find(Array.isArray)!;
    expect(listedRecord).toMatchObject({
      id: shown.id,
      created_at: expect.stringMatching(/\+05:30$/),
    });
    const before = await countTraces();
    const res = await put(operation, listedRecord);
    expect([res.status, res.body.errors]).toEqual([200, {}]);
    expect([await get(operation, record), await countTraces()]).toEqual([shown, before]);
  });

  test('without a field changes nothing', async () => {
    const before = [await get(operation, record), await countTraces()];
    const res = await put(operation, {});
    expect([res.status, res.body[record.root].updated_at]).toEqual([
      200,
      (before[0] as Fields).updated_at,
    ]);
    expect([await get(operation, record), await countTraces()]).toEqual(before);
  });

  test('refuses each column that cannot be written when it is not what is stored', async () => {
    const shown = await get(operation, record);
    const fixed = Object.entries(record.columns).filter(
      ([name, column]) => name in shown && !record.writable.has(name) && !column['x-volatile'],
    );
    expect(fixed.length).toBeGreaterThan(3);
    const before = [shown, await countTraces()];
    for (const [name, column] of fixed) {
      const res = await put(operation, { [name]: buildOtherValue(shown[name], column) });
      expect([name, res.status, Object.keys(res.body.errors)]).toEqual([name, 422, [name]]);
    }
    expect([await get(operation, record), await countTraces()]).toEqual(before);
  });

  test('ignores columns that move by themselves', async () => {
    const shown = await get(operation, record);
    const moving = Object.entries(record.columns).filter(
      ([name, column]) => name in shown && !record.writable.has(name) && column['x-volatile'],
    );
    for (const [name, column] of moving) {
      const res = await put(operation, { [name]: buildOtherValue(shown[name], column) });
      expect([name, res.status]).toEqual([name, 200]);
    }
    expect(await get(operation, record)).toEqual(shown);
  });

  test('takes each value in the form in which GET shows it', async () => {
    const shown = await get(operation, record);
    const fields = Object.entries(shown).filter(
      ([name, value]) => record.writable.has(name) && value !== null,
    );
    const res = await put(operation, Object.fromEntries(fields));
    expect([res.status, res.body.errors]).toEqual([200, {}]);
    const after = await get(operation, record);
    for (const [name, value] of fields) expect([name, after[name]]).toEqual([name, value]);
  });
});

/** A value that differs, of the type of its column. */
function buildOtherValue(value: unknown, schema: Schema): unknown {
  const { types, formats } = facets(schema);
  if (formats.has('date-time')) return '2001-02-03T04:05:06.000+00:00';
  if (typeof value === 'boolean' || types.has('boolean')) return !value;
  if (types.has('array')) return [...(Array.isArray(value) ? (value as unknown[]) : []), 987654];
  if (types.has('object')) return { other: 'value' };
  if (types.has('integer') || types.has('number')) return Number(value ?? 0) + 987_654;
  return `${typeof value === 'string' ? value : ''}other`;
}
