import { openShop } from '../../support/leads';
import { createPartner, type Partner } from '../../support/partner';
import { createMember } from '../../support/teams';
import { useWorld } from '../../support/use-world';

// Attempts of limited users to act and read beyond their records: with their own token and a public
// lead token, by asking routing, and by the log of their own changes.

const world = useWorld();
const { create, api } = world;
let setting: Partner;
beforeAll(async () => {
  setting = await createPartner(world);
});

const LEADS = ['leads:read', 'leads:update', 'leads:create'];
let n = 0;
const newNumber = () => `+1310555${String(2000 + n++)}`;

async function createScene(permissions = LEADS) {
  const [granted, other] = [await openShop(world, []), await openShop(world, [])];
  const email = `eve${n++}@example.com`;
  const { api: limited } = await createMember(world.company, email, {
    permissions,
    offer_ids: [granted.offer.id],
  });
  return { granted, other, limited, api: world.company.api };
}

const findContact = async (callerId: string) =>
  (await api('get', 'contacts', { query: { caller_id: callerId } })).body.contacts[0];

test.each(['granted', 'other'] as const)(
  'a limited user does not lift the block of the company with a lead token (%s offer)',
  async (which) => {
    const { [which]: shop, limited, api } = await createScene();
    const callerId = newNumber();
    await api('post', 'contacts/caller_block', { body: { caller_ids: [callerId] } });
    const answer = await limited('post', 'leads', {
      body: { lead_token: shop.offer.lead_token, caller_id: callerId, unblock_contact: true },
    });
    expect([answer.status, (await findContact(callerId)).blocked]).toEqual([422, true]);
  },
);

test('capture: a limited user does not lift a block', async () => {
  const { granted, limited, api } = await createScene();
  const callerId = newNumber();
  await api('post', 'contacts/caller_block', { body: { caller_ids: [callerId] } });
  const answer = await limited('post', 'leads/capture', {
    body: { offer_id: granted.offer.id, caller_id: callerId, unblock_contact: true },
  });
  expect([answer.status, (await findContact(callerId)).blocked]).toEqual([422, true]);
});

test('a limited user does not opt a number in, or out, for the whole company', async () => {
  const { granted, other, limited, api } = await createScene();
  const callerId = newNumber();
  await api('post', 'leads', { body: { lead_token: other.offer.lead_token, caller_id: callerId } });
  const created = await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id: callerId },
  });
  const id = created.body.lead.id as number;
  await api('put', `leads/${callerId}/caller_opt_out`, {
    auth: null,
    query: { lead_token: other.offer.lead_token },
  });
  await api('put', `leads/${id}`, { body: { opt_out: true } });
  expect((await findContact(callerId)).opt_out).toBe(true);
  const optedIn = await limited('put', `leads/${id}`, { body: { opt_out: false } });
  const { opt_out, opt_out_offer_ids } = await findContact(callerId);
  expect([optedIn.status, opt_out, opt_out_offer_ids]).toEqual([422, true, [other.offer.id]]);
});

test('powers that lead tokens have lost are not given back by the token of a limited user', async () => {
  const { other, limited, api } = await createScene();
  const callerId = newNumber();
  await api('post', 'leads', { body: { lead_token: other.offer.lead_token, caller_id: callerId } });
  await api('put', `offers/${other.offer.id}`, { body: { lead_token_powers: ['submit'] } });
  const query = { lead_token: other.offer.lead_token };
  const anonymous = await api('post', `leads/${callerId}/caller_remove`, { auth: null, query });
  const removed = await limited('post', `leads/${callerId}/caller_remove`, { query });
  const replaced = await limited('post', 'leads', {
    query: { ...query, caller_id: callerId, delete_existing: true },
  });
  expect([anonymous.status, removed.status, replaced.status]).toEqual([403, 403, 403]);
});

test('the log of a limited user’s changes tells nothing of leads that the user does not see', async () => {
  const { other, limited, api } = await createScene([...LEADS, 'change_logs:read']);
  const callerId = newNumber();
  await api('post', 'leads', {
    body: {
      lead_token: other.offer.lead_token,
      caller_id: callerId,
      email: 'ann.secret@example.com',
      data: { first_name: 'Annabel' },
    },
  });
  await limited('post', 'leads', {
    body: {
      lead_token: other.offer.lead_token,
      caller_id: callerId,
      email: 'x@example.com',
      data: { first_name: 'x' },
      update_all_matching_leads: true,
    },
  });
  await limited('put', `leads/${callerId}/caller_opt_out`, {
    query: { lead_token: other.offer.lead_token },
  });
  const { body } = await limited('get', 'change_logs');
  const text = JSON.stringify(body);
  expect([text.includes('ann.secret'), text.includes('Annabel')]).toEqual([false, false]);
  const [entry] = body.change_logs.filter(({ changes }: { changes: object }) => 'email' in changes);
  // Which columns were overwritten is known nevertheless.
  expect(entry.changes).toMatchObject({
    email: { from: null, to: null },
    data: { from: {}, to: {} },
    update_all_matching_leads: { from: null, to: true },
  });
});

test('a limited user sees no more of a lead by POST /leads than by GET', async () => {
  const { granted, limited, api } = await createScene([...LEADS, 'offers:read']);
  const callerId = newNumber();
  const buyer = (
    await api('post', 'buyers', {
      body: { name: 'Rival', number: '+13105550778', user_buyer_id: 'rival1' },
    })
  ).body.buyer.id as number;
  const created = await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id: callerId },
  });
  const id = created.body.lead.id as number;
  await world.sql('UPDATE leads SET buyer_id = $1, buyer_converted = true WHERE id = $2', [
    buyer,
    id,
  ]);
  const got = (await limited('get', `leads/${id}`)).body.lead;
  const posted = (
    await limited('post', 'leads', {
      body: { lead_token: granted.offer.lead_token, caller_id: callerId },
    })
  ).body.lead;
  const captured = (
    await limited('post', 'leads/capture', {
      body: { offer_id: granted.offer.id, caller_id: callerId },
    })
  ).body.lead;
  const differ = (a: Record<string, unknown>) =>
    Object.keys(got).filter(
      (key) =>
        !/updated|checksum|submit|_at$|_ago/.test(key) &&
        JSON.stringify(a[key]) !== JSON.stringify(got[key]),
    );
  expect([differ(posted), differ(captured), posted.buyer_id]).toEqual([[], [], got.buyer_id]);
});

test('an explanation for a partner does not tell what leads of others say', async () => {
  const { partner, buyer, offer } = setting;
  await api('put', `offers/${offer}`, { body: { add_buyer_ids: [buyer] } });
  const { body } = await api('get', `offers/${offer}`);
  const callerId = '+13105556001';
  const lead = await api('post', 'leads', {
    body: {
      lead_token: body.offer.lead_token,
      caller_id: callerId,
      data: { state: 'TX', income: '91234' },
    },
  });
  expect((await partner.api('get', `leads/${lead.body.lead.id}`)).status).toBe(404);
  const ask = async (filter: string) => {
    await partner.api('put', `buyers/${buyer}`, { body: { record_token_filter_list: [filter] } });
    const answer = await partner.api('post', 'routing/explain', {
      body: { offer_id: offer, caller_number: callerId },
    });
    const { seed, ...decision } = answer.body.decision;
    void seed;
    return JSON.stringify(decision).replace(/"decided_at":"[^"]*"/, '');
  };
  const [right, wrong] = [await ask('income:91234'), await ask('income:11111')];
  const eligible = (text: string) => (JSON.parse(text) as { buyer_ids: number[] }).buyer_ids;
  expect(eligible(right)).toEqual(eligible(wrong));
});

test('the log of a partner’s changes does not show other buyers of an offer', async () => {
  const { offer } = await openShop(world, []);
  const rival = (await create('buyers', {
    name: 'Rival',
    number: '+13105550779',
    user_buyer_id: 'rival-x',
  })) as number;
  await api('put', `offers/${offer.id}`, { body: { add_buyer_ids: [rival] } });
  const { api: limited } = await createMember(world.company, 'whole@example.com', {
    permissions: ['offers:read', 'offers:update', 'offers:routing', 'change_logs:read'],
    offer_ids: [offer.id],
  });
  const shown = await limited('get', `offers/${offer.id}`);
  expect(shown.body.offer.buyer_ids).toEqual([]);
  await limited('put', `offers/${offer.id}`, { body: { buyer_ids: [] } });
  const { body } = await limited('get', 'change_logs');
  const changes = body.change_logs.map((entry: { changes: object }) => entry.changes);
  expect(JSON.stringify(changes)).not.toContain(`[${rival}]`);
});

test('nor does it where the partner adds a buyer beside them; the company reads all of it', async () => {
  const { partner, buyer, offer } = setting;
  const rival = (await create('buyers', { name: 'Rival', number: '+13105550780' })) as number;
  await api('put', `offers/${offer}`, { body: { buyer_ids: [rival] } });
  const added = await partner.api('put', `offers/${offer}`, { body: { add_buyer_ids: [buyer] } });
  expect(added.status).toBe(200);
  const logged = async (reader: typeof api) =>
    (await reader('get', 'change_logs', { query: { order_dir: 'desc' } })).body.change_logs[0]
      .changes.buyer_ids;
  expect(await logged(partner.api)).toEqual({ from: [], to: [buyer] });
  expect((await logged(api)).from).toEqual([rival]);
  const { body } = await api('get', `offers/${offer}`);
  expect(new Set(body.offer.buyer_ids)).toEqual(new Set([rival, buyer]));
});

test('a limited user keeps the powers of a team that may change what is the company’s', async () => {
  const { granted, limited, api } = await createScene([...LEADS, 'company_wide:update']);
  const callerId = newNumber();
  const created = await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id: callerId },
  });
  await api('post', 'contacts/caller_block', { body: { caller_ids: [callerId] } });
  const unblocked = await limited('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id: callerId, unblock_contact: true },
  });
  const optedOut = await limited('put', `leads/${created.body.lead.id}`, {
    body: { opt_out: true },
  });
  const { blocked, opt_out } = await findContact(callerId);
  expect([unblocked.status, optedOut.status, blocked, opt_out]).toEqual([200, 200, false, true]);
});

test('routing is explained with the data of a lead that the user reads', async () => {
  const { granted, limited, api } = await createScene([...LEADS, 'calls:read']);
  const callerId = newNumber();
  const created = await api('post', 'buyers', {
    body: { name: 'Picky', number: '+13105550781', record_token_filter_list: ['income:91234'] },
  });
  const buyerIds = [created.body.buyer.id as number];
  await api('put', `offers/${granted.offer.id}`, { body: { add_buyer_ids: buyerIds } });
  await api('post', 'leads', {
    body: { lead_token: granted.offer.lead_token, caller_id: callerId, data: { income: '91234' } },
  });
  const explained = await limited('post', 'routing/explain', {
    body: { offer_id: granted.offer.id, caller_number: callerId },
  });
  const whole = await api('post', 'routing/explain', {
    body: { offer_id: granted.offer.id, caller_number: callerId },
  });
  expect([explained.body.decision.action, whole.body.decision.action]).toEqual(['dial', 'dial']);
});
