import { setTimeout as pause } from 'node:timers/promises';
import { computeSignature } from '../../../src/platform/carriers/signature';
import { moveCellTo } from '../../../src/operate/cells/manage';
import { openDeps } from '../../../src/operate/cells/open-deps';
import { closeDeps } from '../../../src/operate/installation/deps';
import { addNumber } from '../../../src/domain/numbers/add-number';
import { releaseNumber } from '../../../src/domain/numbers/release-number';
import { onCluster, onDistributedDatabases, run } from '../../support/citus';
import {
  buildApp,
  caller,
  createWorld,
  testConfig,
  TWILIO_TOKEN,
  type Api,
  type Company,
  type World,
} from '../../support/world';

// Names that identify a company are unique in the whole installation, although its cell does not
// know those of other companies.

const PUBLIC_URL = 'https://calls.example.com';
const ROUNDS = 20;
/** An endpoint that needs no token. */
const OPEN = { name: 'Open', has_auth_token: false };

onCluster(() => {
  let world: World;
  let companies: [Company, Company];
  let sequence = 0;
  const fresh = () => `1212555${String(1000 + sequence++)}`;
  const times = (count: number) => Array.from({ length: count }, (_, n) => n);

  beforeAll(async () => {
    onDistributedDatabases();
    world = await createWorld({ environment: { PUBLIC_URL, TRUST_PROXY: '1' } });
    companies = [world.company, await world.addCompany('Theirs')];
  });
  afterAll(() => world.close());

  const onCoordinator = <Row extends object>(text: string) =>
    run<Row>(world.database.DATABASE_URL!, text);
  /** A key that was claimed only now may be about to be written, and is not released at once. */
  const settled = () =>
    onCoordinator(`UPDATE directory.keys SET claimed_at = now() - interval '1 hour'`);
  const findOwner = async (kind: string, key: string) => {
    const [owner] = await onCoordinator<{ company_id: string }>(
      `SELECT company_id FROM directory.keys WHERE kind = '${kind}' AND key = '${key}'`,
    );
    return owner && BigInt(owner.company_id);
  };
  const eventually = async <Value>(read: () => Promise<Value>, expected: Value) => {
    let value = await read();
    for (let n = 0; n < 200 && value !== expected; n++) {
      await pause(100);
      value = await read();
    }
    expect(value).toBe(expected);
  };

  const addOwn = ({ id }: Company, phoneNumber: string): Promise<bigint> => {
    const ownNumber = {
      phone_number: `+${phoneNumber}`,
      country: 'US',
      toll_free: false,
      carrier: 'sandbox',
      carrier_number_id: null,
    } as const;
    return world.deps.tenants.of(id).transaction((tx) => addNumber(tx, ownNumber, new Date()));
  };
  const releaseOwn = ({ id }: Company, numberId: bigint) =>
    world.deps.tenants.of(id).transaction((tx) => {
      const { carrier, queue } = world.deps;
      return releaseNumber(tx, numberId, { carrier, queue, now: new Date() });
    });
  /** Sends a text as the carrier does; the number that it came to says whose it is. */
  const text = async (To: string, api: Api = world.company.api) => {
    const path = 'telephony/sms';
    const params = {
      MessageSid: `SM${String(sequence++).padStart(32, '0')}`,
      From: '+13105550188',
    };
    const form = { ...params, To: `+${To}`, Body: 'Hello' };
    const res = await api('post', path, {
      auth: null,
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Twilio-Signature': computeSignature(TWILIO_TOKEN, `${PUBLIC_URL}/api/v1/${path}`, form),
        'X-Forwarded-For': `10.1.${sequence % 250}.1`,
      },
      body: new URLSearchParams(form).toString(),
    });
    return res.status;
  };
  const countTexts = async ({ id }: Company, number: string) => {
    const [row] = await world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM text_messages WHERE company_id = $1 AND to_number = $2',
      [id, number],
    );
    return row!.n;
  };
  const createOffer = async ({ api }: Company) =>
    (await api('post', 'offers', { body: { name: 'Auto' } })).body.offer as {
      id: number;
      lead_token: string;
    };
  const ping = async (vanityUri: string, api: Api = world.company.api) =>
    (
      await api('post', `inbound_webhooks/ping/${vanityUri}`, {
        auth: null,
        body: { caller_id: '+13105550188' },
        headers: { 'X-Forwarded-For': `10.2.${sequence++ % 250}.1` },
      })
    ).status;

  test('two companies of a world are in different cells, on different nodes', async () => {
    const companyCells = await onCoordinator<{ cell_id: number }>(
      'SELECT cell_id FROM directory.companies ORDER BY company_id',
    );
    expect(companyCells.map(({ cell_id }) => cell_id)).toEqual([1, 2]);
    const counted = await Promise.all(
      companies.map(({ id }) =>
        world.sql<{ port: number; ids: string[] }>(
          `SELECT inet_server_port() AS port, array_agg(id::text) AS ids
          FROM companies WHERE $1::bigint IS NOT NULL`,
          [id],
        ),
      ),
    );
    expect(counted.map(([row]) => row!.ids)).toEqual(companies.map(({ id }) => [String(id)]));
    expect(new Set(counted.map(([row]) => row!.port)).size).toBe(2);
  });

  test('a telephone number that two companies claim at once belongs to exactly one', async () => {
    for (const round of times(ROUNDS)) {
      const number = fresh();
      const order = round % 2 ? companies : companies.toReversed();
      const outcomes = await Promise.allSettled(order.map((company) => addOwn(company, number)));
      const winners = order.filter((_, n) => outcomes[n]!.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused!.reason).toMatchObject({ code: 'taken', status: 422 });
      expect(await findOwner('number', number)).toBe(winners[0]!.id);
      expect(await text(number)).toBe(200);
      const texts = await Promise.all(companies.map((company) => countTexts(company, number)));
      expect(texts).toEqual(companies.map((company) => (company === winners[0] ? 1 : 0)));
    }
  });

  test('an address that two companies claim at once belongs to exactly one', async () => {
    const offers = await Promise.all(companies.map(createOffer));
    for (const round of times(ROUNDS)) {
      const vanityUri = `raced_${round}`;
      const answers = await Promise.all(
        companies.map(({ api }, n) =>
          api('post', 'inbound_webhooks', {
            body: { ...OPEN, vanity_uri: vanityUri, offer_id: offers[n]!.id },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
      const [winner] = companies.filter((_, n) => answers[n]!.status === 201);
      expect(await findOwner('inbound_webhook', vanityUri)).toBe(winner!.id);
      const pinged = await ping(vanityUri);
      expect(pinged).toBe(200);
    }
  });

  test('a number and an address that were given up can be taken by the other', async () => {
    const number = fresh();
    const id = await addOwn(companies[0], number);
    await settled();
    await expect(addOwn(companies[1], number)).rejects.toThrow();
    await releaseOwn(companies[0], id);
    await eventually(() => findOwner('number', number), undefined);
    await addOwn(companies[1], number);
    expect([await text(number), await countTexts(companies[1], number)]).toEqual([200, 1]);

    const endpoint = async (company: Company, vanityUri: string) =>
      company.api('post', 'inbound_webhooks', {
        body: { ...OPEN, vanity_uri: vanityUri, offer_id: (await createOffer(company)).id },
      });
    const createdEndpoint = await endpoint(companies[0], 'given_up');
    await settled();
    expect((await endpoint(companies[1], 'given_up')).status).toBe(422);
    await companies[0].api('put', `inbound_webhooks/${createdEndpoint.body.inbound_webhook.id}`, {
      body: { vanity_uri: 'kept' },
    });
    await eventually(() => findOwner('inbound_webhook', 'given_up'), undefined);
    expect((await endpoint(companies[1], 'given_up')).status).toBe(201);
    expect([await ping('given_up'), await ping('kept')]).toEqual([200, 200]);
    await settled();
    await companies[0].api('delete', `inbound_webhooks/${createdEndpoint.body.inbound_webhook.id}`);
    await eventually(() => findOwner('inbound_webhook', 'kept'), undefined);
    expect(await ping('kept')).toBe(404);
  });

  test('revoked credentials no longer work, in this process and in another', async () => {
    const config = testConfig({ ...world.database });
    const otherDeps = await openDeps({ config, database_url: world.database.DATABASE_URL! });
    try {
      for (const { api } of companies) {
        const { body } = await api('post', 'access_tokens', {
          body: { name: 'Short', kind: 'key_pair', superuser: true },
        });
        const auth = `${body.access_token.public_key}:${body.private_key}`;
        const elsewhere = caller(buildApp(otherDeps), null);
        const status = async (by: Api) => (await by('get', 'me', { auth })).status;
        expect([await status(api), await status(elsewhere)]).toEqual([200, 200]);
        expect((await api('delete', `access_tokens/${body.access_token.id}`)).status).toBe(200);
        expect(await status(api)).toBe(401);
        // Another process keeps what it has looked up for a few seconds.
        await eventually(async () => (await status(elsewhere)) === 401, true);
      }
    } finally {
      otherDeps.live.close();
      await closeDeps(otherDeps);
    }
  });

  test('every key still finds its company once that has moved to another node', async () => {
    const [mine, theirs] = companies;
    const number = fresh();
    await addOwn(mine, number);
    const offer = await createOffer(mine);
    await mine.api('post', 'inbound_webhooks', {
      body: { ...OPEN, vanity_uri: 'moves_too', offer_id: offer.id },
    });
    const lead = async (api: Api) =>
      (
        await api('post', 'leads', {
          auth: null,
          query: { lead_token: offer.lead_token, caller_id: fresh() },
        })
      ).status;
    const answers = async (api: Api) => [
      (await api('get', 'me', { auth: mine.auth })).body.me?.public_key,
      (await api('get', 'me', { auth: theirs.auth })).status,
      await text(number, api),
      await ping('moves_too', api),
      await lead(api),
    ];
    const before = await answers(mine.api);
    expect(before.slice(1)).toEqual([200, 200, 200, 201]);
    const [there] = await onCoordinator<{ address: string }>(
      `SELECT n.nodename || ':' || n.nodeport AS address
      FROM pg_dist_shard d
      JOIN pg_dist_placement p USING (shardid)
      JOIN pg_dist_node n USING (groupid)
      WHERE d.logicalrelid = 'cell_2.companies'::regclass`,
    );
    await moveCellTo(world.database.DATABASE_URL!, 1, there!.address);
    // A running process follows within a second or two.
    for (let n = 0; n < 100 && (await lead(mine.api)) === 503; n++) await pause(100);
    expect(await answers(mine.api)).toEqual(before);
    expect(await countTexts(mine, number)).toBe(2);
    const [row] = await world.sql<{ port: number }>(
      'SELECT inet_server_port() AS port WHERE $1::bigint IS NOT NULL',
      [mine.id],
    );
    expect(there!.address).toMatch(new RegExp(`:${row!.port}$`));
    const config = testConfig({ ...world.database, PUBLIC_URL, TRUST_PROXY: '1' });
    const otherDeps = await openDeps({ config, database_url: world.database.DATABASE_URL! });
    try {
      expect(await answers(caller(buildApp(otherDeps), null))).toEqual(before);
    } finally {
      otherDeps.live.close();
      await closeDeps(otherDeps);
    }
  });
});
