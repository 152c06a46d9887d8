import { leadZones } from '../../../src/data/phone/number-zones';
import { findZipPlace } from '../../../src/data/phone/zip-states';
import { readArea } from '../../../src/data/phone/area-codes';
import { zipZones } from '../../../src/data/phone/zip-zones';
import { openShop, submit } from '../../support/leads';
import { softswitch } from '../../support/softswitch';

// A lead with a ZIP is where its ZIP is, not where its number is from.

const { ok, buyer, offer, world } = softswitch('2026-06-01T16:00:00Z');

describe('a ZIP or postal code', () => {
  test.each([
    ['10001', 'NY', 'US'],
    ['06390', 'NY', 'US'],
    ['90210-1234', 'CA', 'US'],
    [' 902101234 ', 'CA', 'US'],
    ['20588', 'MD', 'US'],
    ['00901', 'PR', 'PR'],
    ['96799', 'AS', 'AS'],
    ['M5V 3L9', 'ON', 'CA'],
    ['h2x', 'QC', 'CA'],
    ['X0A', 'NU', 'CA'],
  ])('%j is in %s, %s', (zip, state, country) =>
    expect(findZipPlace(zip)).toEqual({ state, country }),
  );

  test.each(['99999', '00000', '1000', '09012', '96940', 'X', 'SW1A 1AA', 'n/a', ''])(
    '%j is in no state',
    (zip) => expect(findZipPlace(zip)).toBeUndefined(),
  );

  test('is in a state that has its time zone, by the numbers there', () => {
    const zonesByState = new Map<string, Set<string>>();
    for (let code = 200; code < 1000; code++) {
      const { state } = readArea(`1${code}5550123`);
      if (!state) continue;
      const zones = zonesByState.get(state) ?? new Set();
      for (let exchange = 200; exchange < 1000; exchange += 7)
        for (const zone of leadZones(Number(`1${code}${exchange}0123`), undefined, 'UTC'))
          zones.add(zone);
      zonesByState.set(state, zones);
    }
    const centers = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));
    const placed = centers.filter((center) => findZipPlace(center));
    expect(placed.length).toBeGreaterThan(880);
    const strange = placed.filter((center) => {
      const zones = zonesByState.get(findZipPlace(center)!.state)!;
      return !leadZones(18005550123, center, 'UTC').some((zone) => zones.has(zone));
    });
    // The Virgin Islands keep the time of Puerto Rico; the mail of the government has no zone.
    expect(strange).toEqual(['008', '569']);
    expect(placed.filter((center) => zipZones(center).length === 0)).toEqual(['569']);
  });
});

const CALLER = '+13105550123';
const explain = async (filters: string[], request: object) => {
  const id = await buyer({ record_token_filter_list: filters });
  const offerId = await offer({ buyer_ids: [id] });
  const { decision } = await ok('post', 'routing/explain', { offer_id: offerId, ...request });
  return decision.candidates.map(({ reason }: { reason: string | null }) => reason);
};

test.each(['zip', 'zip_code', 'postal_code', 'zip_postal_code'])(
  'filters of buyers read the state of the token %s',
  async (name) => {
    for (const [request, state] of [
      [{ caller_number: CALLER, tokens: { [name]: '10001' } }, 'NY'],
      [{ tokens: { [name]: '10001-0001' } }, 'NY'],
      [{ caller_number: '+18005550123', tokens: { [name]: 'M5V 3L9' } }, 'ON'],
      [{ caller_number: CALLER, tokens: { [name]: '10001', state: 'Texas' } }, 'TX'],
      [{ caller_number: CALLER, tokens: { [name]: '99999' } }, 'CA'],
      [{ caller_number: '+493012345678', tokens: { [name]: '10115' } }, ''],
      [{ caller_number: CALLER }, 'CA'],
    ] as const)
      expect([request, await explain([`geo_state:${state}`], request)]).toEqual([request, [null]]);
    const request = { caller_number: CALLER, tokens: { [name]: 'M5V 3L9' } };
    expect(await explain(['geo_country:CA', 'geo_zip:M5V 3L9', 'area_code:310'], request)).toEqual([
      null,
    ]);
  },
);

test('a lead has the time zone of its ZIP, and another one with another ZIP', async () => {
  const { schedule } = await openShop(world, []);
  const fields = { caller_id: CALLER, zip: '10001' };
  const { body } = await submit(world, schedule.lead_token, fields);
  const zone = async () => (await ok('get', `leads/${body.id}`)).lead.time_zone;
  expect(await zone()).toBe('America/New_York');
  for (const [data, expected] of [
    [{ zip: '60601' }, 'America/Chicago'],
    [{ name: 'Ann' }, 'America/Chicago'],
    [{ zip: null }, 'America/Los_Angeles'],
    [{ zip: '', postal_code: 'M5V 3L9' }, 'America/Toronto'],
  ] as const) {
    await ok('put', `leads/${body.id}`, { data });
    expect([data, await zone()]).toEqual([data, expected]);
  }
});
