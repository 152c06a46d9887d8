import { eventually } from '../../support/engine-process';
import { makeAgent } from '../../support/agents';
import { openStream } from '../../support/event-stream';
import { endAll, startLoad, startServers, startWorkers, type Load } from '../../support/fleet';
import { finished, numberAt } from '../../support/imports';
import { openShop, SMS } from '../../support/leads';
import type { Running } from '../../support/process';
import { startReceiver } from '../../support/receiver';
import { repetitions } from '../../support/repetitions';
import { buildWebhookHelpers } from '../../support/webhooks';
import { caller, createWorld, type Api, type World } from '../../support/world';

// Three servers and two workers of one database and storage, under load: the guarantees hold
// whichever process is asked.

const RATE = 2_000;
const environment = {
  RATE_LIMIT_PER_MINUTE: String(RATE),
  WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
};
const inLong = repetitions(0, 1) > 0 ? describe : describe.skip;

inLong('three servers and two workers', () => {
  let world: World;
  let here: World;
  let servers: Running[];
  let workers: Running[];
  let load: Load;

  const options = () => {
    const { storage_dir, data_dir } = world.deps.config;
    return { url: world.url, storage_dir, data_dir, environment };
  };
  const urls = () => servers.map(({ url }) => url);
  /** The company of the test, at one of the servers. */
  const at = (n: number): Api => caller(urls()[n % servers.length]!, here.company.auth);
  const create = async (path: string, body: object, n = 0): Promise<{ id: number }> => {
    const res = await at(n)('post', path, { body });
    if (res.status !== 201) throw new Error(`${path}: ${res.text}`);
    return res.body[res.body.metadata.root];
  };
  const times = (count: number) => Array.from({ length: count }, (_, n) => n);
  const count = async (text: string): Promise<number> =>
    Number((await world.sql<{ n: string }>(text, [here.company.id]))[0]!.n);
  const kill = async (worker: number) => {
    await workers[worker]!.end('SIGKILL');
    const [started] = await startWorkers(options(), 1);
    workers[worker] = started!;
  };

  beforeAll(async () => {
    world = await createWorld({ environment });
    servers = await startServers(options());
    workers = await startWorkers(options(), 2);
    load = await startLoad(await world.addCompany('Load'), urls);
  });
  beforeEach(async () => {
    const company = await world.addCompany();
    here = { ...world, company: { ...company, api: (...input) => at(turn++)(...input) } };
  });
  let turn = 0;
  afterAll(async () => {
    const { answered, failed } = await load.stop();
    await endAll([...workers, ...servers]);
    await world.close();
    expect(failed).toEqual([]);
    expect(answered).toBeGreaterThan(100);
  });

  test.each(['attempt_daily_limit', 'concurrency_cap_limit', 'revenue_total_limit'])(
    'a cap (%s) of 50 allows exactly 50 of 300 calls at once',
    async (limit) => {
      const pays = { current_conversion_revenue: 10, current_conversion_duration: 5 };
      const cap = { [limit]: limit.startsWith('revenue') ? 500 : 50 };
      const buyer = await create('buyers', { number: '+12125550101', ...pays, ...cap });
      const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer.id] });
      const answers = await Promise.all(
        times(300).map((n) =>
          at(n)('post', 'call_sessions', {
            body: { offer_id: offer.id, caller_number: `+1310555${String(n).padStart(4, '0')}` },
          }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      const dialed = answers.filter(({ body }) => body.call_session.instruction.action === 'dial');
      expect(dialed).toHaveLength(50);
      expect(await count('SELECT count(*) AS n FROM call_attempts WHERE company_id = $1')).toBe(50);
    },
  );

  test('the same call_sid at every server at once is one call', async () => {
    const buyer = await create('buyers', { number: '+12125550101' });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer.id] });
    const body = { offer_id: offer.id, caller_number: '+13105550100', call_sid: 'CA1' };
    const answers = await Promise.all(
      times(30).map((n) => at(n)('post', 'call_sessions', { body })),
    );
    expect(new Set(answers.map((answer) => answer.body.call_session.id)).size).toBe(1);
    expect(await count('SELECT count(*) AS n FROM calls WHERE company_id = $1')).toBe(1);
  });

  test('an Idempotency-Key at every server at once makes one record, and one answer', async () => {
    const request = { body: { name: 'Once' }, headers: { 'Idempotency-Key': 'once' } };
    const send = async (n: number) => {
      for (;;) {
        const res = await at(n)('post', 'buyers', request);
        // Another server is still at it.
        if (res.status !== 409) return res;
      }
    };
    const answers = await Promise.all(times(30).map(send));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.buyer.id}`)).size).toBe(1);
    expect(await count('SELECT count(*) AS n FROM buyers WHERE company_id = $1')).toBe(1);
  });

  test(`a limit of ${RATE} requests a minute allows exactly ${RATE} over all servers`, async () => {
    const first = await at(0)('get', 'me');
    const [, reset] = /t=(\d+)/.exec(first.headers.ratelimit ?? '') ?? [];
    // All of them in one window.
    const left = Number(reset ?? first.headers['ratelimit-reset']);
    expect(left).toBeGreaterThan(0);
    const inNewWindow = left < 40;
    if (inNewWindow) await new Promise((done) => setTimeout(done, left * 1000 + 500));
    const statuses: number[] = inNewWindow ? [] : [first.status];
    let n = 0;
    const run = async () => {
      while (n++ < RATE + 150) {
        const headers = { Authorization: `Basic ${btoa(here.company.auth)}` };
        const res = await fetch(`${urls()[n % 3]}/api/v1/me`, { headers });
        await res.arrayBuffer();
        statuses.push(res.status);
      }
    };
    await Promise.all(times(24).map(run));
    expect(statuses.filter((status) => status === 200)).toHaveLength(RATE);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  test('a number is suppressed at every server once the answer is there, and is freed', async () => {
    const buyer = await create('buyers', { number: '+12125550101' });
    const list = await create('buyer_suppressions', { name: 'DNC', buyer_ids: [buyer.id] });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer.id] });
    const actions = async (callerNumber: string) =>
      Promise.all(
        times(3).map(async (n) => {
          const body = { offer_id: offer.id, caller_number: callerNumber };
          return (await at(n)('post', 'call_sessions', { body })).body.call_session.instruction
            .action;
        }),
      );
    for (const round of times(10)) {
      const number = `+1310556${String(round).padStart(4, '0')}`;
      const change = (verb: string) =>
        at(round)('post', `buyer_suppressions/${list.id}/${verb}`, {
          body: { caller_ids: [number] },
        });
      await change('caller_block');
      expect(await actions(number)).not.toContain('dial');
      await change('caller_unblock');
      expect(await actions(number)).toEqual(['dial', 'dial', 'dial']);
    }
  });

  test('a change of the set-up decides the next call at every server', async () => {
    const buyer = await create('buyers', { number: '+12125550101' });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer.id] });
    const body = { offer_id: offer.id, caller_number: '+13105550188' };
    const reasons = async () =>
      Promise.all(
        times(3).map(async (n) => {
          const res = await at(n)('post', 'routing/explain', { body });
          return res.body.decision.candidates[0].reason;
        }),
      );
    for (const round of times(15)) {
      const paused = round % 2 === 0;
      await at(round)('put', `buyers/${buyer.id}`, { body: { paused } });
      expect(await reasons()).toEqual(Array(3).fill(paused ? 'paused' : null));
    }
  });

  test('each event is sent to a webhook once, and again only after a kill', async () => {
    const receiver = await startReceiver();
    const { hook } = buildWebhookHelpers(here);
    await hook(receiver.url);
    const buyer = await create('buyers', { number: '+12125550101' });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer.id] });
    const call = (n: number) =>
      at(n)('post', 'call_sessions', {
        body: { offer_id: offer.id, caller_number: `+1310557${String(n).padStart(4, '0')}` },
      });
    await Promise.all(times(100).map(call));
    await eventually(() => new Set(receiver.ids()).size === 100, 50);
    expect(receiver.received).toHaveLength(100);
    // Leases of the killed worker are taken over.
    const more = Promise.all(times(200).map((n) => call(n + 100)));
    await eventually(() => receiver.received.length > 120, 2);
    await kill(0);
    await more;
    await eventually(() => new Set(receiver.ids()).size === 300, 50);
    await receiver.close();
  });

  test('each lead gets each text once, also when a worker is killed meanwhile', async () => {
    const fields = { daylight_hours: '00:00..23:59' };
    const shop = await openShop(here, [SMS, { ...SMS, body: 'And' }], fields);
    const submit = (n: number) =>
      caller(urls()[n % 3]!, null)('post', 'leads', {
        query: {
          lead_token: shop.schedule.lead_token,
          caller_id: `310558${String(n).padStart(4, '0')}`,
        },
      });
    const texts = 'SELECT count(*) AS n FROM text_messages WHERE company_id = $1';
    const submitted = Promise.all(times(200).map(submit));
    await eventually(async () => (await count(texts)) > 20, 5);
    await kill(1);
    expect(new Set((await submitted).map(({ status }) => status))).toEqual(new Set([201]));
    await eventually(async () => (await count(texts)) >= 400, 100);
    const steps = `
      SELECT count(DISTINCT (lead_id, schedule_action_id)) AS n
      FROM text_messages WHERE company_id = $1`;
    expect([await count(texts), await count(steps)]).toEqual([400, 400]);
  });

  test('an import that a killed worker had begun is completed by the other', async () => {
    const list = await create('buyer_suppressions', { name: 'DNC' });
    const numbers = times(200_000).map(numberAt);
    const uploaded = await at(1)('post', 'buyer_suppression_files', {
      form: {
        buyer_suppression_id: String(list.id),
        import_file: Buffer.from(numbers.join('\n')),
      },
    });
    expect(uploaded.status).toBe(201);
    const path = `buyer_suppression_files/${uploaded.body.buyer_suppression_file.id}`;
    await eventually(
      async () => (await at(2)('get', path)).body.buyer_suppression_file.status !== 'pending',
      5,
    );
    // Either worker may have the import.
    await Promise.all([kill(0), kill(1)]);
    const { status, total_count, import_count } = await finished(at(0), path);
    expect([status, total_count, import_count]).toEqual(['succeeded', 200_000, 200_000]);
    expect(
      (await at(2)('get', `buyer_suppressions/${list.id}`)).body.buyer_suppression,
    ).toMatchObject({ status: 'succeeded', blocked: 200_000 });
  });

  test('what happens to an agent comes live, numbered, to streams at every server', async () => {
    const agent = await makeAgent(here);
    const readers = await Promise.all(urls().map((url) => openStream(url, agent.token)));
    for (const n of times(6)) await create('agent_messages', { content: `Message ${n}` }, n);
    for (const reader of readers) {
      const events = await reader.have(6);
      expect(events.map(({ id, data }) => [id, data.content])).toEqual(
        times(6).map((n) => [String(n + 1), `Message ${n}`]),
      );
      reader.leave();
    }
  });

  test('twenty submissions of one number at every server make one lead', async () => {
    const shop = await openShop(here, [SMS]);
    const query = { lead_token: shop.offer.lead_token, caller_id: '3105550123' };
    const all = await Promise.all(
      times(20).map((n) => caller(urls()[n % 3]!, null)('post', 'leads', { query })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201]);
    expect(await count('SELECT count(*) AS n FROM leads WHERE company_id = $1')).toBe(1);
  });
});
