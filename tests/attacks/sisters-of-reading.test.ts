import { openShop } from '../support/leads';
import { createPartner, type Partner } from '../support/partner';
import { member } from '../support/teams';
import { createWorld, type World } from '../support/world';

// What a partner reads of others' leads by asking routing, and of other buyers by its change log.

let world: World;
let setting: Partner;
beforeAll(async () => {
  world = await createWorld();
  setting = await createPartner(world);
});
afterAll(() => world.close());

test('an explanation for a partner does not tell what leads of others say', async () => {
  const { api } = world.company;
  const { partner, buyer, offer } = setting;
  await api('put', `offers/${offer}`, { body: { add_buyer_ids: [buyer] } });
  const { body } = await api('get', `offers/${offer}`);
  const caller_id = '+13105556001';
  const lead = await api('post', 'leads', {
    body: { lead_token: body.offer.lead_token, caller_id, data: { state: 'TX', income: '91234' } },
  });
  expect((await partner.api('get', `leads/${lead.body.lead.id}`)).status).toBe(404);
  const ask = async (filter: string) => {
    await partner.api('put', `buyers/${buyer}`, { body: { record_token_filter_list: [filter] } });
    const answer = await partner.api('post', 'routing/explain', {
      body: { offer_id: offer, caller_number: caller_id },
    });
    const { seed, ...decision } = answer.body.decision;
    void seed;
    return JSON.stringify(decision).replace(/"decided_at":"[^"]*"/, '');
  };
  const [right, wrong] = [await ask('income:91234'), await ask('income:11111')];
  const eligible = (text: string) => (JSON.parse(text) as { buyer_ids: number[] }).buyer_ids;
  expect(eligible(right)).toEqual(eligible(wrong));
});

test('the change log of a partner does not show other buyers of an offer', async () => {
  const { api } = world.company;
  const { offer } = await openShop(world, []);
  const rival = (
    await api('post', 'buyers', {
      body: { name: 'Rival', number: '+13105550779', user_buyer_id: 'rival-x' },
    })
  ).body.buyer.id as number;
  await api('put', `offers/${offer.id}`, { body: { add_buyer_ids: [rival] } });
  const { api: limited } = await member(world.company, 'whole@example.com', {
    permissions: ['offers:read', 'offers:update', 'offers:routing', 'change_logs:read'],
    offer_ids: [offer.id],
  });
  const shown = await limited('get', `offers/${offer.id}`);
  expect(shown.body.offer.buyer_ids).toEqual([]);
  await limited('put', `offers/${offer.id}`, { body: { buyer_ids: [] } });
  const { body } = await limited('get', 'change_logs');
  const changes = body.change_logs.map((each: { changes: object }) => each.changes);
  expect(JSON.stringify(changes)).not.toContain(`[${rival}]`);
});

test('credentials of another company beside a lead token do not allow larger bodies', async () => {
  const other = await world.addCompany('Other');
  const { offer } = await openShop(world, []);
  const answer = await other.api('post', 'leads', {
    body: {
      lead_token: offer.lead_token,
      caller_id: '+13105556010',
      data: { x: 'y'.repeat(70_000) },
    },
  });
  expect(answer.status).toBe(413);
});
