import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Deps } from '../../src/domain/deps';
import { sendActionWebhook } from '../../src/domain/outreach/send-action-webhook';
import { openShop, runEngine } from './leads';
import { createWorld, type World } from './world';

export interface Received {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * A customer's server on loopback. It accepts everything but /down; /flaky fails three times,
 * /moved redirects, and /odd returns text that cannot be stored.
 */
export async function startReceiver() {
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
    const tries = received.filter((request) => request.path === path).length;
    const fails = path.startsWith('/down') || (path.startsWith('/flaky') && tries <= 3);
    const success = path.startsWith('/moved') ? 302 : 200;
    const status = fails ? 500 : success;
    res
      .writeHead(status, status === 302 ? { Location: '/elsewhere' } : {})
      .end(path.startsWith('/odd') ? `\0${'x'.repeat(998)}🙂🙂` : 'thanks');
  });
  server.on('connection', () => void (state.connections += 1));
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return { received, state, port: (server.address() as AddressInfo).port, close };
}

export interface Queued {
  lead_id: number;
  schedule_action_id: string;
  lead_log_id: string;
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export let world: World;
export let receiver: Receiver;

/** Opens the world of these tests and a server that receives their webhooks. */
export function setUp(): void {
  beforeAll(async () => {
    receiver = await startReceiver();
    world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
  });
  afterAll(async () => {
    await world.close();
    await receiver.close();
  });
}

let paths = 0;

/** A lead whose schedule has queued a webhook to `path`. */
export const queueWebhook = async (
  path: string,
  action: object = {},
  tokens: object = {},
): Promise<Queued> => {
  const url = `http://127.0.0.1:${receiver.port}${path}`;
  const { schedule } = await openShop(world, [{ action_type: 'webhook', url, ...action }]);
  const callerId = `+1310777${1000 + ++paths}`;
  const res = await world.company.api('post', 'leads', {
    auth: null,
    body: {
      lead_token: schedule.lead_token,
      caller_id: callerId,
      email: 'ann@example.com',
      data: tokens,
    },
  });
  expect(res.status).toBe(201);
  await runEngine(world);
  const [log] = await world.sql<{ id: string; schedule_action_id: string }>(
    `SELECT id, schedule_action_id FROM lead_logs
    WHERE lead_id = $1 AND event = 'webhook_queued'`,
    [res.body.id],
  );
  return {
    lead_id: res.body.id,
    schedule_action_id: log!.schedule_action_id,
    lead_log_id: log!.id,
  };
};
const goOn = new AbortController().signal;
/** Runs the job once, as a worker would. */
export const run = (
  { lead_log_id }: Queued,
  { deps = world.deps, signal = goOn }: { deps?: Deps; signal?: AbortSignal } = {},
) =>
  sendActionWebhook(
    { company_id: String(world.company.id), lead_log_id },
    { job_id: 'x', signal },
    deps,
  );
export const listReceived = (path: string) =>
  receiver.received.filter((request) => request.path.startsWith(path));
export const loadOutcomes = ({ lead_id }: Queued) =>
  world.sql<{
    event: string;
    message: string;
    details: Record<string, unknown>;
    schedule_action_id: string;
  }>(
    `SELECT event, message, details, schedule_action_id FROM lead_logs
    WHERE lead_id = $1 AND event IN ('webhook_delivered', 'webhook_failed') ORDER BY id`,
    [lead_id],
  );
export const newPath = () => `/take/${++paths}`;
