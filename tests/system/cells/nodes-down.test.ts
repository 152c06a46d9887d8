import { setTimeout as pause } from 'node:timers/promises';
import { startJobs } from '../../../src/main/background/start';
import type { Running } from '../../../src/data/jobs/loop';
import { onCluster, onDistributedDatabases, readNodes, run } from '../../support/citus';
import { openShop, SMS, type Shop } from '../../support/leads';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { createWorld, type Api, type Company, type World } from '../../support/world';

// A node that cannot be reached takes its cells with it, and nothing else; once it is back, they go
// on without anybody's help. The installation reaches one of its nodes through a proxy.

/** How long a statement may take before its request is given up. */
const TIMEOUT_SECONDS = 2;
const ROUNDS = 10;

onCluster(() => {
  let proxy: TcpProxy;
  let world: World;
  let jobs: Running;
  /** On the node behind the proxy, and on the other. */
  let there: Company;
  let here: Company;
  const shops = new Map<Company, Shop>();
  /** Credentials that no process has looked up yet. */
  let unused: string;
  let callerCount = 0;
  const callerNumber = () => `+1310555${String(callerCount++).padStart(4, '0')}`;

  beforeAll(async () => {
    const last = (await readNodes()).at(-1)!;
    proxy = await startTcpProxy(last.host, last.port);
    onDistributedDatabases(async (coordinator) => {
      await run(
        coordinator,
        `SELECT citus_update_node(nodeid, '127.0.0.1', ${proxy.port})
        FROM pg_dist_node WHERE groupid = ${last.groupid}`,
      );
    });
    world = await createWorld({
      environment: { DATABASE_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) },
    });
    const both = [world.company, await world.addCompany('Other')];
    for (const company of both) {
      const fields = { daylight_hours: '00:00..23:59' };
      shops.set(company, await openShop(world, [SMS], fields, company));
    }
    const [row] = await run<{ company_id: string }>(
      world.database.DATABASE_URL!,
      `SELECT m.company_id FROM directory.companies m
      JOIN directory.cells c ON c.id = m.cell_id
      JOIN pg_dist_shard d ON d.logicalrelid = to_regclass(format('%I.companies', c.name))
      JOIN pg_dist_placement p USING (shardid)
      WHERE p.groupid = ${last.groupid}`,
    );
    there = both.find(({ id }) => id === BigInt(row!.company_id))!;
    here = both.find((company) => company !== there)!;
    unused = await world.credentials(there, ['buyers:read']);
    jobs = await startJobs({ parts: world.deps.parts, log: world.deps.log });
  });
  afterAll(async () => {
    proxy.restore();
    await jobs.stop();
    await world.close();
    await proxy.close();
  });

  const requests = {
    list: ({ api }: Company) => api('get', 'buyers'),
    write: ({ api }: Company) => api('post', 'buyers', { body: { name: 'New' } }),
    call: (company: Company) =>
      company.api('post', 'call_sessions', {
        body: { offer_id: shops.get(company)!.offer.id, caller_number: callerNumber() },
      }),
    lead: ({ api }: Company, callerId = callerNumber()) => {
      const { lead_token } = [...shops].find(([company]) => company.api === api)![1].schedule;
      return api('post', 'leads', { auth: null, query: { lead_token, caller_id: callerId } });
    },
  };
  const all = Object.values(requests);
  const answers = (company: Company) => Promise.all(all.map((send) => send(company)));
  const SERVED = [200, 201, 201, 201];

  /** Waits until all requests of a company succeed again. */
  const waitUntilServed = async (company: Company) => {
    let statuses: number[] = [];
    for (let n = 0; n < 300 && String(statuses) !== String(SERVED); n++) {
      statuses = (await answers(company)).map(({ status }) => status);
      await pause(100);
    }
    expect(statuses).toEqual(SERVED);
  };
  const texts = async (api: Api, number: string): Promise<number> =>
    (await api('get', 'text_messages', { query: { number, direction: 'outbound' } })).body
      .text_messages.length;
  /** Outreach leaves a lead that it had begun with for 20 seconds. */
  const texted = async ({ api }: Company, number: string) => {
    for (let n = 0; n < 900 && (await texts(api, number)) === 0; n++) await pause(100);
    expect(await texts(api, number)).toBe(1);
  };

  test.each(['cut', 'freeze'] as const)(
    'a node whose connections are lost (%s) stops its own cells alone, until it is back',
    async (method) => {
      await Promise.all([waitUntilServed(there), waitUntilServed(here)]);
      const waiting = callerNumber();
      expect((await requests.lead(there, waiting)).status).toBe(201);

      proxy[method]();
      const lost = answers(there);
      for (let round = 0; round < ROUNDS; round++)
        expect((await answers(here)).map(({ status }) => status)).toEqual(SERVED);
      const meanwhile = callerNumber();
      expect((await requests.lead(here, meanwhile)).status).toBe(201);
      await texted(here, meanwhile);

      // Valid credentials are not answered as wrong ones.
      const unseen = there.api('get', 'buyers', { auth: unused });
      for (const { status, headers, body } of [...(await lost), await unseen]) {
        expect([status, body.code]).toEqual([503, 'unavailable']);
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      }

      proxy.restore();
      await Promise.all([waitUntilServed(there), waitUntilServed(here)]);
      expect((await there.api('get', 'buyers', { auth: unused })).status).toBe(200);
      await texted(there, waiting);
    },
  );

  test('while a node is lost, keys cannot be made anywhere; afterwards they can', async () => {
    const post = () => here.api('post', 'offers', { body: { name: 'With a lead token' } });
    expect((await post()).status).toBe(201);
    proxy.cut();
    const refused = await post();
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    proxy.restore();
    await waitUntilServed(there);
    let status = 0;
    for (let n = 0; n < 100 && status !== 201; n++) {
      ({ status } = await post());
      await pause(100);
    }
    expect(status).toBe(201);
  });
});
