import { makeAgent } from '../../support/agents';
import { eventually } from '../../support/engine-process';
import { openStream } from '../../support/event-stream';
import { finished, loadNumbers } from '../../support/imports';
import { missingPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer';
import { startServer, startWorker, type Running } from '../../support/process';
import { checkPayload, startReceiver } from '../../support/receiver';
import { repetitions } from '../../support/repetitions';
import {
  caller,
  createWorld,
  PEPPER_OF_TESTS,
  reachDatabases,
  type Api,
  type World,
} from '../../support/world';

// Two API processes and a worker behind a PgBouncer with fewer sessions than one of them has
// connections.

const CALLS = repetitions(30, 300);
const NUMBERS = repetitions(500, 50_000);
const CAP = 7;

const missing = missingPgBouncer();
if (missing) test.skip(`processes behind PgBouncer: ${missing}`, () => undefined);
else {
  let pgbouncer: PgBouncer;
  let world: World;
  let servers: Running[];
  let worker: Running;
  let apis: Api[];
  beforeAll(async () => {
    pgbouncer = await startPgBouncer({ default_pool_size: '3' });
    reachDatabases((url, environment) => pgbouncer.serve(url, environment));
    world = await createWorld();
    const { data_dir, storage_dir } = world.deps.config;
    const environment = {
      ...world.database,
      DATA_DIR: data_dir,
      STORAGE_DIR: storage_dir,
      KEY_PEPPER: PEPPER_OF_TESTS,
      LOG_LEVEL: 'silent',
      RUN_JOBS: 'false',
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
    };
    [worker, ...servers] = await Promise.all([
      startWorker(environment),
      startServer(environment),
      startServer(environment),
    ]);
    apis = servers.map(({ url }) => caller(url, world.company.auth));
  });
  afterAll(async () => {
    await Promise.all([worker, ...servers].map((child) => child.end('SIGTERM')));
    await world.close();
    await pgbouncer.stop();
  });

  const make = async (path: string, body: object): Promise<number> => {
    const res = await apis[0]!('post', path, { body });
    if (res.status !== 201) throw new Error(res.text);
    return res.body[res.body.metadata.root].id as number;
  };

  test('caps are exact, imports and webhooks complete, streams are live, all at once', async () => {
    const receiver = await startReceiver();
    await make('outgoing_webhooks', {
      name: 'Calls',
      trigger_type: 'new_call_started',
      url: receiver.url,
    });
    const buyer = await make('buyers', {
      name: 'Capped',
      number: '+12125550101',
      attempt_total_limit: CAP,
    });
    const offerId = await make('offers', { name: 'Auto', buyer_ids: [buyer] });
    const agent = await makeAgent(world);
    const stream = await openStream(servers[1]!.url, agent.token);

    const numbers = Array.from({ length: NUMBERS }, (_, n) => String(2_125_000_000 + n));
    const uploaded = await apis[0]!('post', 'buyer_suppressions', {
      form: { name: 'DNC', import_file: Buffer.from(`phone\n${numbers.join('\n')}\n`) },
    });
    const list = uploaded.body.buyer_suppression.id as number;
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, n) =>
        apis[n % 2]!('post', 'call_sessions', {
          body: { offer_id: offerId, caller_number: `+1310555${String(1000 + n)}` },
        }),
      ),
    );
    await apis[0]!('post', 'agent_messages', { body: { content: 'Live' } });

    const actions = answers.map(({ body }) => body.call_session?.instruction.action);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(actions.filter((action) => action === 'dial')).toHaveLength(CAP);
    const [event] = await stream.have(1);
    expect(event!.data.content).toBe('Live');
    stream.leave();
    await finished(apis[1]!, `buyer_suppressions/${list}`);
    expect(await loadNumbers(apis[1]!, list)).toHaveLength(NUMBERS);
    await eventually(() => new Set(receiver.ids()).size === CALLS);
    expect(receiver.received).toHaveLength(CALLS);
    receiver.received.forEach(({ body }) => checkPayload(body));
    await receiver.close();
  });

  test('an export is whole', async () => {
    const exported = await apis[1]!('get', 'calls.csv', { query: { columns: 'id' } });
    expect(exported.text.trim().split(/\r?\n/)).toHaveLength(CALLS + 1);
  });

  test('PgBouncer has no more sessions than it may', async () => {
    const name = new URL(world.url).pathname.slice(1);
    const pools = await pgbouncer.show<Record<string, unknown>>('SHOW SERVERS');
    const ownPools = pools.filter(({ database }) => String(database).startsWith(name));
    expect(ownPools.length).toBeLessThanOrEqual(6 * 3);
  });
}
