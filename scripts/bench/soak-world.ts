import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { migrate } from '../../src/data/postgres/migrate';
import { fillBuyers } from './decisions-world';
import { openOffer } from './events-world';
import { fillLeads, openShop, type Shop } from './shop';
import { option } from './tools';
import { copyWorld, dropWorld, forgetStorage, prepareWorld, query, type BenchWorld } from './world';

// A company with a hundred days of records: a million calls with their conversions, and a million
// leads that wait for their next step. Built once, and copied for every run.

const MILLION = 1_000_000;
const CALLS = Number(option('calls', String(MILLION)));
const LEADS = Number(option('leads', String(MILLION)));
const BUYERS = 100;
/** Above the index of every number that the load submits. */
const FIRST_LEAD = 2 * MILLION;
const NAME = 'bench_soak';
/** Counts keep one row locked and growing: small transactions limit both. */
const CALLS_A_TRANSACTION = 1_000;

export interface SoakWorld {
  world: BenchWorld;
  offer_id: string;
  traffic_source_id: string;
  lead_token: string;
  calls: number;
}

/** $1 company, $2 offer, $3 source, $4 first buyer, $5 and $6 first and last number, $7 in all. */
const INSERT_CALLS = `
  WITH inserted AS (
    INSERT INTO calls AS c (company_id, uuid, created_at, updated_at, direction, status, carrier,
      from_number, caller_number, to_number, offer_id, traffic_source_id, buyer_id, token_values,
      answered_at, connected_at, ended_at, total_duration, answered_duration, buyer_converted,
      buyer_revenue, revenue, hangup_cause)
    SELECT $1, uuidv7(), t.at, t.at, 'inbound',
      CASE WHEN n % 10 < 8 THEN 'completed' ELSE 'no_answer' END, 'softswitch',
      12120000000 + n % 9999999, 12120000000 + n % 9999999, 13105550000 + n % 100, $2, $3,
      CASE WHEN n % 10 < 8 THEN $4::bigint + n % 1000 END,
      jsonb_build_object('state', 'S' || n % 50), t.at, CASE WHEN n % 10 < 8 THEN t.at END,
      t.at + interval '3 minutes', 180, 120, n % 10 < 2,
      CASE WHEN n % 10 < 2 THEN 24.5 ELSE 0 END, CASE WHEN n % 10 < 2 THEN 24.5 ELSE 0 END,
      'completed'
    FROM generate_series($5::bigint, $6::bigint) n,
      LATERAL (SELECT now() - interval '1 day' - ($7 - n) * interval '100 days' / $7 AS at) t
    RETURNING c.*, c AS now
  ),
  converted AS (
    INSERT INTO conversions (company_id, uuid, created_at, call_id, buyer_id, caller_number,
      revenue)
    SELECT company_id, uuidv7(), created_at, id, buyer_id, caller_number, revenue
    FROM inserted
    WHERE buyer_converted
  )
  INSERT INTO record_counts (company_id, resource, slot, n)
  SELECT $1, 'calls', 0, count(record_new_call(now)) FROM inserted
  ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`;

/** Records the calls as the service does, so that cached counts of lists are right. */
async function fillCalls(
  world: BenchWorld,
  { offer_id, traffic_source_id }: Pick<SoakWorld, 'offer_id' | 'traffic_source_id'>,
): Promise<void> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  for (let first = 0; first < CALLS; first += CALLS_A_TRANSACTION) {
    if (first % (CALLS / 10) === 0)
      process.stderr.write(`making calls: ${first} of ${CALLS} ...\n`);
    const last = Math.min(CALLS, first + CALLS_A_TRANSACTION) - 1;
    const values = [world.company_id, offer_id, traffic_source_id, world.first_id];
    await client.query({
      name: 'calls',
      text: INSERT_CALLS,
      values: [...values, first, last, CALLS],
    });
  }
  await client.end();
}

async function fill(world: BenchWorld): Promise<void> {
  const { url, company_id } = world;
  await fillBuyers(world);
  // Resets the counters, so that they count only the load.
  await query(
    url,
    `UPDATE call_limits SET attempt_daily_used = 0, daily_resets_at = NULL WHERE company_id = $1`,
    [company_id],
  );
  const offer = await openOffer(world, BUYERS);
  const shop: Shop = await openShop(world, 1);
  await query(url, 'UPDATE schedules SET offer_id = $2 WHERE company_id = $1', [
    company_id,
    offer.offer_id,
  ]);
  const { id: scheduleId, lead_token } = shop.schedules[0]!;
  process.stderr.write(`making ${LEADS} leads ...\n`);
  await fillLeads(
    world,
    { ...shop, offer_id: offer.offer_id },
    {
      schedule_id: scheduleId,
      first: FIRST_LEAD,
      count: LEADS,
      due_at: `now() + interval '10 days' + interval '1 second' * (n % 8640000)`,
    },
  );
  await fillCalls(world, offer);
  await query(url, 'VACUUM ANALYZE');
  await query(
    url,
    `CREATE TABLE bench_soak AS
      SELECT $1::text AS offer_id, $2::text AS traffic_source_id, $3::text AS lead_token,
        $4::int AS calls, $5::int AS leads`,
    [offer.offer_id, offer.traffic_source_id, lead_token, CALLS, LEADS],
  );
}

/** Returns an earlier world if it is complete and of the right size. */
async function findStoredWorld(
  server: EmbeddedDatabase,
  { url }: BenchWorld,
): Promise<Omit<SoakWorld, 'world'> | undefined> {
  const databases = await query(server.url, 'SELECT FROM pg_database WHERE datname = $1', [NAME]);
  if (databases.length === 0) return undefined;
  const [marker] = await query(url, `SELECT to_regclass('bench_soak') AS made`);
  if (!marker!.made) return undefined;
  const [row] = await query(url, 'SELECT * FROM bench_soak WHERE calls = $1 AND leads = $2', [
    CALLS,
    LEADS,
  ]);
  return row as Omit<SoakWorld, 'world'> | undefined;
}

export async function openSoakWorld(server: EmbeddedDatabase): Promise<SoakWorld> {
  const base = await prepareWorld(server, 10_000);
  const template = { ...base, url: base.url.replace(/bench_10000$/, NAME) };
  if (!(await findStoredWorld(server, template))) await fill(await copyWorld(server, base, NAME));
  await migrate(template.url);
  const storedWorld = (await findStoredWorld(server, template))!;
  const name = `${NAME}_run`;
  await dropWorld(server, name);
  await query(server.url, `CREATE DATABASE ${name} TEMPLATE ${NAME}`);
  const url = template.url.replace(/bench_soak$/, name);
  await forgetStorage(url);
  return { ...storedWorld, world: { ...template, url } };
}

export const dropSoakRun = (server: EmbeddedDatabase): Promise<void> =>
  dropWorld(server, `${NAME}_run`);
