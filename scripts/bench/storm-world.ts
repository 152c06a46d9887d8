import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { CallClient } from './call-client';
import { CONVERSION } from './events-world';
import { end, startService, startWorker, waitUntilReady } from './tools';
import { copyWorld, prepareWorld, query, type BenchWorld } from './world';

/** Limits of the buyers of an offer; none is ever reached. */
export const KINDS = ['no caps', 'daily and concurrency', 'capped group', 'prepaid'] as const;
export type Kind = (typeof KINDS)[number];

/** A world with 10,000 buyers, of whom no offer has any. */
export async function openStormWorld(server: EmbeddedDatabase, name: string): Promise<BenchWorld> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), name);
  const { url, company_id } = world;
  for (const text of [
    `UPDATE buyers SET paused = false, tier = 1, weight = 1, record_token_filter_data = '{}'
      WHERE company_id = $1`,
    'DELETE FROM buyer_business_hours WHERE company_id = $1',
    `UPDATE buyer_conversions
      SET revenue = ${CONVERSION.revenue}, duration = ${CONVERSION.after_seconds},
        duplicate_timeframe = 0
      WHERE company_id = $1`,
  ])
    await query(url, text, [company_id]);
  await query(url, 'VACUUM ANALYZE');
  return world;
}

const LIMITS: Record<Kind, string> = {
  'no caps': '',
  'daily and concurrency': ', attempt_daily_limit = 1000000, concurrency_cap_limit = 100000',
  'capped group': '',
  prepaid: ', balance = 1000000000',
};

/** Creates an offer with buyers that no other offer of a bench has; returns its id. */
export async function openStormOffer(
  { url, company_id, first_id }: BenchWorld,
  { kind, buyers, skip }: { kind: Kind; buyers: number; skip: number },
): Promise<string> {
  const [offer] = await query(
    url,
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      VALUES ($1, uuidv7(), $2, 'America/New_York', md5(random()::text))
      RETURNING id`,
    [company_id, `${kind}, ${buyers} buyers`],
  );
  const offerId = String(offer!.id);
  const firstId = first_id + skip;
  const range = [company_id, firstId, firstId + buyers - 1];
  await query(
    url,
    `UPDATE call_limits l
      SET ${NO_LIMITS}
      WHERE company_id = $1 AND buyer_id BETWEEN $2 AND $3`,
    range,
  );
  await query(
    url,
    `UPDATE call_limits l
      SET changed_by = pg_current_xact_id() ${LIMITS[kind]}
      WHERE company_id = $1 AND buyer_id BETWEEN $2 AND $3`,
    range,
  );
  if (kind !== 'capped group') {
    await query(
      url,
      `INSERT INTO offer_buyers (company_id, offer_id, buyer_id)
        SELECT company_id, $4, id FROM buyers WHERE company_id = $1 AND id BETWEEN $2 AND $3`,
      [...range, offerId],
    );
    return offerId;
  }
  const [group] = await query(
    url,
    `INSERT INTO buyer_groups (company_id, uuid, name, time_zone, tier, weight, dial_buyers_type)
      VALUES ($1, uuidv7(), 'Capped', 'America/New_York', 1, 1, 'sequentially')
      RETURNING id`,
    [company_id],
  );
  await query(
    url,
    `INSERT INTO call_limits (company_id, buyer_group_id, zone, attempt_daily_limit)
      VALUES ($1, $2, 'America/New_York', 1000000)`,
    [company_id, group!.id],
  );
  await query(
    url,
    `INSERT INTO buyer_group_members (company_id, buyer_group_id, buyer_id)
      SELECT company_id, $4, id FROM buyers WHERE company_id = $1 AND id BETWEEN $2 AND $3`,
    [...range, group!.id],
  );
  await query(
    url,
    `INSERT INTO offer_buyer_groups (company_id, offer_id, buyer_group_id) VALUES ($1, $2, $3)`,
    [company_id, offerId, group!.id],
  );
  return offerId;
}

const NO_LIMITS = ['total', 'monthly', 'daily', 'hourly']
  .flatMap((period) =>
    ['attempt', 'connection', 'buyer_conversion', 'revenue', 'earned_revenue'].map(
      (metric) => `${metric}_${period}_limit = NULL`,
    ),
  )
  .concat('concurrency_cap_limit = NULL', 'changed_by = pg_current_xact_id()')
  .join(', ');

/** A session reports its counts to pg_stat_database within a second. */
export async function countDeadlocks({ url }: BenchWorld): Promise<number> {
  await new Promise((done) => setTimeout(done, 1_500));
  const counts = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';
  return Number((await query(url, counts))[0]!.deadlocks);
}

/** Adds the milliseconds that work takes, if it succeeds. */
export async function timeInto<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  times.push(performance.now() - startedAt);
  return result;
}

/** Runs work with a service on each port, and a softswitch for each; jobs run in a worker. */
export async function withClients<T>(
  world: BenchWorld,
  ports: readonly string[],
  { connections, work }: { connections: number; work: (clients: CallClient[]) => Promise<T> },
): Promise<T> {
  const settings = { RUN_JOBS: 'false', WEB_CONCURRENCY: '1' };
  const services = [
    ...ports.map((port) => startService(world.url, port, settings)),
    startWorker(world.url),
  ];
  const clients = ports.map((port) => new CallClient(world, port, connections));
  try {
    await Promise.all(ports.map(waitUntilReady));
    return await work(clients);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await end(services);
  }
}
