import { createHandlers } from '../../../src/main/handlers';
import type { NewCredentials } from '../../../src/domain/people/issue-credentials';
import { useWorld } from '../../support/use-world';

// An Idempotency-Key belongs to a credential: another one's key of the same name is another key.

/** Requests that create a buyer of this name wait until they may go on. */
const HELD = 'Held';
let arrive: () => void;
let release: Promise<void>;

const world = useWorld({
  handlers: (deps) => {
    const handlers = createHandlers(deps);
    const createBuyer: typeof handlers.createBuyer = async (call) => {
      if (call.body.name === HELD) {
        arrive();
        await release;
      }
      return handlers.createBuyer(call);
    };
    return { ...handlers, createBuyer };
  },
});
const { api } = world;

interface Sender {
  auth?: string | null;
  headers?: Record<string, string>;
}

const create = (sender: Sender, key: string, body: object, path = 'buyers') =>
  api('post', path, {
    body,
    auth: sender.auth,
    headers: { ...sender.headers, 'Idempotency-Key': key },
  });
const isReplayed = ({ headers }: { headers: Record<string, string> }) =>
  headers['idempotent-replayed'] === 'true';
const PERMISSIONS = ['buyers:create', 'buyers:routing', 'buyers:read'];
const createKeyPair = async (): Promise<Sender> => ({
  auth: await world.credentials(world.company, PERMISSIONS),
});
const createUserToken = async (more: Partial<NewCredentials> = {}): Promise<Sender> => {
  const user = { kind: 'user_token', user_email: 'ann@example.com', ...more } as const;
  const token = await world.credentials(world.company, more.permissions ?? [], user);
  return { auth: null, headers: { Authorization: `Token ${token}` } };
};
/** The reply that shows the token of a traffic source. */
interface Published {
  traffic_source_token: { lead_token: string | null };
  auth_token?: string;
}
const countBuyers = async (name: string): Promise<number> =>
  (await api('get', 'buyers', { query: { fulltext: name } })).body.metadata.total_count;

test('a key that a publisher has used is free for the network', async () => {
  const [publisher, network] = [await createKeyPair(), await createKeyPair()];
  const theirs = await create(publisher, 'daily', { name: 'Of the publisher' });
  const ours = await create(network, 'daily', { name: 'Of the network' });
  expect([theirs.status, ours.status, ours.body.buyer.name]).toEqual([201, 201, 'Of the network']);
  const repeated = await create(publisher, 'daily', { name: 'Of the publisher' });
  expect([repeated.text, isReplayed(repeated)]).toEqual([theirs.text, true]);
  const networkRetry = await create(network, 'daily', { name: 'Of the network' });
  expect([networkRetry.text, isReplayed(networkRetry)]).toEqual([ours.text, true]);
});

test('the answer to equal requests of two credentials is that of each', async () => {
  const body = { name: 'Twice' };
  const [first, second] = await Promise.all([
    create(await createKeyPair(), 'equal', body),
    create(await createKeyPair(), 'equal', body),
  ]);
  expect([first.status, second.status, isReplayed(second)]).toEqual([201, 201, false]);
  expect(first.body.buyer.id).not.toBe(second.body.buyer.id);
});

test('a request that is still running holds up its own credential alone', async () => {
  const [publisher, network] = [await createKeyPair(), await createKeyPair()];
  let letGo!: () => void;
  release = new Promise((done) => (letGo = done));
  const arrived = new Promise<void>((done) => (arrive = done));
  const running = create(publisher, 'running', { name: HELD });
  void running.then();
  await arrived;
  const ours = await create(network, 'running', { name: 'Meanwhile' });
  const repeated = await create(publisher, 'running', { name: HELD });
  letGo();
  expect([ours.status, repeated.status, repeated.body.code]).toEqual([
    201,
    409,
    'request_in_progress',
  ]);
  expect((await running).status).toBe(201);
});

test('twenty requests at once under one key have one effect for each of two credentials', async () => {
  const senders = [await createKeyPair(), await createKeyPair()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => create(senders[n % 2]!, 'race', { name: 'Raced' })),
  );
  for (const { status } of answers) expect([201, 409]).toContain(status);
  for (const turn of [0, 1])
    expect(answers.some(({ status }, n) => n % 2 === turn && status === 201)).toBe(true);
  expect(await countBuyers('Raced')).toBe(2);
});

test('a user who has replaced a token repeats the request with the new one', async () => {
  const body = { name: 'Of Ann' };
  const first = await create(await createUserToken(), 'ann', body);
  const second = await create(await createUserToken(), 'ann', body);
  expect([first.status, isReplayed(second), second.text]).toEqual([201, true, first.text]);
  const [oldToken, newToken] = [await createUserToken(), await createUserToken()];
  const inQuery = ({ headers }: Sender) =>
    api('post', 'buyers', {
      auth: null,
      body,
      query: { auth_token: headers!.Authorization!.slice('Token '.length) },
      headers: { 'Idempotency-Key': 'ann in the query' },
    });
  expect([(await inQuery(oldToken)).status, isReplayed(await inQuery(newToken))]).toEqual([
    201,
    true,
  ]);
});

test('a token with fewer rights, or of another user, does not see the answer', async () => {
  const body = { name: 'Of Bob', user_buyer_id: null };
  const bob = { user_email: 'bob@example.com' };
  await create(await createUserToken(bob), 'bob', body);
  for (const more of [{ ...bob, permissions: PERMISSIONS }, { user_email: 'eve@example.com' }]) {
    const response = await create(await createUserToken(more), 'bob', body);
    expect([response.status, isReplayed(response)]).toEqual([201, false]);
  }
});

test('two publishers with tokens of their own share an address, but no keys', async () => {
  const post = async (path: string, body: object) => (await api('post', path, { body })).body;
  const { offer } = await post('offers', { name: 'O' });
  const endpoint = { name: 'D', vanity_uri: 'shared-door', offer_id: offer.id };
  const { inbound_webhook } = await post('inbound_webhooks', endpoint);
  const publish = async (to: object) => {
    const { traffic_source } = await post('traffic_sources', { name: 'S' });
    return post('traffic_source_tokens', { traffic_source_id: traffic_source.id, ...to });
  };
  const publishTwice = async (to: object) => [await publish(to), await publish(to)];
  const submit = ({ traffic_source_token: { lead_token } }: Published, n: number) => {
    const body = { lead_token, caller_id: `310555016${n}` };
    return create({ auth: null }, 'lead-1', body, 'leads');
  };
  const ping = ({ auth_token }: Published, n: number) => {
    const body = { auth_token, caller_number: `310555016${n}` };
    return create({ auth: null }, 'ping-1', body, 'inbound_webhooks/ping/shared-door');
  };
  const answers = [
    ...(await Promise.all((await publishTwice({ offer_id: offer.id })).map(submit))),
    ...(await Promise.all(
      (await publishTwice({ inbound_webhook_id: inbound_webhook.id })).map(ping),
    )),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
  expect(answers.map(isReplayed)).toEqual([false, false, false, false]);
});

test('an endpoint keeps its keys when its token is reset', async () => {
  const { offer } = (await api('post', 'offers', { body: { name: 'O' } })).body;
  const endpoint = {
    name: 'D',
    vanity_uri: 'reset-door',
    offer_id: offer.id,
    has_auth_token: true,
  };
  const { inbound_webhook, auth_token } = (
    await api('post', 'inbound_webhooks', { body: endpoint })
  ).body;
  const ping = (token: string) => {
    const body = { auth_token: token, caller_number: '3105550163' };
    return create({ auth: null }, 'kept', body, 'inbound_webhooks/ping/reset-door');
  };
  await ping(auth_token);
  const reset = await api('put', `inbound_webhooks/${inbound_webhook.id}`, {
    body: { reset_auth_token: true },
  });
  expect(isReplayed(await ping(reset.body.auth_token))).toBe(true);
});

test('one key pair cannot use a key for two lead tokens', async () => {
  const { auth } = world.company;
  const submit = async () => {
    const { offer } = (await api('post', 'offers', { body: { name: 'O' } })).body;
    const body = { lead_token: offer.lead_token, caller_id: '3105550164' };
    return create({ auth }, 'two tokens', body, 'leads');
  };
  const [first, second] = [await submit(), await submit()];
  expect([first.status, second.status, second.body.code]).toEqual([
    201,
    422,
    'idempotency_conflict',
  ]);
});

test('an answer of an earlier release is repeated to its key pair, and blocks nobody', async () => {
  const [mine, otherSender] = [await createKeyPair(), await createKeyPair()];
  const first = await create(mine, 'upgraded', { name: 'Before' });
  await world.sql("UPDATE idempotency_keys SET credential = '' WHERE key = 'upgraded'");
  const theirs = await create(otherSender, 'upgraded', { name: 'Before' });
  const retry = await create(mine, 'upgraded', { name: 'Before' });
  expect([isReplayed(theirs), isReplayed(retry), retry.text]).toEqual([false, true, first.text]);
});
