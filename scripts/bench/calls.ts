import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { createIndexes, dropIndexes, measureLists } from './lists';
import { option } from './tools';
import { copyWorld, prepareWorld, query, type BenchWorld } from './world';

// Lists five million calls: a page of 25 with its exact count, for each filter.

const PORT = '4112';
const MILLION = 1_000_000;
const CALLS = Number(option('calls', String(5 * MILLION)));
const DAYS = 100;

/**
 * $1 company, $2 first buyer, $3 and $4 first and last number of the calls, $5 calls in all, $6
 * days that the calls are spread over.
 */
const INSERT_CALLS = `
  WITH o AS (SELECT min(id) AS id FROM offers WHERE company_id = $1),
    s AS (SELECT min(id) AS id FROM traffic_sources WHERE company_id = $1),
    g AS (SELECT min(id) AS id, count(*) AS count FROM buyer_groups WHERE company_id = $1)
  INSERT INTO calls (company_id, uuid, created_at, updated_at, direction, status, carrier,
    carrier_call_id, from_number, caller_number, to_number, connect_to, offer_id,
    traffic_source_id, buyer_id, buyer_group_id, token_values, answered_at, connected_at, ended_at,
    total_duration, answered_duration, buyer_converted, traffic_source_converted, buyer_revenue, revenue, payout,
    recording_url, hangup_cause, sub_id, caller_state)
  SELECT $1, uuidv7(), t.at, t.at, CASE WHEN n % 10 = 0 THEN 'outbound' ELSE 'inbound' END,
    CASE WHEN n > $5 - 200 THEN 'in_progress' WHEN r < 0.85 THEN 'completed' ELSE 'no_answer' END,
    'twilio', 'CA' || n,
    12120000000 + n % 9999999, 12120000000 + n % 9999999, 13105550000 + n % 100,
    CASE WHEN r < 0.9 THEN '+1415' || lpad((n % 1000)::text, 7, '0') END,
    o.id + n % 40, s.id + n % 50, CASE WHEN r < 0.9 THEN $2::bigint + n % 1000 END,
    CASE WHEN r < 0.9 THEN g.id + ($2::bigint + n % 1000) % g.count END,
    jsonb_build_object('state', 'S' || n % 50, 'zip', lpad((n % 30000)::text, 5, '0')),
    t.at, CASE WHEN r < 0.85 THEN t.at END,
    CASE WHEN n > $5 - 200 THEN NULL ELSE t.at + interval '3 minutes' END, 180, 120,
    r < 0.2, r < 0.15, CASE WHEN r < 0.2 THEN 25 ELSE 0 END, CASE WHEN r < 0.2 THEN 25 ELSE 0 END,
    CASE WHEN r < 0.15 THEN 12 ELSE 0 END,
    CASE WHEN n % 10 < 3 THEN 'https://example.com/' || n END, 'caller',
    'sub-' || n % 300, 'S' || n % 50
  FROM (SELECT n, random() AS r FROM generate_series($3::bigint, $4::bigint) n) x, o, s, g,
    LATERAL (SELECT now() - (($5 - n) * interval '1 day' * $6::float8 / $5) AS at) t`;

const COUNT_CALLS = `
  INSERT INTO record_counts (company_id, resource, slot, n)
  SELECT company_id, 'calls' || x.kind, 0, count(*)
  FROM calls, LATERAL (VALUES ('', true), ('/buyer_converted', buyer_converted),
    ('/either_converted', buyer_converted OR traffic_source_converted),
    ('/has_recording', recording_url IS NOT NULL), ('/no_buyer', buyer_id IS NULL),
    ('/offer_converted', traffic_source_converted),
    ('/outbound', direction = 'outbound')) AS x (kind, holds)
  WHERE x.holds
  GROUP BY 1, 2`;

type Run = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

async function fillOffersAndSources(run: Run, companyId: string): Promise<void> {
  await run(
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      SELECT $1, uuidv7(), 'Offer ' || i, 'America/New_York', md5(random()::text)
      FROM generate_series(1, 40) i`,
    [companyId],
  );
  await run(
    `INSERT INTO traffic_sources (company_id, uuid, name)
      SELECT $1, uuidv7(), 'Source ' || i
      FROM generate_series(1, 50) i`,
    [companyId],
  );
}

/**
 * Inserts calls of 40 offers, 50 sources and 1,000 buyers. Creating the indexes and counting the
 * calls after the rows is faster.
 */
async function fill(world: BenchWorld, days: number): Promise<void> {
  const { url, company_id, first_id } = world;
  const run: Run = (text, values = []) => query(url, text, values);
  await fillOffersAndSources(run, company_id);
  const indexes = await dropIndexes(world, 'calls');
  const step = Math.min(CALLS, MILLION);
  for (let first = 0; first < CALLS; first += step) {
    process.stderr.write(`making calls: ${first} of ${CALLS} ...\n`);
    await run(INSERT_CALLS, [company_id, first_id, first, first + step - 1, CALLS, days]);
  }
  process.stderr.write('making their indexes ...\n');
  await createIndexes(world, indexes);
  await run(COUNT_CALLS);
  await query(url, 'VACUUM ANALYZE calls');
  await run('CREATE TABLE bench_calls AS SELECT 1');
}

/** Returns a database with five million calls over `days` days; reuses an existing one. */
export async function prepareCalls(
  server: EmbeddedDatabase,
  { name = 'bench_calls', days = DAYS } = {},
): Promise<BenchWorld> {
  const base = await prepareWorld(server, 10_000);
  const world = { ...base, url: base.url.replace(/bench_10000$/, name) };
  const databases = await query(server.url, 'SELECT FROM pg_database WHERE datname = $1', [name]);
  if (
    databases.length > 0 &&
    (await query(world.url, `SELECT to_regclass('bench_calls') AS present`))[0]!.present
  )
    return world;
  await fill(await copyWorld(server, base, name), days);
  return world;
}

async function queryStrings(world: BenchWorld): Promise<string[]> {
  const [ids] = await query(
    world.url,
    `SELECT (SELECT min(id) FROM offers WHERE company_id = $1)::int AS offer, (SELECT min(id) FROM
      traffic_sources WHERE company_id = $1)::int AS source, to_char(now() - interval '7 days',
      'YYYY-MM-DD') AS day,
      to_char(now() - interval '6 days', 'YYYY-MM-DD') AS next`,
    [world.company_id],
  );
  const { offer, source, day, next } = ids as {
    offer: number;
    source: number;
    day: string;
    next: string;
  };
  return [
    '',
    `offer_id=${offer}`,
    `buyer_id=${world.first_id}`,
    `traffic_source_id=${source}`,
    'buyer_converted=true',
    'buyer_converted=false',
    'offer_converted=true',
    'either_converted=true',
    'in_progress=true',
    'in_progress=false',
    'has_recording=true',
    'no_buyer=true',
    'no_buyer=false',
    `created_at_from=${day}&created_at_to=${next}`,
    `ended_at_from=${day}&ended_at_to=${next}`,
    'caller_number=%2B12120012345',
    'status=no_answer',
    'category=outbound',
    'token_key=zip&token_value=00123',
    'token_key=state&token_value=S7',
    'token_key=state',
    'fulltext=CA4999',
    'order=created_at&order_dir=desc',
    `offer_id=${offer}&buyer_converted=true`,
  ];
}

export async function benchCalls(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareCalls(server);
  const searches = await queryStrings(world);
  await measureLists(world, { port: PORT, resource: 'calls', searches });
}
