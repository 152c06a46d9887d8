import { callProjection } from '../../../src/domain/calls/columns';
import { contract } from '../../../src/platform/contract/contract';
import { createCallWriter } from '../../support/calls';
import { companyWithCalls, NOW } from '../../support/company-with-calls';
import { pageTemplate, toListRows } from '../../../src/data/projection/list-statements';

const here = companyWithCalls();
const { time, api, ids, createdCalls, call } = here;

describe('columns', () => {
  const NAMES = Object.entries(contract.document.components.schemas.Call!.properties!).flatMap(
    ([name, schema]) => (schema['x-grid'] ? [] : name),
  );

  test('are complete and in the order of the contract, also as CSV', async () => {
    const { calls } = (await api('calls')).body;
    for (const row of calls) expect(Object.keys(row)).toEqual(NAMES);
    expect(Object.keys(await call('plain'))).toEqual(NAMES);
    expect(Object.keys(await call('plain', { serializer: 'call_grid' }))).toEqual([
      ...NAMES,
      'schedule_action_id',
    ]);
    expect((await api('calls.csv')).text.split('\n')[0]).toBe(NAMES.join(','));
    expect(NAMES.slice(-16)).toEqual([
      'hangup_cause',
      'lead_id',
      'answered_at',
      'connected_at',
      'fallback',
      'attempts_count',
      'error_code',
      'error_message',
      'sandbox',
      'caller_state',
      'caller_zip',
      'answered_by',
      'machine_action',
      'machine_message',
      'abandoned',
      'unbilled_reason',
    ]);
  });

  test('of a call that was sold', async () => {
    expect(await call('sold')).toMatchObject({
      type: 'Call',
      routes_show_path: `/api/v1/calls/${createdCalls.sold!.id}`,
      routes_edit_path: null,
      name: 'Ann Lee',
      category: 'inbound',
      number_called: '+12125550100',
      connected_to: '+13105550111',
      caller_number: '+13105550002',
      obfuscated_caller_number: '*******0002',
      offer: 'Auto',
      user_offer_id: 'auto',
      offer_id: ids.offer,
      buyer: 'Acme',
      user_buyer_id: 'acme',
      buyer_id: ids.buyer,
      traffic_source: 'Search',
      user_traffic_source_id: 'search',
      traffic_source_id: ids.source,
      number_id: ids.number,
      caller_city: 'Los Angeles',
      caller_country: 'US',
      sub_id: 'google',
      total_duration: 120,
      hold_duration: 14,
      ivr_duration: 4,
      attempted_duration: 10,
      answered_duration: 110,
      agent_duration: 0,
      status: 'completed',
      buyer_converted: true,
      buyer_revenue: 20,
      revenue: 20,
      traffic_source_converted: true,
      traffic_source_payout: 5.5,
      payout: 5.5,
      service_cost: 0,
      provider_cost: 0.0125,
      call_sid: 'CA1',
      provider: 'sandbox',
      outgoing_webhooks_count: 0,
      ended_at: '2027-01-11T12:02:00.000+00:00',
      hangup_cause: 'caller',
      contact_field_type: 'phone',
      attempts_count: 0,
      error_code: null,
      sandbox: true,
      recording_url: 'https://example.com/1.mp3',
      agent_id: null,
      quality_assurance_id: null,
      disposition_id: null,
      ring_pool_id: null,
      lead_id: null,
      schedule_id: null,
      schedule_name: null,
    });
  });

  test('of a call in progress have durations up to now', async () => {
    expect(await call('out')).toMatchObject({
      category: 'outbound',
      number_called: '+12125550100',
      caller_number: '+13105550123',
      schedule_name: 'Follow up',
      lead_id: ids.lead,
      sandbox: false,
      ended_at: null,
      total_duration: 120,
      hold_duration: 40,
      ivr_duration: 0,
      attempted_duration: 20,
      answered_duration: 100,
    });
    const withheld = { caller_number: null, obfuscated_caller_number: null, name: null };
    expect(await call('ringing')).toMatchObject({
      ...withheld,
      total_duration: 120,
      hold_duration: 120,
      attempted_duration: 120,
      ivr_duration: 0,
      answered_duration: 0,
    });
    time.set('2027-01-12T17:00:30.500Z');
    expect(await call('ringing')).toMatchObject({
      total_duration: 150,
      attempted_duration: 150,
      answered_duration: 0,
    });
    time.set(NOW);
    const nothing = {
      total_duration: 0,
      hold_duration: 0,
      ivr_duration: 0,
      attempted_duration: 0,
      answered_duration: 0,
    };
    expect(await call('failed')).toMatchObject({
      ...nothing,
      error_code: 'unreachable',
      error_message: 'no way',
      fallback: 'message',
      buyer: null,
      offer: null,
    });
  });

  test('are read only if requested, and so are the joins that they need', async () => {
    const shape = {
      conditions: [],
      sort: 'key' as const,
      descending: false,
      limit: 2,
      offset: 0,
      total: 'none' as const,
    };
    const sql = (columns: string[]) =>
      pageTemplate(toListRows(callProjection, { columns }), shape)({ company_id: 1, now: '' }).text;
    expect(sql(['id', 'offer_id', 'status'])).not.toMatch(
      /JOIN (offers|buyers|traffic_sources|schedules)|call_attempts/,
    );
    expect(sql(['offer'])).toMatch(/JOIN offers/);
    expect(sql(['offer'])).not.toMatch(/JOIN (buyers|traffic_sources|schedules)/);
    expect(sql(['user_buyer_id'])).toMatch(/JOIN buyers/);
  });
});

test('CSV has the complete result of the filters, and no cell runs as a formula', async () => {
  const risky = await here.world.addCompany();
  const calls = createCallWriter(here.world, risky);
  await calls.call({ sub_id: '=1+1', token_values: '{"name":"@SUM(A1)"}' });
  await calls.call({ sub_id: 'plain', buyer_converted: true });
  const csv = await api(
    'calls.csv',
    { columns: 'caller_number,sub_id,name,buyer_converted' },
    risky,
  );
  expect(csv.headers['content-disposition']).toContain('calls.csv');
  expect(csv.text.split('\n')).toEqual([
    'name,caller_number,sub_id,buyer_converted',
    "'@SUM(A1),+13105550199,'=1+1,false",
    ',+13105550199,plain,true',
    '',
  ]);
  expect(
    (await api('calls', { format: 'csv', buyer_converted: true, columns: 'sub_id' }, risky)).text,
  ).toBe('sub_id\nplain\n');
});
