import { contract, type Operation } from '../../../src/platform/contract/contract';
import { attackOnOffers, type Scene } from '../../support/attack-on-offers';
import { findTable } from '../../support/example-bodies';

// Derived from openapi.yaml: every resource whose records act later. One that is not named here, or
// in the contract, makes a test fail.

const attack = attackOnOffers();

/** Operations of limited users whose records act at once, and not later by themselves. */
const IMMEDIATE = new Set([
  'createBuyer', // gets calls by what the offers of the company say
  'createBuyerGroup',
  'createBuyerSuppression',
  'createBuyerSuppressionFile', // the import does what the request asked for
  'createOffer',
  'createTrafficSource',
  'createPhoneNumber',
  'createSchedule', // acts by its actions
  'createCallCenter',
  'createAgentStatus',
  'createDisposition',
  'createTrunk',
  'createSwitch', // gets commands about calls, which limited users do not see
  'createAgent',
  'createAgentMessage',
  'createWebhookManualFire', // sends at once, with what the webhook may show
  'createAccessToken', // a token of a user gives what the user's teams allow at the time
  'createValueList',
  'createZipList',
  'createAccountEntry',
  'createStatement',
  'createTrafficSourceToken', // submits for its source, until it is revoked
  'createAlertRule', // tells who sees the whole company, which limited users do not
]);

interface Acting {
  /** Creates a record as a limited user, and returns its id. */
  make(scene: Scene): Promise<number>;
  /** Makes it act, and returns whether it did. */
  acts(scene: Scene): Promise<boolean>;
}

let callers = 0;
const urls = new Map<number, () => unknown[]>();

const ACTING: Record<string, Acting> = {
  createOutgoingWebhook: {
    make: async ({ partner, mine }) => {
      const { url, got } = attack.endpoint();
      const owner = { owner_type: 'Buyer', owner_id: mine };
      const res = await partner.api('post', 'outgoing_webhooks', {
        body: { name: 'Hook', trigger_type: 'buyer_converted', url, ...owner },
      });
      urls.set(mine, got);
      return res.body.outgoing_webhook.id;
    },
    acts: async (scene) => {
      const got = urls.get(scene.mine)!;
      const before = got().length;
      await attack.take(scene, 'mine');
      await attack.settled();
      return got().length > before;
    },
  },
  createScheduleAction: {
    make: async ({ partner, schedule }) => {
      const { url, got } = attack.endpoint();
      const res = await partner.api('post', 'schedule_actions', {
        body: { schedule_id: schedule, action_type: 'webhook', url },
      });
      urls.set(schedule, got);
      return res.body.schedule_action.id;
    },
    acts: async ({ schedule, schedule_token }) => {
      const got = urls.get(schedule)!;
      const before = got().length;
      await attack.submit(schedule_token);
      await attack.outreach();
      return got().length > before;
    },
  },
  createInboundWebhook: {
    make: async ({ partner, offer }) => {
      const body = { name: 'Door', vanity_uri: `door-${offer}`, offer_id: offer };
      const res = await partner.api('post', 'inbound_webhooks', {
        body: { ...body, has_auth_token: false },
      });
      return res.body.inbound_webhook.id;
    },
    acts: async ({ offer }) => {
      const res = await attack.world.company.api('post', `inbound_webhooks/ping/door-${offer}`, {
        auth: null,
        body: { caller_id: `+1310559${1000 + ++callers}` },
      });
      return (res.body.buyers ?? []).length > 0;
    },
  },
};

const creates = contract.operations.filter(
  ({ method, path, credentials, unlimited }) =>
    method === 'post' && path.split('/').length === 4 && credentials === 'account' && !unlimited,
);
const acting = creates.filter((operation) => operation.acts_later);
const listIds = (operations: Operation[]) => operations.map(({ id }) => id as string);

test('every record that a limited user creates is known to act at once or later', () => {
  expect(listIds(creates.filter(({ acts_later }) => !acts_later)).toSorted()).toEqual(
    [...IMMEDIATE].toSorted(),
  );
  expect(listIds(acting).toSorted()).toEqual(Object.keys(ACTING).toSorted());
  const resources = new Set(acting.map(({ path }) => path));
  const updates = contract.operations.filter(
    ({ method, path }) => method === 'put' && resources.has(path.replace(/\/\{id\}$/, '')),
  );
  expect(updates.filter(({ acts_later }) => !acts_later)).toEqual([]);
  expect(updates).toHaveLength(acting.length);
});

/** The partner sees the whole offer where its records act only then, else the buyer alone. */
const createScene = (id: string) =>
  attack.scene(undefined, id === 'createOutgoingWebhook' ? {} : { buyer_ids: [] });

const LOSSES: [string, (scene: Scene) => Promise<unknown>][] = [
  ['leaves the team', ({ partner }) => team(partner.team, { users_emails: [] })],
  [
    'loses the grants of the team',
    ({ partner }) => team(partner.team, { buyer_ids: [], offer_ids: [] }),
  ],
  ['loses the permissions of the team', ({ partner }) => team(partner.team, { permissions: [] })],
  [
    'is deleted',
    async ({ partner }) => {
      const { users } = await attack.ok('get', `users?fulltext=${partner.email}`);
      await attack.ok('delete', `users/${users[0].id}`);
    },
  ],
];
const team = (id: number, body: object) => attack.ok('put', `access_control_lists/${id}`, body);

test.each(
  acting.flatMap((operation) =>
    LOSSES.map(([how, lose]) => [operation.id as string, how, operation, lose] as const),
  ),
)(
  'what %s makes acts for its maker, and no longer when the maker %s',
  async (id, _, operation, lose) => {
    const { make, acts } = ACTING[id]!;
    const scene = await createScene(id);
    const record = await make(scene);
    const [row] = await attack.world.sql<{ maker_user_id: string; maker_team_ids: string[] }>(
      `SELECT maker_user_id, maker_team_ids FROM ${findTable(operation)} WHERE id = $1`,
      [record],
    );
    expect(row).toEqual({
      maker_user_id: expect.any(String),
      maker_team_ids: [String(scene.partner.team)],
    });
    expect(await acts(scene)).toBe(true);
    await lose(scene);
    expect(await acts(scene)).toBe(false);
  },
);
