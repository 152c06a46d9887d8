import { createCallWriter, type CallFields } from './calls';
import { ownNumber } from './leads';
import { useWorld } from './use-world';
import type { Company } from './world';

export const NOW = '2027-01-12T17:00:00.000Z';
export const LIVE = { created_at: '2027-01-12T16:58:00Z', status: 'in_progress' };

/** A company with calls of every kind, by name: registers the hooks of a test file. */
export function companyWithCalls() {
  const world = useWorld({ clock: NOW });
  let company: Company;
  const ids: Record<string, number> = {};
  const createdCalls: Record<string, { id: number; uuid: string }> = {};

  const api = (path: string, query: object = {}, by = company) => by.api('get', path, { query });
  const insert = async (name: string, fields: CallFields) =>
    (createdCalls[name] = await createCallWriter(world, company).call(fields));
  const findName = (id: number) =>
    Object.entries(createdCalls).find(([, call]) => call.id === id)?.[0];
  /** The names of the calls that a query selects, in its order; the total must be the same. */
  async function listed(query: object): Promise<string> {
    const res = await api('calls', { ...query, columns: 'id' });
    expect([query, res.status]).toEqual([query, 200]);
    expect(res.body.metadata.total_count).toBe(res.body.calls.length);
    return res.body.calls.map(({ id }: { id: number }) => findName(id)).join(' ');
  }
  const call = async (name: string, query: object = {}) =>
    (await api(`calls/${createdCalls[name]!.id}`, query)).body.call;

  beforeAll(async () => {
    ({ company } = world);
    const owners = await world.createRecords({
      offers: { Auto: { user_offer_id: 'auto' }, Home: {} },
      buyers: { Acme: { user_buyer_id: 'acme' }, Bayline: {} },
      traffic_sources: { Search: { user_traffic_source_id: 'search' } },
      schedules: { 'Follow up': { offer_id: 'Auto' } },
    });
    Object.assign(ids, { offer: owners.Auto, other_offer: owners.Home, buyer: owners.Acme });
    Object.assign(ids, { other_buyer: owners.Bayline, source: owners.Search });
    ids.schedule = owners['Follow up'];
    ids.number = await ownNumber(world, company);
    ids.lead = await world.create('leads/capture', {
      caller_id: '+13105550123',
      offer_id: ids.offer,
    });
    await insertCalls();
  });

  async function insertCalls() {
    await insert('plain', {
      created_at: '2027-01-10T12:00:00Z',
      ended_at: '2027-01-10T12:01:00Z',
      caller_number: 13105550001,
    });
    await insert('sold', {
      created_at: '2027-01-11T12:00:00Z',
      answered_at: '2027-01-11T12:00:10Z',
      connected_at: '2027-01-11T12:00:14.9Z',
      ended_at: '2027-01-11T12:02:00Z',
      caller_number: 13105550002,
      offer_id: ids.offer,
      buyer_id: ids.buyer,
      traffic_source_id: ids.source,
      number_id: ids.number,
      buyer_converted: true,
      traffic_source_converted: true,
      buyer_revenue: 20,
      revenue: 20,
      payout: 5.5,
      recording_url: 'https://example.com/1.mp3',
      connect_to: '+13105550111',
      carrier_call_id: 'CA1',
      sub_id: 'google',
      provider_cost: 0.0125,
      caller_city: 'Los Angeles',
      caller_country: 'US',
      token_values: JSON.stringify({
        first_name: 'Ann',
        last_name: 'Lee',
        state: 'CA',
        age: 42,
        veteran: true,
      }),
      hangup_cause: 'caller',
      contact_field_type: 'phone',
    });
    await insert('paid', {
      created_at: '2027-01-11T13:00:00Z',
      ended_at: '2027-01-11T13:00:05Z',
      offer_id: ids.other_offer,
      buyer_id: ids.other_buyer,
      traffic_source_converted: true,
      payout: 1,
      token_values: '{"state":"NY"}',
    });
    await insert('bought', {
      created_at: '2027-01-11T14:00:00Z',
      ended_at: '2027-01-11T14:00:05Z',
      offer_id: ids.offer,
      buyer_id: ids.other_buyer,
      buyer_converted: true,
      revenue: 7,
    });
    await insert('ringing', {
      ...LIVE,
      caller_number: null,
      from_number: null,
      offer_id: ids.offer,
      buyer_id: ids.buyer,
    });
    await insert('out', {
      ...LIVE,
      direction: 'outbound',
      from_number: 12125550100,
      to_number: 13105550123,
      caller_number: 13105550123,
      lead_id: ids.lead,
      schedule_id: ids.schedule,
      offer_id: ids.offer,
      buyer_id: ids.buyer,
      answered_at: '2027-01-12T16:58:20Z',
      connected_at: '2027-01-12T16:59:00Z',
      number_id: ids.number,
      carrier: 'twilio',
    });
    await insert('failed', {
      created_at: '2027-01-12T16:59:00Z',
      ended_at: '2027-01-12T16:59:00Z',
      status: 'failed',
      error_code: 'unreachable',
      error_message: 'no way',
      total_duration: 0,
      fallback: 'message',
    });
    await insert('gone', {
      deleted_at: NOW,
      caller_number: 13105550001,
      offer_id: ids.offer,
      buyer_id: ids.buyer,
    });
  }

  return {
    world,
    get company() {
      return company;
    },
    time: world.clock,
    ids,
    createdCalls,
    api,
    findName,
    listed,
    call,
  };
}
