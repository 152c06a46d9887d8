import { contract } from '../../../src/platform/contract/contract';
import { readArea } from '../../../src/data/phone/area-codes';
import { CALLER, softswitch } from '../../support/softswitch';

// Buyers with states and area codes, which are filters like any other.

const { ok, buyer, offer, begin, errors } = softswitch('2026-06-01T16:00:00Z');

type Fields = Record<string, unknown>;

const explainReasons = async (offerId: number, request: Fields) => {
  const { decision } = await ok('post', 'routing/explain', { offer_id: offerId, ...request });
  return decision.candidates.map(({ reason, details }: Fields) => [reason, details]);
};
const unmet = (filter: string) => ['filter_unmet', { filter }];
const MET = [null, null];

describe('a buyer with states', () => {
  test('gets the calls from its states alone, however the state is known', async () => {
    const id = await buyer({ states: ['NV', 'ca', 'NV'] });
    expect((await ok('get', `buyers/${id}`)).buyer.states).toEqual(['NV', 'CA']);
    const offerId = await offer({ buyer_ids: [id] });
    const filter = unmet('geo_state:in NV,CA');
    for (const [request, expected] of [
      [{ tokens: { state: 'California' } }, MET],
      [{ caller_number: '+13105550123' }, MET],
      [{ caller_number: '+12125550123' }, filter],
      [{ caller_number: '+13105550123', tokens: { state: 'NY' } }, filter],
      // Nothing says where this caller is.
      [{ caller_number: '+18005550123' }, filter],
      [{}, filter],
    ] as const)
      expect(await explainReasons(offerId, request)).toEqual([expected]);
  });

  test('has its own filters too, which are judged first', async () => {
    const id = await buyer({ states: ['CA'], record_token_filter_list: ['age:>=18'] });
    const offerId = await offer({ buyer_ids: [id] });
    expect(await explainReasons(offerId, { tokens: { state: 'NY' } })).toEqual([unmet('age:>=18')]);
    expect(await explainReasons(offerId, { tokens: { state: 'NY', age: 20 } })).toEqual([
      unmet('geo_state:in CA'),
    ]);
    expect(await explainReasons(offerId, { tokens: { state: 'CA', age: 20 } })).toEqual([MET]);
    expect((await ok('get', `buyers/${id}`)).buyer.record_token_filter_data).toEqual(['age:>=18']);
  });

  test('gets calls from anywhere from the next call on, once it has none', async () => {
    const id = await buyer({ states: ['NY'] });
    const offerId = await offer({ buyer_ids: [id] });
    expect((await begin(offerId)).instruction.action).toBe('hang_up');
    await ok('put', `buyers/${id}`, { states: null });
    const { instruction } = await begin(offerId, { caller_number: '+13105550177' });
    expect([instruction.action, instruction.dial[0].buyer_id]).toEqual(['dial', id]);
  });

  test('may have any state that an area code has, and no other', async () => {
    const codes = contract.document.components.schemas.StateCode!.enum;
    const states = Array.from({ length: 800 }, (_, n) => readArea(`1${n + 200}5550123`).state);
    expect([...new Set(states)].filter((state) => state && !codes?.includes(state))).toEqual([]);
    const [status, refused] = await errors('buyers', { name: 'B', states: ['CA', 'California'] });
    expect([status, refused]).toEqual([422, { 'states.1': [expect.stringContaining('AL, AK')] }]);
  });
});

test('a buyer with area codes gets the calls from their numbers alone', async () => {
  const id = await buyer({ area_codes: ['310', 424], states: ['CA'] });
  const offerId = await offer({ buyer_ids: [id] });
  expect((await ok('get', `buyers/${id}`)).buyer.area_codes).toEqual(['310', '424']);
  expect(await explainReasons(offerId, { caller_number: CALLER })).toEqual([MET]);
  expect(await explainReasons(offerId, { caller_number: '+14155550123' })).toEqual([
    unmet('area_code:in 310,424'),
  ]);
  // A caller abroad has none.
  expect(
    await explainReasons(offerId, { caller_number: '+442071234567', tokens: { state: 'CA' } }),
  ).toEqual([unmet('area_code:in 310,424')]);
  for (const wrong of ['31', '3100', '110', 'abc'])
    expect(await errors('buyers', { name: 'B', area_codes: [wrong] })).toEqual([
      422,
      { 'area_codes.0': [expect.any(String)] },
    ]);
});

test('a simulation knows the states of buyers', async () => {
  const buyerIds = [await buyer({ states: ['CA'] }), await buyer({ states: ['NY'] })];
  const offerId = await offer({ buyer_ids: buyerIds });
  const period = { from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' };
  const synthetic = { calls: 10, ...period, tokens: { state: 'NY' }, answer_rate: 1 };
  const changes = [{ buyer_id: buyerIds[0], weight: 2 }];
  const { simulation } = await ok('post', 'routing/simulate', {
    offer_id: offerId,
    synthetic,
    changes,
  });
  expect(
    simulation.buyers.map(({ as_configured }: { as_configured: Fields }) => [
      as_configured.attempts,
      as_configured.skip_reasons,
    ]),
  ).toEqual([
    [0, { filter_unmet: 10 }],
    [10, {}],
  ]);
});

test('a copy of a buyer has its geography', async () => {
  const geography = { states: ['CA', 'NV'], area_codes: ['775'] };
  const source = await buyer(geography);
  const copy = await buyer({ copy_another_buyer: source });
  expect((await ok('get', `buyers/${copy}`)).buyer).toMatchObject(geography);
});
