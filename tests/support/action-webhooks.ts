import type { Deps } from '../../src/domain/deps';
import { sendActionWebhook } from '../../src/domain/outreach/send-action-webhook';
import { openShop, runEngine } from './leads';
import { startReceiver as startAnyReceiver, type Answer } from './receiver';
import { nextNumber } from './records';
import { useWorld, type UsedWorld } from './use-world';

export type { Received } from './receiver';

/**
 * Answers of a customer. They accept everything but /down; /flaky fails three times, /moved
 * redirects, and /odd returns text that cannot be stored.
 */
function answer(path: string, tries: number): Answer {
  if (path.startsWith('/down') || (path.startsWith('/flaky') && tries <= 3)) return 500;
  if (path.startsWith('/moved'))
    return (res) => void res.writeHead(302, { Location: '/elsewhere' }).end('thanks');
  if (path.startsWith('/odd')) return (res) => void res.end(`\0${'x'.repeat(998)}🙂🙂`);
  return 200;
}

/** A customer's server, which requests to any address of this machine would reach. */
export async function startReceiver() {
  const started = await startAnyReceiver(
    ({ path }) =>
      answer(path, started.received.filter((request) => request.path === path).length + 1),
    '0.0.0.0',
  );
  return started;
}

export interface Queued {
  lead_id: number;
  schedule_action_id: string;
  lead_log_id: string;
}

export let world: UsedWorld;
export let receiver: Awaited<ReturnType<typeof startReceiver>>;

/** Opens the world of these tests and a server that receives their webhooks. */
export function setUp(): void {
  world = useWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
  beforeAll(async () => {
    receiver = await startReceiver();
    world.closeLater(receiver.close);
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
  const res = await world.api('post', 'leads', {
    auth: null,
    body: {
      lead_token: schedule.lead_token,
      caller_id: nextNumber('+1310777'),
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
