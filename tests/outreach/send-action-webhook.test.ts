import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createDeps, type Deps } from '../../src/deps';
import { sendActionWebhook } from '../../src/outreach/send-action-webhook';
import { openShop, runEngine } from '../support/leads';
import { createWorld, testConfig, type World } from '../support/world';

interface Received {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Somebody's server on loopback: /down never does, /flaky does at the fourth try, /moved sends elsewhere, /odd answers what cannot be stored, all else takes what comes. */
async function startReceiver() {
  const [received, state]: [Received[], { connections: number }] = [[], { connections: 0 }];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const path = req.url!;
    received.push({
      method: req.method!,
      path,
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    });
    const tries = received.filter((one) => one.path === path).length;
    const status =
      path.startsWith('/down') || (path.startsWith('/flaky') && tries <= 3)
        ? 500
        : path.startsWith('/moved')
          ? 302
          : 200;
    res
      .writeHead(status, status === 302 ? { Location: '/elsewhere' } : {})
      .end(path.startsWith('/odd') ? `\0${'x'.repeat(998)}🙂` : 'thanks');
  });
  server.on('connection', () => void (state.connections += 1));
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return { received, state, port: (server.address() as AddressInfo).port, close };
}

let world: World;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
  world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

let paths = 0;
interface Queued {
  lead_id: number;
  schedule_action_id: string;
  lead_log_id: string;
}
/** A lead whose schedule has come to a webhook that goes to `path`. */
async function queued(path: string, action: object = {}, tokens: object = {}): Promise<Queued> {
  const url = `http://127.0.0.1:${receiver.port}${path}`;
  const { schedule } = await openShop(world, [{ action_type: 'webhook', url, ...action }]);
  const caller_id = `+1310777${1000 + ++paths}`;
  const res = await world.company.api('post', 'leads', {
    auth: null,
    body: { lead_token: schedule.lead_token, caller_id, email: 'ann@example.com', data: tokens },
  });
  expect(res.status).toBe(201);
  await runEngine(world);
  const [log] = await world.sql<{ id: string; schedule_action_id: string }>(
    `SELECT id, schedule_action_id FROM lead_logs WHERE lead_id = $1 AND event = 'webhook_queued'`,
    [res.body.id],
  );
  return {
    lead_id: res.body.id,
    schedule_action_id: log!.schedule_action_id,
    lead_log_id: log!.id,
  };
}
const goOn = new AbortController().signal;
/** Runs the job once, as a worker would. */
const run = (
  { lead_log_id }: Queued,
  { deps = world.deps, signal = goOn }: { deps?: Deps; signal?: AbortSignal } = {},
) =>
  sendActionWebhook(
    { company_id: String(world.company.id), lead_log_id },
    { job_id: 'x', signal },
    deps,
  );
const to = (path: string) => receiver.received.filter((one) => one.path.startsWith(path));
const outcomes = ({ lead_id }: Queued) =>
  world.sql<{
    event: string;
    message: string;
    details: Record<string, unknown>;
    schedule_action_id: string;
  }>(
    `SELECT event, message, details, schedule_action_id FROM lead_logs WHERE lead_id = $1 AND event IN ('webhook_delivered', 'webhook_failed') ORDER BY id`,
    [lead_id],
  );
const newPath = () => `/take/${++paths}`;

describe('the webhook of an action', () => {
  test('tells of its lead in JSON, unless it says otherwise', async () => {
    const path = newPath();
    const job = await queued(path, {}, { first_name: 'Ann', age: 40 });
    await run(job);
    const [{ method, headers, body }] = to(path) as [Received];
    const { lead } = (await world.company.api('get', `leads/${job.lead_id}`)).body;
    const { id, uuid, caller_id, email, offer_id, schedule_id } = lead;
    expect([method, headers['content-type'], headers['webhook-id']]).toEqual([
      'POST',
      'application/json',
      `lead_log_${job.lead_log_id}`,
    ]);
    expect(JSON.parse(body)).toEqual({
      lead_id: id,
      uuid,
      caller_id,
      email,
      offer_id,
      schedule_id,
      status: lead.status,
      data: { first_name: 'Ann', age: 40 },
    });
    const [{ event, details, schedule_action_id }] = (await outcomes(job)) as [
      Awaited<ReturnType<typeof outcomes>>[0],
    ];
    expect([event, schedule_action_id]).toEqual(['webhook_delivered', job.schedule_action_id]);
    expect(details).toMatchObject({
      tries: 1,
      code: 200,
      response_body: 'thanks',
      duration_ms: expect.any(Number),
    });
  });

  const nasty = 'A"n\\n\r\nX: 1 &x=Ł/..%';
  const QUERY = encodeURIComponent(nasty);
  const LATIN = Buffer.from('A"n\\n X: 1 &x=Ł/..%').toString('latin1');
  test.each<[string, object, Partial<Received> | object]>([
    [
      'a body of JSON has its tokens escaped',
      { body: '{"name": "{{name}}", "city": "[city]{no {where}"}' },
      {
        body: JSON.stringify({ name: nasty, city: 'no {where' })
          .replaceAll(':', ': ')
          .replace('X: ', 'X:')
          .replace(',"', ', "'),
      },
    ],
    [
      'a body of JSON by its type too',
      { body: '"{{name}}"', headers: { 'content-type': 'application/vnd.x+json' } },
      { body: JSON.stringify(nasty), headers: { 'content-type': 'application/vnd.x+json' } },
    ],
    [
      'a form has its tokens encoded',
      {
        body: 'name={{name}}&x=2',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      },
      { body: `name=${QUERY}&x=2` },
    ],
    [
      'a text that begins with a token is text',
      { body: '{{name}} called' },
      { body: `${nasty} called`, headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ],
    [
      'so is one that begins with a token and its default',
      { body: '[name]{x} called' },
      { body: `${nasty} called`, headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ],
    [
      'a list is JSON',
      { body: '[{{age}}, "{{name}}"]' },
      { body: `[40, ${JSON.stringify(nasty)}]`, headers: { 'content-type': 'application/json' } },
    ],
    [
      'its headers have no line breaks',
      { headers: { 'X-Name': '{{name}}', 'X-Plain': 'é [gone]{there}' } },
      { headers: { 'x-name': LATIN, 'x-plain': 'é there' } },
    ],
    [
      'it carries its own Webhook-Id alone',
      { headers: { 'webhook-id': 'mine' } },
      { headers: { 'webhook-id': expect.stringMatching(/^lead_log_\d+$/) } },
    ],
    [
      'GET has no body, nor what would describe one',
      { method: 'get', body: '{"a": 1}' },
      { method: 'GET', body: '' },
    ],
    ['DELETE neither', { method: 'delete' }, { method: 'DELETE', body: '' }],
    ['PUT has one', { method: 'put', body: 'x' }, { method: 'PUT', body: 'x' }],
  ])('%s', async (_name, action, expected) => {
    const path = newPath();
    await run(await queued(path, action, { name: nasty, age: 40 }));
    expect(to(path)).toMatchObject([expected]);
    if (['GET', 'DELETE'].includes((expected as Received).method))
      expect(to(path)[0]!.headers).not.toHaveProperty('content-type');
  });

  test('its URL has tokens encoded, wherever they stand', async () => {
    const path = newPath();
    await run(
      await queued(
        `${path}/{{name}}/x?name={{name}}&city=[city]{none}`,
        { method: 'get' },
        { name: '../a b&c=d#e' },
      ),
    );
    const encoded = encodeURIComponent('../a b&c=d#e');
    expect(to(path).map((one) => one.path)).toEqual([
      `${path}/${encoded}/x?name=${encoded}&city=none`,
    ]);
  });

  test('is delivered whatever the answer is', async () => {
    const job = await queued('/odd/1');
    await run(job);
    expect(await outcomes(job)).toMatchObject([
      { event: 'webhook_delivered', details: { response_body: `\ufffd${'x'.repeat(998)}` } },
    ]);
  });

  test('a redirect is not followed, and is no delivery', async () => {
    const job = await queued('/moved/1');
    await expect(run(job)).rejects.toThrow('answered 302');
    expect([to('/elsewhere'), await outcomes(job)]).toEqual([[], []]);
  });
});

describe('what is not delivered', () => {
  test('because nobody is there, is tried again too', async () => {
    const job = await queued(newPath());
    const gone = await startReceiver();
    await gone.close();
    await world.sql('UPDATE schedule_actions SET url = $2 WHERE id = $1', [
      job.schedule_action_id,
      `http://127.0.0.1:${gone.port}/`,
    ]);
    for (let tries = 1; tries < 5; tries++) await expect(run(job)).rejects.toThrow();
    await run(job);
    expect(await outcomes(job)).toMatchObject([
      { event: 'webhook_failed', details: { tries: 5, reason: 'connection refused' } },
    ]);
  });

  test.each([
    '127.0.0.2',
    '0x7f.0.0.2',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '10.255.255.1',
    '169.254.169.254',
  ])(
    'because it leads to %s, which is not allowed, is given up at once, and nobody is connected to',
    async (host) => {
      const job = await queued(newPath());
      await world.sql('UPDATE schedule_actions SET url = $2 WHERE id = $1', [
        job.schedule_action_id,
        `http://${host}:${receiver.port}/`,
      ]);
      const before = receiver.state.connections;
      await run(job);
      expect(receiver.state.connections).toBe(before);
      expect(await outcomes(job)).toMatchObject([
        { event: 'webhook_failed', message: 'refused_address', details: { tries: 1 } },
      ]);
    },
  );

  test('because its network is allowed no more, is given up', async () => {
    const strict = createDeps({ config: testConfig(), database_url: world.url });
    const job = await queued(newPath());
    await run(job, { deps: strict });
    await strict.database.close();
    expect(await outcomes(job)).toMatchObject([
      { event: 'webhook_failed', message: 'refused_address' },
    ]);
  });
});

describe('a job that runs again', () => {
  test.each([
    ['after it was done', async (job: Queued) => [await run(job), await run(job)]],
    ['at the same time', (job: Queued) => Promise.all([run(job), run(job), run(job)])],
  ])('%s records one outcome', async (_name, twice) => {
    const path = newPath();
    const job = await queued(path);
    await twice(job);
    expect((await outcomes(job)).map(({ event }) => event)).toEqual(['webhook_delivered']);
    expect(new Set(to(path).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('after it was given up sends nothing more', async () => {
    const job = await queued('/down/2');
    for (let tries = 1; tries < 5; tries++) await expect(run(job)).rejects.toThrow('answered 500');
    await run(job);
    await run(job);
    expect([to('/down/2').length, (await outcomes(job)).length]).toEqual([5, 1]);
  });

  test('whose lead is deleted sends nothing', async () => {
    const path = newPath();
    const job = await queued(path);
    expect((await world.company.api('delete', `leads/${job.lead_id}/id`)).status).toBe(200);
    await run(job);
    expect([to(path), await outcomes(job)]).toEqual([[], []]);
  });

  test('whose action is deleted, or is one of another type now, sends nothing and says so', async () => {
    const path = newPath();
    const [gone, other] = [await queued(path), await queued(path)];
    expect(
      (await world.company.api('delete', `schedule_actions/${gone.schedule_action_id}`)).status,
    ).toBe(200);
    const changed = await world.company.api('put', `schedule_actions/${other.schedule_action_id}`, {
      body: { action_type: 'exit' },
    });
    expect(changed.status).toBe(200);
    await run(gone);
    await run(other);
    const failed = [
      {
        event: 'webhook_failed',
        message: expect.stringContaining('the action is gone'),
        details: { tries: 0 },
      },
    ];
    expect([to(path), await outcomes(gone), await outcomes(other)]).toMatchObject([
      [],
      failed,
      failed,
    ]);
  });

  test('whose process is to end sends nothing, and is left to another', async () => {
    const path = newPath();
    const job = await queued(path);
    await expect(run(job, { signal: AbortSignal.abort() })).rejects.toThrow();
    expect([to(path), await outcomes(job)]).toEqual([[], []]);
  });
});

describe('a worker', () => {
  test('tries again what is not delivered, under the same Webhook-Id: until it is taken, and five times at most', async () => {
    const jobs = [await queued('/flaky/1'), await queued('/down/1')];
    await world.work();
    while ((await Promise.all(jobs.map(outcomes))).some((logs) => logs.length === 0))
      await setTimeout(100);
    const ids = (path: string) => to(path).map(({ headers }) => headers['webhook-id']);
    expect(ids('/flaky/1')).toEqual(Array(4).fill(`lead_log_${jobs[0]!.lead_log_id}`));
    expect(ids('/down/1')).toEqual(Array(5).fill(`lead_log_${jobs[1]!.lead_log_id}`));
    expect(await outcomes(jobs[0]!)).toMatchObject([
      { event: 'webhook_delivered', message: 'answered 200', details: { tries: 4 } },
    ]);
    expect(await outcomes(jobs[1]!)).toMatchObject([
      { event: 'webhook_failed', message: 'answered 500', details: { tries: 5, code: 500 } },
    ]);
    const states = `SELECT state FROM jobs.job WHERE name = 'send_action_webhook' AND data->>'lead_log_id' = ANY($1)`;
    const completed = async () =>
      (await world.sql(states, [jobs.map(({ lead_log_id }) => lead_log_id)])).every(
        ({ state }) => state === 'completed',
      );
    while (!(await completed())) await setTimeout(50);
  }, 60_000);
});
