import { attackOnOffers, PARTNER, type Attack, type Scene } from '../support/attack-on-offers';
import { eventually } from '../support/engine-process';
import type { Member } from '../support/teams';

// A partner is granted one buyer and one offer, which other buyers share. Whatever the partner sets
// up to act later must neither show nor change more than the partner sees at that time.

let attack: Attack;
beforeAll(async () => {
  attack = await attackOnOffers();
});
afterAll(() => attack.close());

const hook = async ({ api }: Member, fields: object, kind?: string) => {
  const { url, got } = attack.endpoint(kind);
  const res = await api('post', 'outgoing_webhooks', { body: { name: 'Hook', url, ...fields } });
  const sent = () => got().map(({ body }) => JSON.parse(body));
  return { status: res.status, errors: res.body.errors, id: res.body.outgoing_webhook?.id, sent };
};
const ofOffer = ({ offer }: Scene) => ({ owner_type: 'Offer', owner_id: offer });
const ofBuyer = ({ mine }: Scene) => ({ owner_type: 'Buyer', owner_id: mine });

describe('outgoing webhooks', () => {
  test('of a shared offer are refused: no foreign call or lead is read', async () => {
    const scene = await attack.scene();
    const calls = await hook(scene.partner, { trigger_type: 'every_call', ...ofOffer(scene) });
    const leads = await hook(scene.partner, {
      trigger_type: 'new_lead_created',
      ...ofOffer(scene),
    });
    for (let n = 0; n < 3; n++) await attack.take(scene, 'rival');
    for (let n = 0; n < 3; n++) await attack.submit(scene.lead_token);
    await attack.settled();
    expect([calls.sent().length, leads.sent().length]).toEqual([0, 0]);
    expect([calls.status, leads.status]).toEqual([422, 422]);
    expect(Object.keys(calls.errors)).toEqual(['owner_id']);
  });

  test.each(['Company', 'TrafficSource', 'ScheduleAction'])(
    'of the type %s are refused to limited users',
    async (owner_type) => {
      const scene = await attack.scene();
      const owner = { owner_type, ...(owner_type !== 'Company' && { owner_id: 1 }) };
      const made = await hook(scene.partner, { trigger_type: 'every_call', ...owner });
      expect(made.status).toBe(422);
    },
  );

  test('of an own buyer send what the buyer paid for, without other buyers and payouts', async () => {
    const scene = await attack.scene();
    const converted = await hook(scene.partner, {
      trigger_type: 'buyer_converted',
      ...ofBuyer(scene),
    });
    const ended = await hook(scene.partner, { trigger_type: 'every_call', ...ofBuyer(scene) });
    expect([converted.status, ended.status]).toEqual([201, 201]);
    await attack.take(scene, 'rival');
    const unpaid = await attack.take(scene, 'mine', 1);
    const paid = await attack.take(scene, 'mine');
    await attack.settled();
    expect(converted.sent().map(({ data }) => data.conversion)).toMatchObject([
      { call_id: paid, buyer_id: scene.mine, revenue: 20, payout: null },
    ]);
    expect(converted.sent().map(({ data }) => data.call)).toMatchObject([
      { revenue: 20, payout: null, traffic_source_converted: null },
    ]);
    expect(ended.sent().map(({ data }) => data.call.id)).toEqual([paid]);
    const seen = await scene.partner.api('get', `calls/${unpaid}`);
    expect(seen.status).toBe(404);
  });

  test('of an own buyer do not show a call that is not paid for yet', async () => {
    const scene = await attack.scene();
    const answered = await hook(scene.partner, {
      trigger_type: 'buyer_answered',
      ...ofBuyer(scene),
    });
    await attack.take(scene, 'mine', 1);
    await attack.settled();
    const [{ data }] = answered.sent() as [{ data: Record<string, unknown> }];
    expect(Object.keys(data).toSorted()).toEqual(['attempt', 'buyer']);
    expect(JSON.stringify(data)).not.toContain('of a caller');
  });

  test('do not tell by their filters what they do not show', async () => {
    const scene = await attack.scene();
    const guess = await hook(scene.partner, {
      trigger_type: 'buyer_answered',
      record_token_filter_list: ['secret:of a caller'],
      ...ofBuyer(scene),
    });
    await attack.take(scene, 'mine', 1);
    await attack.settled();
    expect(guess.sent()).toEqual([]);
  });

  test('need the permission to read what they send, when made and when sent', async () => {
    const scene = await attack.scene();
    const trigger = { trigger_type: 'buyer_converted', ...ofBuyer(scene) };
    const made = await hook(scene.partner, trigger);
    expect(made.status).toBe(201);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, {
      permissions: PARTNER.filter((scope) => scope !== 'calls:read'),
    });
    await attack.take(scene, 'mine');
    await attack.settled();
    expect(made.sent()).toEqual([]);
    const blind = await hook(scene.partner, trigger);
    expect([blind.status, Object.keys(blind.errors)]).toEqual([422, ['trigger_type']]);
  });

  test.each([
    ['new_lead_created', ['leads:read']],
    ['every_call', ['calls:read', 'leads:read', 'buyers:read']],
    ['before_buyer_dialled', ['calls:read', 'buyers:read']],
    ['agent_online', ['agents:read']],
  ])('of %s need %p of a key pair', async (trigger_type, needed) => {
    const { world, endpoint } = attack;
    const make = async (permissions: string[]) => {
      const auth = await world.credentials(world.company, [
        'outgoing_webhooks:create',
        ...permissions,
      ]);
      const body = { name: 'Hook', trigger_type, url: endpoint().url };
      return (await world.company.api('post', 'outgoing_webhooks', { auth, body })).status;
    };
    expect(await make(needed)).toBe(201);
    for (const lacking of needed)
      expect(await make(needed.filter((each) => each !== lacking))).toBe(422);
    await world.sql('UPDATE outgoing_webhooks SET deleted_at = now() WHERE owner_type = $1', [
      'Company',
    ]);
  });

  test('that wait are not sent once the maker no longer sees their owner', async () => {
    const scene = await attack.scene();
    const made = await hook(
      scene.partner,
      { trigger_type: 'buyer_converted', ...ofBuyer(scene) },
      'down',
    );
    await attack.take(scene, 'mine');
    await eventually(() => made.sent().length === 1);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { users_emails: [] });
    attack.later(600);
    await attack.settled();
    expect(made.sent()).toHaveLength(1);
    const { paused, paused_reason } = (await attack.ok('get', `outgoing_webhooks/${made.id}`))
      .outgoing_webhook;
    expect([paused, paused_reason]).toEqual([true, expect.stringContaining('no longer sees')]);
  });

  test('of a whole offer are allowed, and mask the buyers', async () => {
    const scene = await attack.scene(PARTNER, { buyer_ids: [] });
    const all = await hook(scene.partner, { trigger_type: 'every_call', ...ofOffer(scene) });
    expect(all.status).toBe(201);
    await attack.take(scene, 'rival');
    await attack.settled();
    expect(all.sent().map(({ data }) => [data.call.buyer_id, data.call.buyer])).toEqual([
      [null, null],
    ]);
    expect(JSON.stringify(all.sent())).not.toContain('Rival');
    // The team gets a buyer: from then on it sees only a part of the offer.
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, {
      buyer_ids: [scene.mine],
    });
    await attack.take(scene, 'rival');
    await attack.settled();
    expect(all.sent()).toHaveLength(1);
  });

  test('fired by hand show no more than the webhook may', async () => {
    const scene = await attack.scene();
    const manual = await hook(scene.partner, { trigger_type: 'manual', ...ofBuyer(scene) });
    const [foreign, own] = [await attack.take(scene, 'rival'), await attack.take(scene, 'mine')];
    const fire = (call_id: number) => ({
      body: { outgoing_webhook_id: String(manual.id), call_id: String(call_id) },
    });
    const by_partner = await scene.partner.api('post', 'webhook_manual_fires', fire(foreign));
    const by_network = await attack.world.company.api(
      'post',
      'webhook_manual_fires',
      fire(foreign),
    );
    expect([by_partner.status, by_network.status]).toEqual([422, 422]);
    expect((await scene.partner.api('post', 'webhook_manual_fires', fire(own))).status).toBe(201);
    await attack.settled();
    expect(manual.sent().map(({ data }) => data.call.id)).toEqual([own]);
  });

  test('of the network are not shown to partners, nor their logs, and are not redirected', async () => {
    const scene = await attack.scene();
    const { url, got } = attack.endpoint();
    const { outgoing_webhook } = await attack.ok('post', 'outgoing_webhooks', {
      name: 'Network',
      trigger_type: 'buyer_answered',
      url,
      headers: { 'X-Api-Key': 'of the network' },
      ...ofBuyer(scene),
    });
    await attack.take(scene, 'mine');
    await attack.settled();
    expect(got()).toHaveLength(1);
    const logs = await scene.partner.api('get', 'webhook_logs');
    expect(logs.body.metadata.total_count).toBe(0);
    const path = `outgoing_webhooks/${outgoing_webhook.id}`;
    expect((await scene.partner.api('get', path)).status).toBe(404);
    const mine = attack.endpoint();
    const moved = await scene.partner.api('put', path, { body: { url: mine.url } });
    await attack.take(scene, 'mine');
    await attack.settled();
    expect([moved.status, mine.got().length]).toEqual([404, 0]);
  });

  test('keep to the scope of who changed them last', async () => {
    const scene = await attack.scene();
    const made = await hook(scene.partner, { trigger_type: 'buyer_converted', ...ofBuyer(scene) });
    const other = await attack.scene(PARTNER, { buyer_ids: [scene.mine], offer_ids: [] });
    const path = `outgoing_webhooks/${made.id}`;
    // A user of another team that is granted the buyer is not in the teams of the webhook.
    expect((await other.partner.api('get', path)).status).toBe(404);
    // A webhook that the network changes keeps its maker.
    await attack.ok('put', path, { name: 'Renamed' });
    expect((await attack.ok('get', path)).outgoing_webhook.maker_user_id).toEqual(
      expect.any(Number),
    );
  });
});

describe('vetoes', () => {
  test('of a partner reach own buyers alone, and hear nothing of the call', async () => {
    const scene = await attack.scene();
    const ask = { trigger_type: 'before_buyer_dialled', timeout_seconds: 2 };
    const competing = await hook(scene.partner, { ...ask, ...ofOffer(scene) }, 'veto');
    const own = await hook(scene.partner, { ...ask, ...ofBuyer(scene) }, 'veto');
    const call = await attack.begin(scene.offer);
    const dialed = call.instruction.dial?.map(({ buyer_id }: { buyer_id: number }) => buyer_id);
    expect([dialed, competing.status, own.status]).toEqual([[scene.rival], 422, 201]);
    await attack.ok('put', `buyers/${scene.rival}`, { paused: true });
    const vetoed = await attack.begin(scene.offer);
    expect([vetoed.instruction.dial, own.sent().length]).toEqual([[], 1]);
    expect(own.sent()[0].data.call).toEqual({
      uuid: vetoed.uuid,
      caller_number: null,
      number_called: null,
      offer_id: null,
      lead_id: null,
      traffic_source_id: null,
      token_values: {},
    });
  });

  test('of who sees the whole offer hear of its calls, and reach own buyers alone', async () => {
    const scene = await attack.scene();
    await attack.ok('post', 'access_control_lists', {
      name: 'Whole offer',
      users_emails: [scene.partner.email],
      permissions: ['calls:read', 'leads:read'],
      offer_ids: [scene.offer],
    });
    const ask = { trigger_type: 'before_buyer_dialled', timeout_seconds: 2, ...ofBuyer(scene) };
    const own = await hook(scene.partner, ask, 'veto');
    const call = await attack.begin(scene.offer);
    expect(call.instruction.dial).toMatchObject([{ buyer_id: scene.rival }]);
    expect(own.sent()).toEqual([]);
    await attack.ok('put', `buyers/${scene.rival}`, { paused: true });
    const vetoed = await attack.begin(scene.offer);
    expect(vetoed.instruction.dial).toEqual([]);
    expect(own.sent()).toMatchObject([
      { data: { call: { offer_id: scene.offer, token_values: { secret: 'of a caller' } } } },
    ]);
  });

  test('of a group reach the buyers that the partner still sees', async () => {
    const scene = await attack.scene();
    const { buyer_group } = await attack.ok('post', 'buyer_groups', {
      name: 'Ours',
      buyer_ids: [scene.rival],
    });
    await attack.ok('put', `offers/${scene.offer}`, { buyer_group_ids: [buyer_group.id] });
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, {
      buyer_group_ids: [buyer_group.id],
    });
    const ask = { trigger_type: 'before_buyer_dialled', timeout_seconds: 2 };
    const owner = { owner_type: 'BuyerGroup', owner_id: buyer_group.id };
    const made = await hook(scene.partner, { ...ask, ...owner }, 'veto');
    const dialed = async () =>
      (await attack.begin(scene.offer)).instruction.dial?.map(
        ({ buyer_id }: { buyer_id: number }) => buyer_id,
      );
    await attack.ok('put', `buyers/${scene.mine}`, { paused: true });
    expect([made.status, await dialed()]).toEqual([201, []]);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { buyer_group_ids: [] });
    expect(await dialed()).toEqual([scene.rival]);
  });
});
