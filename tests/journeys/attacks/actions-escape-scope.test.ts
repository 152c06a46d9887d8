import { attackOnOffers, PARTNER, type Scene } from '../../support/attack-on-offers';

// Schedule actions and sellers' endpoints stay within the access scope of the user who made them.

const attack = attackOnOffers();

describe('schedule actions', () => {
  const action = (scene: Scene, url: string) =>
    scene.partner.api('post', 'schedule_actions', {
      body: { schedule_id: scene.schedule, action_type: 'webhook', url },
    });

  test('of a shared offer are refused without a permission; no lead is sent', async () => {
    const scene = await attack.scene();
    const { url, got } = attack.endpoint();
    const response = await action(scene, url);
    for (let n = 0; n < 3; n++) await attack.submit(scene.schedule_token);
    await attack.outreach();
    expect([response.status, got().length]).toEqual([403, 0]);
  });

  test('that send leads need the permission to read leads', async () => {
    const scene = await attack.scene();
    const { world, endpoint } = attack;
    const make = async (permissions: string[]) => {
      const auth = await world.credentials(world.company, permissions);
      const body = { schedule_id: scene.schedule, action_type: 'webhook', url: endpoint().url };
      return (await world.company.api('post', 'schedule_actions', { auth, body })).status;
    };
    expect(await make(['schedule_actions:create'])).toBe(422);
    expect(await make(['schedule_actions:create', 'leads:read'])).toBe(201);
  });

  test('that a permission allows send no lead that the maker does not see', async () => {
    const scene = await attack.scene([...PARTNER, 'company_wide:update']);
    const { url, got } = attack.endpoint();
    expect((await action(scene, url)).status).toBe(201);
    await attack.submit(scene.schedule_token);
    await attack.outreach();
    expect(got()).toHaveLength(0);
    const failed = await attack.world.sql<{ message: string }>(
      `SELECT message FROM lead_logs WHERE event = 'webhook_failed'`,
    );
    expect(failed.at(-1)!.message).toContain('refused_scope');
  });

  test('of a whole offer send its leads, until the maker leaves the team', async () => {
    const scene = await attack.scene(PARTNER, { buyer_ids: [] });
    const { url, got } = attack.endpoint();
    expect((await action(scene, url)).status).toBe(201);
    await attack.submit(scene.schedule_token);
    await attack.outreach();
    expect(got()).toHaveLength(1);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { users_emails: [] });
    await attack.submit(scene.schedule_token);
    await attack.outreach();
    expect(got()).toHaveLength(1);
  });

  test('of the network do not show their addresses and secrets', async () => {
    const scene = await attack.scene();
    const { schedule_action } = await attack.ok('post', 'schedule_actions', {
      schedule_id: scene.schedule,
      action_type: 'webhook',
      url: attack.endpoint().url,
      headers: { 'X-Api-Key': 'of the network' },
    });
    const path = `schedule_actions/${schedule_action.id}`;
    expect((await scene.partner.api('get', path)).status).toBe(404);
    const moved = await scene.partner.api('put', path, { body: { url: attack.endpoint().url } });
    expect(moved.status).toBe(404);
  });
});

describe("sellers' endpoints", () => {
  const createEndpoint = async (scene: Scene) => {
    const vanityUri = `door-${scene.offer}`;
    const res = await scene.partner.api('post', 'inbound_webhooks', {
      body: { name: 'Door', vanity_uri: vanityUri, offer_id: scene.offer, has_auth_token: false },
    });
    return { status: res.status, vanity_uri: vanityUri, id: res.body.inbound_webhook?.id };
  };
  let callers = 0;
  const ping = async (vanityUri: string) => {
    const body = { caller_id: `+1310559${1000 + ++callers}` };
    const path = `inbound_webhooks/ping/${vanityUri}`;
    const res = await attack.world.company.api('post', path, { auth: null, body });
    return (res.body.buyers ?? []).map(({ buyer_id }: { buyer_id: number }) => buyer_id);
  };

  test('of a partner sell to the buyers that the partner sees', async () => {
    const scene = await attack.scene();
    const { vanity_uri, status } = await createEndpoint(scene);
    expect([status, await ping(vanity_uri)]).toEqual([201, [scene.mine]]);
    await attack.ok('put', `access_control_lists/${scene.partner.team}`, { offer_ids: [] });
    expect(await ping(vanity_uri)).toEqual([]);
  });

  test('of the network are not shown to partners, who could change them', async () => {
    const scene = await attack.scene();
    const { inbound_webhook } = await attack.ok('post', 'inbound_webhooks', {
      name: 'Network',
      vanity_uri: `network-${scene.offer}`,
      offer_id: scene.offer,
    });
    const changed = await scene.partner.api('put', `inbound_webhooks/${inbound_webhook.id}`, {
      body: { reset_auth_token: true },
    });
    expect(changed.status).toBe(404);
  });
});
