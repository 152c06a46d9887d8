import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbedded, type EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { migrate } from '../../src/data/postgres/migrate';
import { loadConfig } from '../../src/main/config';
import { prepareQueue } from '../../src/data/jobs/queue';
import { createDeps } from '../../src/operate/installation/deps';
import { createCompany } from '../../src/operate/installation/create-company';

export const PEPPER = 'a pepper for benchmarks, long enough to be one';
const OTHER_COMPANIES = 49;
const BUYERS_OF_OTHERS = 1_000;

export interface BenchWorld {
  url: string;
  auth: string;
  company_id: string;
  /** Ids of the company's buyers run from first to last. */
  first_id: number;
  last_id: number;
  buyers: number;
}

export function startDatabase(): Promise<EmbeddedDatabase> {
  return startEmbedded({
    dataDir: '.bench',
    settings: {
      // Several servers run at a time, each with several processes.
      max_connections: '800',
      shared_buffers: '2GB',
      max_wal_size: '8GB',
      shared_preload_libraries: 'pg_stat_statements',
    },
  });
}

/**
 * Creates a database with fifty companies, one of them with `buyers` buyers; reuses an existing
 * one.
 */
export async function prepareWorld(server: EmbeddedDatabase, buyers: number): Promise<BenchWorld> {
  const name = `bench_${buyers}`;
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  await query(server.url, `CREATE DATABASE ${name}`).catch((error: { code?: string }) => {
    if (error.code !== '42P04') throw error;
  });
  await migrate(url);
  await prepareQueue(url);
  const [marker] = await query(url, `SELECT to_regclass('bench_world') AS present`);
  if (!marker?.present) await populate(url, buyers);
  const [row] = await query(url, 'SELECT auth, company_id FROM bench_world');
  const [range] = await query(
    url,
    `SELECT min(id)::int AS first_id, max(id)::int AS last_id
      FROM buyers
      WHERE company_id = ${row!.company_id} AND user_buyer_id LIKE 'ext-%'`,
  );
  return {
    url,
    auth: row!.auth as string,
    company_id: String(row!.company_id),
    first_id: range!.first_id as number,
    last_id: range!.last_id as number,
    buyers,
  };
}

/** Copies a world to a database that the bench may change and then drops. */
export async function copyWorld(
  server: EmbeddedDatabase,
  world: BenchWorld,
  name: string,
): Promise<BenchWorld> {
  await dropWorld(server, name);
  await query(server.url, `CREATE DATABASE ${name} TEMPLATE bench_${world.buyers}`);
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  await forgetStorage(url);
  return { ...world, url };
}

/** The storage folder of a bench's services: each database has its own. */
export const toStorageFolder = (url: string): string =>
  join('.bench/storage', new URL(url).pathname.slice(1));

/** A copied database would refuse a storage other than the original's. */
export async function forgetStorage(url: string): Promise<void> {
  rmSync(toStorageFolder(url), { recursive: true, force: true });
  await query(url, 'UPDATE installations SET storage_id = NULL').catch(() => undefined);
}

export async function dropWorld(server: EmbeddedDatabase, name: string): Promise<void> {
  await query(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/**
 * Waits until the database is idle, so that the last statements of a slow contender do not slow the
 * next one.
 */
export async function waitUntilIdle({ url }: BenchWorld): Promise<void> {
  const busy = `SELECT count(*)::int AS n
    FROM pg_stat_activity
    WHERE state = 'active' AND backend_type IN ('client backend', 'parallel worker',
      'autovacuum worker') AND pid <> pg_backend_pid()`;
  while (((await query(url, busy))[0]?.n as number) > 0)
    await new Promise((done) => setTimeout(done, 100));
}

export async function query(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function populate(url: string, buyers: number): Promise<void> {
  process.stderr.write(`making a world of ${buyers} buyers ...\n`);
  const deps = createDeps({
    config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent' }),
    database_url: url,
  });
  const { company_id, credentials } = await createCompany('Bench', deps);
  for (let i = 0; i < OTHER_COMPANIES; i++)
    await fill(url, (await createCompany(`Other ${i}`, deps)).company_id, BUYERS_OF_OTHERS);
  await deps.database.close();
  await fill(url, company_id, buyers);
  await query(url, 'VACUUM ANALYZE');
  await query(
    url,
    `CREATE TABLE bench_world AS
      SELECT '${credentials.public_key}:${credentials.private_key}' AS auth, ${company_id}::bigint
        AS company_id`,
  );
}

/** Inserts realistic buyers: all have caps and a conversion, half have hours, 100 per group. */
async function fill(url: string, companyId: bigint, count: number): Promise<void> {
  const statements = [
    `INSERT INTO buyers (company_id, uuid, name, number, user_buyer_id, buyer_type, time_zone,
      paused, timeout_seconds, record_calls, press_one_to_accept, route_by_type, tier, weight,
      display_caller_id_type,
       created_at, record_token_filter_data)
     SELECT $1, gen_random_uuid(), 'Buyer ' || md5(i::text), '+1310' || lpad((i % 10000000)::text,
       7, '0'), 'ext-' || i, 'buyer', 'America/New_York', i % 10 = 0, 30, true, false, 'tier', i %
       5, 10,
       'display_caller_id', now() - interval '1 minute' * (i % 500000), ARRAY['state:in CA,NV']
       FROM generate_series(1, $2::int) i`,
    `INSERT INTO call_limits (company_id, buyer_id, zone, concurrency_cap_limit,
      attempt_daily_limit, attempt_daily_used, daily_resets_at)
     SELECT company_id, id, 'America/New_York', 10, 500, 3, now() + interval '1 hour'
     FROM buyers
     WHERE company_id = $1 AND $2::int > 0`,
    `INSERT INTO buyer_business_hours (company_id, buyer_id, position, schedule, open_minutes,
      attempt_hourly_limit)
     SELECT company_id, id, 0,
       '[{"day":1,"times":["09:00..17:59"]},{"day":2,"times":["09:00..17:59"]}]',
       '{1980,2520,3420,3960}', 50
     FROM buyers
     WHERE company_id = $1 AND id % 2 = 0 AND $2::int > 0`,
    `INSERT INTO buyer_conversions (company_id, uuid, buyer_id, time_frame, position, schedule,
      conversion_type, duration, revenue, duplicate_timeframe)
     SELECT company_id, gen_random_uuid(), id, 0, 0, '[]', 'duration', 90, 24.5, 7200
     FROM buyers
     WHERE company_id = $1 AND $2::int > 0`,
    `INSERT INTO buyer_groups (company_id, uuid, name, time_zone, tier, weight, dial_buyers_type)
     SELECT $1, gen_random_uuid(), 'Group ' || i, 'America/New_York', 1, 1, 'sequentially'
     FROM generate_series(1, greatest(1, $2::int / 100)) i`,
    `INSERT INTO buyer_group_members (company_id, buyer_group_id, buyer_id)
     SELECT b.company_id, g.low + b.id % g.n, b.id
     FROM buyers b, (SELECT min(id) AS low, count(*) AS n FROM buyer_groups WHERE company_id = $1) g
     WHERE b.company_id = $1 AND $2::int > 0`,
    `INSERT INTO record_counts (company_id, resource, slot, n) VALUES ($1, 'buyers', 0, $2::int)`,
  ];
  for (const statement of statements) await query(url, statement, [companyId, count]);
}
