import { dialed, softswitch } from '../../support/softswitch';
import { createMember } from '../../support/teams';

// The attack: a publisher that knows a telephone number submits it with a token of its own, or with
// the landing page's and its own traffic_source_id. The lead of another publisher became its own,
// with name, e-mail and all data; or it called with that number, and read the data in its call.

const here = softswitch('2026-03-02T15:00:00Z');
const { ok } = here;
const CALLER = '+13105550188';
const SECRET = { email: 'victoria@example.com', ssn: 'SECRET', first_name: 'Victoria' };

type Fields = Record<string, unknown>;
const send = (fields: Fields) =>
  here.world.company.api('post', 'leads', { auth: null, body: { caller_id: CALLER, ...fields } });
const asCompany = async (path: string) => (await here.world.company.api('get', path)).body;

/** Two publishers that send leads and calls to one offer. */
async function createRivals() {
  const buyer = await here.buyer({ record_token_filter_list: ['first_name:Victoria'] });
  const { offer } = await ok('post', 'offers', { name: 'Auto', buyer_ids: [buyer] });
  const publisher = async (name: string) => {
    const { traffic_source } = await ok('post', 'traffic_sources', { name });
    const { traffic_source_token } = await ok('post', 'traffic_source_tokens', {
      traffic_source_id: traffic_source.id,
      offer_id: offer.id,
    });
    const { api } = await createMember(here.world.company, `${name}@example.com`, {
      traffic_source_ids: [traffic_source.id],
      permissions: ['leads:read', 'calls:read'],
    });
    const get = (path: string) => api('get', path);
    return { id: traffic_source.id, token: traffic_source_token.lead_token, get };
  };
  return { offer, buyer, first: await publisher('One'), second: await publisher('Other') };
}

describe('a live lead stays with the traffic source that it came from', () => {
  test('when another source submits its number, which changes nothing', async () => {
    const { first, second } = await createRivals();
    const { body } = await send({ lead_token: second.token, ...SECRET });
    const before = await asCompany(`leads/${body.id}`);
    const refused = await send({ lead_token: first.token, email: 'x@example.com', ssn: '-' });
    expect([refused.status, refused.body.error_codes]).toEqual([422, { caller_id: ['taken'] }]);
    expect(refused.body).not.toHaveProperty('id');
    expect(await asCompany(`leads/${body.id}`)).toEqual(before);
    expect((await first.get(`leads/${body.id}`)).status).toBe(404);
    expect((await second.get(`leads/${body.id}`)).body.lead).toMatchObject({
      email: SECRET.email,
    });
  });

  test.each(['another source', 'none'])(
    'when the landing page names a source, and the lead is of %s',
    async (from) => {
      const { offer, first, second } = await createRivals();
      const { lead_token } = offer;
      const source = from === 'none' ? {} : { traffic_source_id: second.id };
      const { body } = await send({ lead_token, ...SECRET, ...source });
      const repeated = await send({ lead_token, traffic_source_id: first.id, city: 'Reno' });
      expect([repeated.status, repeated.body.id]).toEqual([200, body.id]);
      const { lead } = await asCompany(`leads/${body.id}`);
      expect([lead.traffic_source_id, lead.data.city]).toEqual([
        source.traffic_source_id ?? null,
        'Reno',
      ]);
      expect((await first.get(`leads/${body.id}`)).status).toBe(404);
    },
  );

  test('until the company itself submits it for another one', async () => {
    const { offer, first, second } = await createRivals();
    const { body } = await send({ lead_token: second.token, ...SECRET });
    await ok('post', 'leads/capture', {
      offer_id: offer.id,
      caller_id: CALLER,
      traffic_source_id: first.id,
    });
    expect((await asCompany(`leads/${body.id}`)).lead.traffic_source_id).toBe(first.id);
  });

  test('also when both submit at once: one has it, and nobody reads what the other sent', async () => {
    const { first, second } = await createRivals();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => {
        const by = n % 2 === 0 ? first : second;
        return send({ lead_token: by.token, data: { mark: `of ${by.id}` } });
      }),
    );
    const won = new Set(responses.filter(({ status }) => status < 300).map(({ body }) => body.id));
    expect(won.size).toBe(1);
    const { lead } = await asCompany(`leads/${[...won][0]}`);
    expect(lead.data.mark).toBe(`of ${lead.traffic_source_id}`);
    expect(responses.filter(({ status }) => status < 300)).toHaveLength(5);
  });
});

test('a call of another source is routed by the lead, and does not show its data', async () => {
  const { offer, buyer, first, second } = await createRivals();
  await send({ lead_token: second.token, ...SECRET });
  const call = await here.begin(offer.id, { traffic_source_id: first.id, tokens: { own: 'x' } });
  expect(dialed(call.instruction)).toEqual([buyer]);
  const shown = await first.get(`calls/${call.id}`);
  expect(shown.status).toBe(200);
  expect(shown.body.call.token_values).toEqual({ own: 'x' });
  expect(shown.text).not.toMatch(/SECRET|Victoria|victoria/);
  const ownCall = await here.begin(offer.id, { traffic_source_id: second.id });
  expect((await second.get(`calls/${ownCall.id}`)).body.call.token_values).toMatchObject({
    ssn: 'SECRET',
  });
});
