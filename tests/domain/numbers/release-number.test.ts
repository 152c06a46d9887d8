import { ownNumber } from '../../support/leads';
import { DOWN, useMarket } from '../../support/numbers';
import { createRecord } from '../../support/records';

const market = useMarket();
const { api, bought, lookups, otherApi, search, show } = market;

describe('a release', () => {
  const release = (id: number | string, headers: Record<string, string> = {}, by = api) =>
    by('delete', `phone_numbers/${id}`, { headers });

  test('gives the number back to the carrier, which may sell it again', async () => {
    const number = await bought({ requested_number: '+12125550170' });
    const before = (await api('get', 'phone_numbers')).body.metadata.total_count;
    const res = await release('+12125550170');
    expect([res.status, res.body.number.deleted_at]).toEqual([200, expect.any(String)]);
    expect([market.carrier.requests.release, market.carrier.sold.has('+12125550170')]).toEqual([
      [{ id: number.carrier_number_id }],
      false,
    ]);
    expect([(await show(number.id)).status, (await release(number.id)).status]).toEqual([404, 404]);
    expect((await api('get', 'phone_numbers')).body.metadata.total_count).toBe(before - 1);
    expect(await search({ query: '+12125550170' }, otherApi)).toEqual(['+12125550170']);
    expect((await bought({ requested_number: '+12125550170' }, otherApi)).id).not.toBe(number.id);
  });

  test('while the carrier is down, or in spite of a change, changes nothing', async () => {
    const number = await bought({ requested_number: '+12125550171' });
    expect(
      (await release(number.id, { 'If-Match': '"00000000000000000000000000000000"' })).status,
    ).toBe(412);
    expect(market.carrier.requests.release).toEqual([]);
    market.carrier.trouble.release = DOWN;
    const before = (await show(number.id)).text;
    const res = await release(number.id);
    expect([res.status, res.headers['retry-after'], res.body.detail]).toEqual([
      503,
      '5',
      expect.stringContaining('still yours'),
    ]);
    expect([(await show(number.id)).text, (await lookups('+12125550171')).length]).toEqual([
      before,
      1,
    ]);
    market.carrier.quiet();
    expect((await release(number.id)).status).toBe(200);
  });

  test('twice at once is one', async () => {
    const number = await bought({ requested_number: '+12125550172' });
    const both = await Promise.all([release(number.id), release(number.id)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(market.carrier.requests.release).toHaveLength(1);
  });

  test('of a number that was only added does not ask the carrier', async () => {
    const id = await ownNumber(market.world, market.world.company, '12125550173');
    expect((await release(id)).status).toBe(200);
    expect(market.carrier.requests.release).toEqual([]);
    const foreign = await ownNumber(market.world, market.world.company, '12125550174');
    await market.world.sql(
      `UPDATE numbers SET carrier = 'twilio', carrier_number_id = 'PN9' WHERE id = $1`,
      [foreign],
    );
    expect((await release(foreign)).body.errors).toEqual({
      carrier: [expect.stringContaining('twilio')],
    });
  });

  test('takes the number from the leads that had it; they get another', async () => {
    const company = await market.world.addCompany('Leads');
    const by = market.buildApi(company);
    const [first, second] = [
      await bought({ requested_number: '+12125550175' }, by),
      await bought({ requested_number: '+13105550175' }, by),
    ];
    const offer = await createRecord(by, 'offers', { name: 'O' });
    const submit = () =>
      by('post', 'leads', {
        auth: null,
        query: { lead_token: offer.lead_token },
        body: { caller_id: '+12125550199', assign_service_number: true, assign_sms_number: true },
      });
    const lead = (await submit()).body;
    expect([lead.service_number_plain, lead.sms_number_plain]).toEqual([
      '12125550175',
      '12125550175',
    ]);
    await release(first.id, {}, by);
    const workers = await market.world.work();
    const shown = async () => (await by('get', `leads/${lead.id}`)).body.lead;
    for (let n = 0; n < 100 && (await shown()).sms_number_id !== null; n++)
      await new Promise((done) => setTimeout(done, 100));
    expect(await shown()).toMatchObject({ sms_number_id: null, dial_number_id: null });
    await workers.stop();
    expect((await submit()).body).toMatchObject({
      service_number_plain: '13105550175',
      lead: { dial_number_id: second.id },
    });
  });
});
