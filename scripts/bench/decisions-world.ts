import { option } from './tools';
import { query, type BenchWorld } from './world';

/** Numbers on each list. */
export const LISTED = Number(option('listed', '1000000'));
export const LISTS = 20;

/**
 * Creates an offer with `buyers` of the company's buyers, without the first `offset`, in groups of
 * ten, and returns its id.
 */
export async function fillOffer(
  { url, company_id }: BenchWorld,
  buyers: number,
  offset = 0,
): Promise<string> {
  const offers = (await query(
    url,
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      VALUES ($1, uuidv7(), 'Offer of ' || $2, 'America/New_York', md5(random()::text))
      RETURNING id`,
    [company_id, buyers],
  )) as { id: string }[];
  const offerId = offers[0]!.id;
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
        company_id = $1 ORDER BY id LIMIT $3::int OFFSET $4::int) x)
    INSERT INTO buyer_group_members (company_id, buyer_group_id, buyer_id)
    SELECT $1, n.id, b.id
    FROM b
    JOIN n ON n.n = b.n % n.groups`,
    [company_id, offerId, buyers, offset],
  );
  return offerId;
}

/** Gives every buyer caps that are never reached and business hours that are always open. */
export async function fillBuyers({ url, company_id }: BenchWorld): Promise<void> {
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
}

/** Creates the suppression lists; each applies to one buyer in LISTS. */
export async function fillLists({ url, company_id }: BenchWorld, listed = LISTED): Promise<void> {
  for (let list = 0; list < LISTS; list++) {
    const [suppressionList] = (await query(
      url,
      `INSERT INTO buyer_suppressions (company_id, uuid, name, blocked)
        VALUES ($1, uuidv7(), $2, $3)
        RETURNING id`,
      [company_id, `List ${list}`, listed],
    )) as { id: string }[];
    await query(
      url,
      `INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
        SELECT $1, $2, 20000000000 + n * 20 + $3
        FROM generate_series(1, $4::bigint) n`,
      [company_id, suppressionList!.id, list, listed],
    );
    await query(
      url,
      `INSERT INTO buyer_suppression_buyers (company_id, buyer_suppression_id, buyer_id)
        SELECT $1, $2, id
        FROM buyers
        WHERE company_id = $1 AND id % ${LISTS} = $3`,
      [company_id, suppressionList!.id, list],
    );
  }
}

/** Calls that exist before the load. */
const CALLS = 20_000;

/**
 * Creates ended calls of an offer, as an installation has that has run for a while: plans for a
 * table that was empty when it was analyzed read all of it until the next ANALYZE.
 */
export async function fillCalls(
  { url, company_id, first_id }: BenchWorld,
  offerId: string,
): Promise<void> {
  await query(
    url,
    `WITH made AS (
      INSERT INTO calls (company_id, uuid, created_at, updated_at, direction, status, carrier,
        from_number, caller_number, offer_id, buyer_id, connected_at, ended_at, answered_duration)
      SELECT $1, uuidv7(), at, at, 'inbound', 'completed', 'softswitch', 13050000000 + n * 37,
        13050000000 + n * 37, $2, $3::bigint + n % 1000, at, at + interval '90 seconds', 80
      FROM generate_series(1, $4::int) n, LATERAL (SELECT now() - n * interval '1 minute' AS at) x
      RETURNING *
    ),
    attempts AS (
      INSERT INTO call_attempts (company_id, uuid, created_at, call_id, round, buyer_id, connect_to,
        status, timeout_seconds, press_one_to_accept, dial, connected_at, ended_at)
      SELECT company_id, uuidv7(), created_at, id, 1, buyer_id, '+13105550111', 'completed', 30,
        false, '{}', connected_at, ended_at
      FROM made
    )
    INSERT INTO conversions (company_id, uuid, created_at, call_id, buyer_id, caller_number, revenue)
    SELECT company_id, uuidv7(), created_at, id, buyer_id, caller_number, 20
    FROM made
    WHERE id % 4 = 0`,
    [company_id, offerId, first_id, CALLS],
  );
}
