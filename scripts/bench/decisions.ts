import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { Pool } from 'pg';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { phoneNumber } from './shop';
import { end, median, option, paced, percentile, ready, round, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, quiet, type BenchWorld } from './world';

// Who gets a call: 1,000 buyers of an offer in 100 groups, with caps and hours on all of them, and
// 20 suppression lists. A decision by HTTP takes up caps and writes the call, its attempt and the
// decision with every buyer's reason; the floor does the least of these writes, for a buyer that is
// known beforehand.

const PORT = '4111';
const SECONDS = Number(option('seconds', '15'));
const RATE = 50;
const CONNECTIONS = 16;
const LISTED = Number(option('listed', '1000000'));
const LISTS = 20;
const BUYERS = [10, 100, 1_000, 10_000];
const WARM_SECONDS = 5;

interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
}

/** An offer with so many of the company's buyers in groups of ten. */
async function fillOffer({ url, company_id }: BenchWorld, buyers: number): Promise<string> {
  const made = (await query(
    url,
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      VALUES ($1, uuidv7(), 'Offer of ' || $2, 'America/New_York', md5(random()::text))
      RETURNING id`,
    [company_id, buyers],
  )) as { id: string }[];
  const offer_id = made[0]!.id;
  await query(
    url,
    `WITH g AS (INSERT INTO buyer_groups (company_id, uuid, name, time_zone, tier, weight,
      dial_buyers_type, user_updated_at)
        SELECT $1, uuidv7(), 'Group ' || i || ' of ' || $3::int, 'America/New_York', 1, 1,
          'sequentially', now()
        FROM generate_series(1, greatest(1, $3::int / 10)) i
        RETURNING company_id, id),
      l AS (INSERT INTO call_limits (company_id, buyer_group_id, zone, attempt_daily_limit,
        concurrency_cap_limit) SELECT company_id, id, 'America/New_York', 10000000, 1000000 FROM g),
      o AS (INSERT INTO offer_buyer_groups (company_id, offer_id, buyer_group_id) SELECT company_id,
        $2, id FROM g),
      n AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n, count(*) OVER () AS groups FROM g),
      b AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM (SELECT id FROM buyers WHERE
        company_id = $1 ORDER BY id LIMIT $3::int) x)
    INSERT INTO buyer_group_members (company_id, buyer_group_id, buyer_id)
    SELECT $1, n.id, b.id
    FROM b
    JOIN n ON n.n = b.n % n.groups`,
    [company_id, offer_id, buyers],
  );
  return offer_id;
}

/**
 * Caps with room and hours on every buyer, each entry of hours open all week; lists on some of
 * them.
 */
async function fillBuyers({ url, company_id }: BenchWorld): Promise<void> {
  await query(
    url,
    `UPDATE buyers SET paused = false, record_token_filter_data = '{"state:in CA,NV"}'
      WHERE company_id = $1`,
    [company_id],
  );
  await query(
    url,
    `UPDATE call_limits SET attempt_daily_limit = 1000000, connection_monthly_limit = 10000000,
      revenue_total_limit = 100000000, concurrency_cap_limit = 100000
      WHERE company_id = $1 AND buyer_id IS NOT NULL`,
    [company_id],
  );
  await query(url, `DELETE FROM buyer_business_hours WHERE company_id = $1`, [company_id]);
  const week = JSON.stringify(
    [...Array(7).keys()].map((day) => ({ day, times: ['00:00..23:59'] })),
  );
  await query(
    url,
    `INSERT INTO buyer_business_hours (company_id, buyer_id, position, schedule, open_minutes,
      attempt_hourly_limit)
      SELECT company_id, id, 0, $2::jsonb, '{0,10080}', 100000
      FROM buyers
      WHERE company_id = $1`,
    [company_id, week],
  );
  for (let list = 0; list < LISTS; list++) {
    const [made] = (await query(
      url,
      `INSERT INTO buyer_suppressions (company_id, uuid, name, blocked)
        VALUES ($1, uuidv7(), $2, $3)
        RETURNING id`,
      [company_id, `List ${list}`, LISTED],
    )) as { id: string }[];
    await query(
      url,
      `INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
        SELECT $1, $2, 20000000000 + n * 20 + $3
        FROM generate_series(1, $4::bigint) n`,
      [company_id, made!.id, list, LISTED],
    );
    await query(
      url,
      `INSERT INTO buyer_suppression_buyers (company_id, buyer_suppression_id, buyer_id)
        SELECT $1, $2, id
        FROM buyers
        WHERE company_id = $1 AND id % ${LISTS} = $3`,
      [company_id, made!.id, list],
    );
  }
}

type Load = {
  connections?: number;
  rate?: number;
  path: string;
  seconds: number;
  offer_id: string;
};

async function load(
  world: BenchWorld,
  { connections = 1, rate, path, seconds, offer_id }: Load,
): Promise<Figures> {
  await quiet(world);
  await query(world.url, 'CHECKPOINT');
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const body = () =>
    JSON.stringify({
      offer_id,
      caller_number: `+${phoneNumber(Math.floor(Math.random() * 1_000_000))}`,
      tokens: { state: 'CA' },
    });
  if (rate !== undefined) {
    // Not by autocannon, which sends all requests of a second at its beginning: calls come one by
    // one.
    const { times, errors } = await paced({
      url: `http://127.0.0.1:${PORT}/api/v1/${path}`,
      headers,
      body,
      rate,
      seconds,
    });
    return {
      req_s: times.length / seconds,
      p50_ms: round(median(times), 1),
      p99_ms: round(percentile(times, 0.99), 1),
      errors,
    };
  }
  const result = await autocannon({
    url: `http://127.0.0.1:${PORT}`,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method: 'POST' as const,
          path: `/api/v1/${path}`,
          headers,
          body: body(),
        }),
      },
    ],
  });
  return {
    req_s: result.requests.average,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    errors: result.errors + result.non2xx,
  };
}

/** Transactions a second that do the writes alone: one row of caps, the call, its attempt. */
async function floor(world: BenchWorld, offer_id: string): Promise<Figures> {
  const pool = new Pool({
    connectionString: world.url,
    max: CONNECTIONS,
    options: '-c timezone=UTC',
  });
  const times: number[] = [];
  const deadline = Date.now() + SECONDS * 1000;
  const lane = async () => {
    while (Date.now() < deadline) {
      const started = performance.now();
      const buyer_id = world.first_id + Math.floor(Math.random() * 1_000);
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query({
        name: 'cap',
        text: `UPDATE call_limits SET attempt_daily_used = attempt_daily_used + 1
          WHERE company_id = $1 AND buyer_id = $2`,
        values: [world.company_id, buyer_id],
      });
      const { rows } = await client.query({
        name: 'call',
        text: `INSERT INTO calls (company_id, uuid, direction, status, carrier, from_number,
          caller_number, offer_id, buyer_id)
          VALUES ($1, uuidv7(), 'inbound', 'ringing', 'softswitch', $2, $2, $3, $4)
          RETURNING id`,
        values: [world.company_id, 13105550188, offer_id, buyer_id],
      });
      await client.query({
        name: 'attempt',
        text: `INSERT INTO call_attempts (company_id, uuid, call_id, round, buyer_id, connect_to,
          status, timeout_seconds, press_one_to_accept, dial)
          VALUES ($1, uuidv7(), $2, 1, $3, '+13105550111', 'ringing', 30, false, '{}')`,
        values: [world.company_id, rows[0].id, buyer_id],
      });
      await client.query('COMMIT');
      client.release();
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  await pool.end();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    req_s: Math.round(times.length / SECONDS),
    p50_ms: round(median(times)),
    p99_ms: round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    errors: 0,
  };
}

export async function benchDecisions(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_decisions');
  const report: ({ what: string } & Figures)[] = [];
  const tell = (what: string, figures: Figures) => {
    report.push({ what, ...figures });
    const { req_s, p50_ms, p99_ms, errors } = figures;
    say(
      `${what.padEnd(62)} ${String(round(req_s, 1)).padStart(7)}/s  p50 ${p50_ms} ms  p99 ` +
        `${p99_ms} ms${errors ? `  ERRORS ${errors}` : ''}`,
    );
  };
  await fillBuyers(world);
  const offers = new Map<number, string>();
  for (const buyers of BUYERS) offers.set(buyers, await fillOffer(world, buyers));
  await query(world.url, 'VACUUM ANALYZE');
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  try {
    await ready(PORT);
    const offer_id = offers.get(1_000)!;
    const decide = { path: 'call_sessions', offer_id };
    await load(world, { ...decide, connections: CONNECTIONS, seconds: WARM_SECONDS });
    tell(
      `decisions, 1,000 buyers, ${RATE} a second`,
      await load(world, { ...decide, rate: RATE, seconds: SECONDS }),
    );
    tell(
      `explanations, 1,000 buyers, ${RATE} a second`,
      await load(world, { path: 'routing/explain', offer_id, rate: RATE, seconds: SECONDS }),
    );
    tell(
      `decisions, 1,000 buyers, ${CONNECTIONS} connections`,
      await load(world, { ...decide, connections: CONNECTIONS, seconds: SECONDS }),
    );
    tell(`floor: the writes alone, ${CONNECTIONS} connections`, await floor(world, offer_id));
    for (const buyers of BUYERS) {
      const one = { path: 'call_sessions', offer_id: offers.get(buyers)!, connections: 1 };
      await load(world, { ...one, seconds: 1 });
      tell(
        `decisions one after the other, ${buyers.toLocaleString('en')} buyers`,
        await load(world, { ...one, seconds: 5 }),
      );
    }
  } finally {
    await end([service]);
    await dropWorld(server, 'bench_decisions');
  }
  writeFileSync(
    '.bench/decisions.json',
    JSON.stringify({ seconds: SECONDS, lists: LISTS, listed: LISTED, report }, null, 2),
  );
}
