import { createCallWriter, type CallFields } from './calls';
import { standingClock } from './clock';
import { ownNumber } from './leads';
import { createWorld, type Company, type World } from './world';

export const NOW = '2027-01-12T17:00:00.000Z';
export const LIVE = { created_at: '2027-01-12T16:58:00Z', status: 'in_progress' };

/** A company with calls of every kind, by name: registers the hooks of a test file. */
export function companyWithCalls() {
  let world: World;
  let company: Company;
  const time = standingClock(NOW);
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
    world = await createWorld({ clock: time.read });
    ({ company } = world);
    await insertOwners();
    await insertCalls();
  });
  afterAll(() => world.close());

  async function insertOwners() {
    const make = async (path: string, root: string, body: object) =>
      (await company.api('post', path, { body })).body[root].id as number;
    ids.offer = await make('offers', 'offer', { name: 'Auto', user_offer_id: 'auto' });
    ids.other_offer = await make('offers', 'offer', { name: 'Home' });
    ids.buyer = await make('buyers', 'buyer', {
      name: 'Acme',
      user_buyer_id: 'acme',
      number: '+13105550111',
    });
    ids.other_buyer = await make('buyers', 'buyer', { name: 'Bayline', number: '+13105550112' });
    ids.source = await make('traffic_sources', 'traffic_source', {
      name: 'Search',
      user_traffic_source_id: 'search',
    });
    ids.schedule = await make('schedules', 'schedule', { name: 'Follow up', offer_id: ids.offer });
    ids.number = await ownNumber(world, company);
    ids.lead = await make('leads/capture', 'lead', {
      caller_id: '+13105550123',
      offer_id: ids.offer,
    });
  }

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
    get world() {
      return world;
    },
    get company() {
      return company;
    },
    time,
    ids,
    createdCalls,
    api,
    findName,
    listed,
    call,
  };
}
