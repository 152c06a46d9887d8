import { openShop } from '../support/leads';
import { member } from '../support/teams';
import { createWorld, type World } from '../support/world';

// Sisters of known attacks, between the defences: a limited user's token beside a public lead token.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const LEADS = ['leads:read', 'leads:update', 'leads:create'];
let n = 0;
const newNumber = () => `+1310555${String(2000 + n++)}`;

async function scene(permissions = LEADS) {
  const [granted, other] = [await openShop(world, []), await openShop(world, [])];
  const email = `eve${n++}@example.com`;
  const { api: limited } = await member(world.company, email, {
    permissions,
    offer_ids: [granted.offer.id],
  });
  return { granted, other, limited, api: world.company.api };
}

const contactOf = async (caller_id: string) =>
  (await world.company.api('get', 'contacts', { query: { caller_id } })).body.contacts[0];

test.each(['granted', 'other'] as const)(
  'a limited user does not lift the block of the company with a lead token (%s offer)',
  async (which) => {
    const { [which]: shop, limited, api } = await scene();
    const caller_id = newNumber();
    await api('post', 'contacts/caller_block', { body: { caller_ids: [caller_id] } });
    const answer = await limited('post', 'leads', {
      body: { lead_token: shop.offer.lead_token, caller_id, unblock_contact: true },
    });
    expect([answer.status, (await contactOf(caller_id)).blocked]).toEqual([422, true]);
  },
);

test('capture: a limited user does not lift a block', async () => {
  const { granted, limited, api } = await scene();
  const caller_id = newNumber();
  await api('post', 'contacts/caller_block', { body: { caller_ids: [caller_id] } });
  const answer = await limited('post', 'leads/capture', {
    body: { offer_id: granted.offer.id, caller_id, unblock_contact: true },
  });
  expect([answer.status, (await contactOf(caller_id)).blocked]).toEqual([422, true]);
});

test('a limited user does not opt a number in, or out, for the whole company', async () => {
  const { granted, other, limited, api } = await scene();
  const caller_id = newNumber();
  await api('post', 'leads', { body: { lead_token: other.offer.lead_token, caller_id } });
  const made = await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id },
  });
  const id = made.body.lead.id as number;
  await api('put', `leads/${caller_id}/caller_opt_out`, {
    auth: null,
    query: { lead_token: other.offer.lead_token },
  });
  await api('put', `leads/${id}`, { body: { opt_out: true } });
  expect((await contactOf(caller_id)).opt_out).toBe(true);
  const opted_in = await limited('put', `leads/${id}`, { body: { opt_out: false } });
  const { opt_out, opt_out_offer_ids } = await contactOf(caller_id);
  expect([opted_in.status, opt_out, opt_out_offer_ids]).toEqual([422, true, [other.offer.id]]);
});

test('powers that a company takes from lead tokens are not given back by a token of a limited user', async () => {
  const { other, limited, api } = await scene();
  const caller_id = newNumber();
  await api('post', 'leads', { body: { lead_token: other.offer.lead_token, caller_id } });
  await api('put', `offers/${other.offer.id}`, { body: { lead_token_powers: ['submit'] } });
  const query = { lead_token: other.offer.lead_token };
  const anonymous = await api('post', `leads/${caller_id}/caller_remove`, { auth: null, query });
  const removed = await limited('post', `leads/${caller_id}/caller_remove`, { query });
  const replaced = await limited('post', 'leads', {
    query: { ...query, caller_id, delete_existing: true },
  });
  expect([anonymous.status, removed.status, replaced.status]).toEqual([403, 403, 403]);
});

test('the change log of a limited user shows nothing of leads that the user does not see', async () => {
  const { other, limited, api } = await scene([...LEADS, 'change_logs:read']);
  const caller_id = newNumber();
  await api('post', 'leads', {
    body: {
      lead_token: other.offer.lead_token,
      caller_id,
      email: 'ann.secret@example.com',
      data: { first_name: 'Annabel' },
    },
  });
  await limited('post', 'leads', {
    body: {
      lead_token: other.offer.lead_token,
      caller_id,
      email: 'x@example.com',
      data: { first_name: 'x' },
      update_all_matching_leads: true,
    },
  });
  const { body } = await limited('get', 'change_logs');
  const text = JSON.stringify(body);
  expect([text.includes('ann.secret'), text.includes('Annabel')]).toEqual([false, false]);
});

test('a limited user sees no more of a lead by POST /leads than by GET', async () => {
  const { granted, limited, api } = await scene([...LEADS, 'offers:read']);
  const caller_id = newNumber();
  const buyer = (
    await api('post', 'buyers', {
      body: { name: 'Rival', number: '+13105550778', user_buyer_id: 'rival1' },
    })
  ).body.buyer.id as number;
  const made = await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id },
  });
  const id = made.body.lead.id as number;
  await world.sql('UPDATE leads SET buyer_id = $1, buyer_converted = true WHERE id = $2', [
    buyer,
    id,
  ]);
  const got = (await limited('get', `leads/${id}`)).body.lead;
  const posted = (
    await limited('post', 'leads', { body: { lead_token: granted.offer.lead_token, caller_id } })
  ).body.lead;
  const captured = (
    await limited('post', 'leads/capture', { body: { offer_id: granted.offer.id, caller_id } })
  ).body.lead;
  const differ = (a: Record<string, unknown>) =>
    Object.keys(got).filter(
      (key) =>
        !/updated|checksum|submit|_at$|_ago/.test(key) &&
        JSON.stringify(a[key]) !== JSON.stringify(got[key]),
    );
  expect([differ(posted), differ(captured), posted.buyer_id]).toEqual([[], [], got.buyer_id]);
});
