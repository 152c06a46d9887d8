import { writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { uuidv7 } from '../../src/data/uuid';
import { deriveKeys, buildSignatureHeaders } from '../../src/platform/egress/standard-webhooks';
import { end, median, option, waitUntilReady, round, say, startRival, startWorker } from './tools';
import {
  copyWorld,
  dropWorld,
  PEPPER,
  prepareWorld,
  query,
  waitUntilIdle,
  type BenchWorld,
} from './world';

// One webhook with many due deliveries: the rate of one worker, compared with a loop over undici
// that signs and sends the same deliveries one after the other.

export const RECEIVER_PORT = '4113';
const DELIVERIES = Number(option('deliveries', '20000'));
const ROUNDS = Number(option('rounds', '3'));
const RECEIVER_URL = `http://127.0.0.1:${RECEIVER_PORT}`;

export const startReceiver = () => startRival('deliveries-receiver', { PORT: RECEIVER_PORT });

/** Lets a worker deliver to the receiver. */
export const RECEIVER_SETTINGS = { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' };

export const countReceived = async (): Promise<number> =>
  Number(await (await fetch(`${RECEIVER_URL}/count`)).text());

/** Creates a webhook for every ended call, and returns its id. */
export async function addWebhook({ url, company_id }: BenchWorld): Promise<string> {
  const [hook] = await query(
    url,
    `INSERT INTO outgoing_webhooks (company_id, uuid, name, owner_type, trigger_type, url, origin,
      method, timeout_seconds, retries)
      VALUES ($1, gen_random_uuid(), 'Bench', 'Company', 'every_call', $2, $2, 'post', 15, 9)
      RETURNING id`,
    [company_id, RECEIVER_URL],
  );
  await query(url, 'INSERT INTO webhook_queues (company_id, outgoing_webhook_id) VALUES ($1, $2)', [
    company_id,
    hook!.id,
  ]);
  return String(hook!.id);
}

/** Creates a webhook and its deliveries, with payloads as large as those of calls. */
async function fill(world: BenchWorld, body: string): Promise<void> {
  const { url, company_id } = world;
  const run = (text: string, values: unknown[] = []) => query(url, text, values);
  const hook = await addWebhook(world);
  await run(
    `INSERT INTO webhook_deliveries (company_id, uuid, created_at, outgoing_webhook_id,
      trigger_type, call_id, buyer_id, offer_id, request_method, request_url, request_headers,
      request_body, status, due_at)
      SELECT $1, gen_random_uuid(), now(), $2, 'every_call', n, n % 100 + 1, n % 10 + 1, 'POST', $3,
        '{"Content-Type": "application/json"}', $4, 'waiting', now()
      FROM generate_series(1, $5::int) n`,
    [company_id, hook, RECEIVER_URL, body, DELIVERIES],
  );
  await run('VACUUM ANALYZE webhook_deliveries');
  await run(
    `UPDATE webhook_queues SET next_due_at = now()
      WHERE company_id = $1 AND outgoing_webhook_id = $2`,
    [company_id, hook],
  );
}

/** A body with as many fields as a call has in its JSON. */
const buildBody = (): string =>
  JSON.stringify({
    type: 'every_call',
    timestamp: new Date(0).toISOString(),
    data: {
      call: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`column_${n}`, `value ${n}`])),
    },
  });

async function plain(body: string): Promise<number> {
  const agent = new Agent({ connections: 1 });
  const keys = deriveKeys(
    PEPPER,
    { uuid: uuidv7(), secret_version: 1, secret_rotated_at: null },
    new Date(),
  );
  const started = performance.now();
  for (let n = 0; n < DELIVERIES; n++) {
    const headers = {
      'Content-Type': 'application/json',
      ...buildSignatureHeaders(keys, { id: uuidv7(), at: new Date(), body }),
    };
    const response = await request(RECEIVER_URL, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body,
    });
    await response.body.text();
  }
  const seconds = (performance.now() - started) / 1000;
  await agent.close();
  return Math.round(DELIVERIES / seconds);
}

/** Measures the rates of received deliveries and of deliveries recorded as sent. */
async function measureWorker(
  server: EmbeddedDatabase,
  body: string,
): Promise<{ rate: number; written_rate: number }> {
  const world = await copyWorld(server, await prepareWorld(server, 1_000), 'bench_deliveries');
  await fill(world, body);
  await waitUntilIdle(world);
  const client = new Client({ connectionString: world.url });
  await client.connect();
  const before = await countReceived();
  const worker = startWorker(world.url, RECEIVER_SETTINGS);
  try {
    let first = 0;
    let from = 0;
    for (let come = 0; come < DELIVERIES;) {
      come = (await countReceived()) - before;
      if (come > 0 && first === 0) [first, from] = [performance.now(), come];
      await new Promise((done) => setTimeout(done, 20));
    }
    const receivedAt = performance.now();
    for (;;) {
      const { rows } = await client.query(
        `SELECT count(*)::int AS n FROM webhook_deliveries WHERE status = 'delivered'`,
      );
      if (rows[0]!.n === DELIVERIES) break;
      await new Promise((done) => setTimeout(done, 20));
    }
    const rate = (until: number) => Math.round((DELIVERIES - from) / ((until - first) / 1000));
    return { rate: rate(receivedAt), written_rate: rate(performance.now()) };
  } finally {
    await client.end();
    await end([worker]);
    await dropWorld(server, 'bench_deliveries');
  }
}

export async function benchDeliveries(server: EmbeddedDatabase): Promise<void> {
  const receiver = startReceiver();
  const all: { plain: number; rate: number; written_rate: number }[] = [];
  try {
    await waitUntilReady(RECEIVER_PORT);
    const body = buildBody();
    for (let turn = 0; turn < ROUNDS; turn++)
      all.push({ plain: await plain(body), ...(await measureWorker(server, body)) });
  } finally {
    await end([receiver]);
  }
  const of = (key: keyof (typeof all)[number]) => median(all.map((figures) => figures[key]));
  const ratio = round(median(all.map(({ plain: loop, written_rate }) => written_rate / loop)));
  say(
    `${DELIVERIES.toLocaleString('en')} deliveries of one webhook, one worker: ${of('rate')}/s ` +
      `sent, ${of('written_rate')}/s sent and written down; a plain loop of undici: ` +
      `${of('plain')}/s (${ratio} x)`,
  );
  writeFileSync(
    '.bench/deliveries.json',
    JSON.stringify({ deliveries: DELIVERIES, rounds: ROUNDS, ratio, all }, null, 2),
  );
}
