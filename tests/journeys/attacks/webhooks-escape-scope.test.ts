import { attackOnOffers, PARTNER, type Scene } from '../../support/attack-on-offers';
import { eventually } from '../../support/engine-process';
import type { Member } from '../../support/teams';

// A partner is granted one buyer and one offer, which other buyers share. Whatever the partner sets
// up to act later must neither show nor change more than the partner sees at that time.

const attack = attackOnOffers();

const createHook = async ({ api }: Member, fields: object, kind?: string) => {
  const { url, got } = attack.endpoint(kind);
  const res = await api('post', 'outgoing_webhooks', { body: { name: 'Hook', url, ...fields } });
  const listBodies = () => got().map(({ body }) => JSON.parse(body));
  return {
    status: res.status,
    errors: res.body.errors,
    id: res.body.outgoing_webhook?.id,
    bodies: listBodies,
  };
};
const toOfferOwner = ({ offer }: Scene) => ({ owner_type: 'Offer', owner_id: offer });
const toBuyerOwner = ({ mine }: Scene) => ({ owner_type: 'Buyer', owner_id: mine });

describe('outgoing webhooks', () => {
  test('of a shared offer are refused: no foreign call or lead is read', async () => {
    const scene = await attack.scene();
    const calls = await createHook(scene.partner, {
      trigger_type: 'every_call',
      ...toOfferOwner(scene),
    });
    const leads = await createHook(scene.partner, {
      trigger_type: 'new_lead_created',
      ...toOfferOwner(scene),
    });
    for (let n = 0; n < 3; n++) await attack.take(scene, 'rival');
    for (let n = 0; n < 3; n++) await attack.submit(scene.lead_token);
    await attack.settled();
    expect([calls.bodies().length, leads.bodies().length]).toEqual([0, 0]);
    expect([calls.status, leads.status]).toEqual([422, 422]);
    expect(Object.keys(calls.errors)).toEqual(['owner_id']);
  });

  test.each(['Company', 'TrafficSource', 'ScheduleAction'])(
    'of the type %s are refused to limited users',
    async (ownerType) => {
      const scene = await attack.scene();
      const owner = { owner_type: ownerType, ...(ownerType !== 'Company' && { owner_id: 1 }) };
      const webhook = await createHook(scene.partner, { trigger_type: 'every_call', ...owner });
      expect(webhook.status).toBe(422);
    },
  );

  test('of an own buyer send what the buyer paid for, without other buyers and payouts', async () => {
    const scene = await attack.scene();
    const converted = await createHook(scene.partner, {
      trigger_type: 'buyer_converted',
      ...toBuyerOwner(scene),
    });
    const ended = await createHook(scene.partner, {
      trigger_type: 'every_call',
      ...toBuyerOwner(scene),
    });
    expect([converted.status, ended.status]).toEqual([201, 201]);
    await attack.take(scene, 'rival');
    const unpaid = await attack.take(scene, 'mine', 1);
    const paid = await attack.take(scene, 'mine');
    await attack.settled();
    expect(converted.bodies().map(({ data }) => data.conversion)).toMatchObject([
      { call_id: paid, buyer_id: scene.mine, revenue: 20, payout: null },
    ]);
    expect(converted.bodies().map(({ data }) => data.call)).toMatchObject([
      { revenue: 20, payout: null, traffic_source_converted: null },
    ]);
    expect(ended.bodies().map(({ data }) => data.call.id)).toEqual([paid]);
    const shown = await scene.partner.api('get', `calls/${unpaid}`);
    expect(shown.status).toBe(404);
  });

  test('of an own buyer do not show a call that is not paid for yet', async () => {
    const scene = await attack.scene();
    const answered = await createHook(scene.partner, {
      trigger_type: 'buyer_answered',
      ...toBuyerOwner(scene),
    });
    await attack.take(scene, 'mine', 1);
    await attack.settled();
    const [{ data }] = answered.bodies() as [{ data: Record<string, unknown> }];
    expect(Object.keys(data).toSorted()).toEqual(['attempt', 'buyer']);
    expect(JSON.stringify(data)).not.toContain('of a caller');
  });

  test('do not tell by their filters what they do not show', async () => {
    const scene = await attack.scene();
    const guess = await createHook(scene.partner, {
      trigger_type: 'buyer_answered',
      record_token_filter_list: ['secret:of a caller'],
      ...toBuyerOwner(scene),
    });
    await attack.take(scene, 'mine', 1);
    await attack.settled();
    expect(guess.bodies()).toEqual([]);
  });

  test('need the permission to read what they send, when made and when sent', async () => {
    const scene = await attack.scene();
    const trigger = { trigger_type: 'buyer_converted', ...toBuyerOwner(scene) };
    const webhook = await createHook(scene.partner, trigger);
    expect(webhook.status).toBe(201);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, {
      permissions: PARTNER.filter((scope) => scope !== 'calls:read'),
    });
    await attack.take(scene, 'mine');
    await attack.settled();
    expect(webhook.bodies()).toEqual([]);
    const blind = await createHook(scene.partner, trigger);
    expect([blind.status, Object.keys(blind.errors)]).toEqual([422, ['trigger_type']]);
  });

  test.each([
    ['new_lead_created', ['leads:read']],
    ['every_call', ['calls:read', 'leads:read', 'buyers:read']],
    ['before_buyer_dialled', ['calls:read', 'buyers:read']],
    ['agent_online', ['agents:read']],
  ])('of %s need %p of a key pair', async (triggerType, needed) => {
    const { world, endpoint } = attack;
    const make = async (permissions: string[]) => {
      const auth = await world.credentials(world.company, [
        'outgoing_webhooks:create',
        ...permissions,
      ]);
      const body = { name: 'Hook', trigger_type: triggerType, url: endpoint().url };
      return (await world.company.api('post', 'outgoing_webhooks', { auth, body })).status;
    };
    expect(await make(needed)).toBe(201);
    for (const lacking of needed)
      expect(await make(needed.filter((permission) => permission !== lacking))).toBe(422);
    await world.sql('UPDATE outgoing_webhooks SET deleted_at = now() WHERE owner_type = $1', [
      'Company',
    ]);
  });

  test('that wait are not sent once the maker no longer sees their owner', async () => {
    const scene = await attack.scene();
    const webhook = await createHook(
      scene.partner,
      { trigger_type: 'buyer_converted', ...toBuyerOwner(scene) },
      'down',
    );
    await attack.take(scene, 'mine');
    await eventually(() => webhook.bodies().length === 1);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { users_emails: [] });
    attack.later(600);
    await attack.settled();
    expect(webhook.bodies()).toHaveLength(1);
    const { paused, paused_reason } = (await attack.ok('get', `outgoing_webhooks/${webhook.id}`))
      .outgoing_webhook;
    expect([paused, paused_reason]).toEqual([true, expect.stringContaining('no longer sees')]);
  });

  test('of a whole offer are allowed, and mask the buyers', async () => {
    const scene = await attack.scene(PARTNER, { buyer_ids: [] });
    const all = await createHook(scene.partner, {
      trigger_type: 'every_call',
      ...toOfferOwner(scene),
    });
    expect(all.status).toBe(201);
    await attack.take(scene, 'rival');
    await attack.settled();
    expect(all.bodies().map(({ data }) => [data.call.buyer_id, data.call.buyer])).toEqual([
      [null, null],
    ]);
    expect(JSON.stringify(all.bodies())).not.toContain('Rival');
    // The team gets a buyer: from then on it sees only a part of the offer.
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, {
      buyer_ids: [scene.mine],
    });
    await attack.take(scene, 'rival');
    await attack.settled();
    expect(all.bodies()).toHaveLength(1);
  });

  test('fired by hand show no more than the webhook may', async () => {
    const scene = await attack.scene();
    const manual = await createHook(scene.partner, {
      trigger_type: 'manual',
      ...toBuyerOwner(scene),
    });
    const [foreign, ownCall] = [
      await attack.take(scene, 'rival'),
      await attack.take(scene, 'mine'),
    ];
    const fire = (callId: number) => ({
      body: { outgoing_webhook_id: String(manual.id), call_id: String(callId) },
    });
    const byPartner = await scene.partner.api('post', 'webhook_manual_fires', fire(foreign));
    const byNetwork = await attack.world.company.api('post', 'webhook_manual_fires', fire(foreign));
    expect([byPartner.status, byNetwork.status]).toEqual([422, 422]);
    expect((await scene.partner.api('post', 'webhook_manual_fires', fire(ownCall))).status).toBe(
      201,
    );
    await attack.settled();
    expect(manual.bodies().map(({ data }) => data.call.id)).toEqual([ownCall]);
  });

  test('of the network are not shown to partners, nor their logs, and are not redirected', async () => {
    const scene = await attack.scene();
    const { url, got } = attack.endpoint();
    const { outgoing_webhook } = await attack.ok('post', 'outgoing_webhooks', {
      name: 'Network',
      trigger_type: 'buyer_answered',
      url,
      headers: { 'X-Api-Key': 'of the network' },
      ...toBuyerOwner(scene),
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
    const webhook = await createHook(scene.partner, {
      trigger_type: 'buyer_converted',
      ...toBuyerOwner(scene),
    });
    const otherScene = await attack.scene(PARTNER, { buyer_ids: [scene.mine], offer_ids: [] });
    const path = `outgoing_webhooks/${webhook.id}`;
    // A user of another team that is granted the buyer is not in the teams of the webhook.
    expect((await otherScene.partner.api('get', path)).status).toBe(404);
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
    const competing = await createHook(scene.partner, { ...ask, ...toOfferOwner(scene) }, 'veto');
    const ownHook = await createHook(scene.partner, { ...ask, ...toBuyerOwner(scene) }, 'veto');
    const call = await attack.begin(scene.offer);
    const dialed = call.instruction.dial?.map(({ buyer_id }: { buyer_id: number }) => buyer_id);
    expect([dialed, competing.status, ownHook.status]).toEqual([[scene.rival], 422, 201]);
    await attack.ok('put', `buyers/${scene.rival}`, { paused: true });
    const vetoed = await attack.begin(scene.offer);
    expect([vetoed.instruction.dial, ownHook.bodies().length]).toEqual([[], 1]);
    expect(ownHook.bodies()[0].data.call).toEqual({
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
    const ask = {
      trigger_type: 'before_buyer_dialled',
      timeout_seconds: 2,
      ...toBuyerOwner(scene),
    };
    const ownHook = await createHook(scene.partner, ask, 'veto');
    const call = await attack.begin(scene.offer);
    expect(call.instruction.dial).toMatchObject([{ buyer_id: scene.rival }]);
    expect(ownHook.bodies()).toEqual([]);
    await attack.ok('put', `buyers/${scene.rival}`, { paused: true });
    const vetoed = await attack.begin(scene.offer);
    expect(vetoed.instruction.dial).toEqual([]);
    expect(ownHook.bodies()).toMatchObject([
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
    const webhook = await createHook(scene.partner, { ...ask, ...owner }, 'veto');
    const dialed = async () =>
      (await attack.begin(scene.offer)).instruction.dial?.map(
        ({ buyer_id }: { buyer_id: number }) => buyer_id,
      );
    await attack.ok('put', `buyers/${scene.mine}`, { paused: true });
    expect([webhook.status, await dialed()]).toEqual([201, []]);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { buyer_group_ids: [] });
    expect(await dialed()).toEqual([scene.rival]);
  });
});
