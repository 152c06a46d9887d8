import { CAPS, METRICS, type UsedName } from '../../../buyers/caps';
import type { Limits } from '../caps';
import type { PaidFor } from '../outcome';
import { template } from '../../../db/statement';
import type { Statements } from '../../../db/tenant';

// What a replay of calls is made of: read, never locked, never changed.

/** Which calls. */
export interface Period {
  offer_id: bigint;
  from: Date;
  to: Date;
}

const CALLS = `calls c WHERE c.company_id = {company_id} AND c.offer_id = {offer_id}::bigint AND c.direction = 'inbound' AND c.deleted_at IS NULL AND c.ended_at IS NOT NULL
  AND c.created_at >= {from}::timestamptz AND c.created_at < {to}::timestamptz`;

const COUNT = template(
  `SELECT count(*)::int AS n FROM (SELECT FROM ${CALLS} LIMIT {most}::int) x`,
  { prepared: false },
);

const at = ({ offer_id, from, to }: Period) => ({
  offer_id,
  from: from.toISOString(),
  to: to.toISOString(),
});

/** How many calls of an offer have come in and ended, counted up to `most`. */
export const countCalls = async (db: Statements, period: Period, most: number): Promise<number> =>
  (await db.query<{ n: number }>(COUNT({ ...at(period), company_id: db.company_id, most })))[0]!.n;

/** A call as it took place. */
export interface PastCall {
  id: number;
  at: Date;
  caller_number: number | null;
  traffic_source_id: number | null;
  payout: number;
  token_values: Record<string, unknown> | null;
  talked: number | null;
  gave_up_after: number | null;
  repeat_caller: boolean;
  /** Whom it was connected to, or last tried with. */
  buyer_id: number | null;
  seeds: string[];
  attempts: {
    buyer_id: number;
    status: string;
    rang: number;
    connected: boolean;
    revenue: number | null;
  }[];
  calls_last: Record<1 | 7 | 30 | 90, number> | null;
  previous_fleets: string[] | null;
}

const within = (days: number) =>
  `count(*) FILTER (WHERE p.created_at > c.created_at - interval '${days} days')`;
const EARLIER = 'p.company_id = c.company_id AND p.caller_number = c.caller_number AND p.id < c.id';

const READ = template(
  `SELECT c.id::float8 AS id, c.created_at AS at, c.caller_number::float8 AS caller_number, c.traffic_source_id::float8 AS traffic_source_id, c.payout::float8 AS payout, c.buyer_id::float8 AS buyer_id,
    c.buyer_repeat_caller AS repeat_caller, CASE WHEN {tokens}::boolean THEN c.token_values END AS token_values,
    CASE WHEN c.connected_at IS NOT NULL THEN coalesce(c.answered_duration, 0) END AS talked,
    CASE WHEN c.connected_at IS NULL AND EXISTS (SELECT FROM call_attempts a WHERE a.company_id = c.company_id AND a.call_id = c.id AND a.status = 'canceled')
      THEN extract(epoch FROM c.ended_at - c.created_at)::float8 END AS gave_up_after,
    ARRAY(SELECT d.decision->>'seed' FROM call_decisions d WHERE d.company_id = c.company_id AND d.call_id = c.id ORDER BY d.round) AS seeds,
    coalesce((SELECT json_agg(json_build_object('buyer_id', a.buyer_id, 'status', a.status, 'connected', a.connected_at IS NOT NULL, 'revenue', v.revenue,
        'rang', extract(epoch FROM coalesce(a.connected_at, a.ended_at, c.ended_at) - a.created_at)) ORDER BY a.id)
      FROM call_attempts a LEFT JOIN conversions v ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
      WHERE a.company_id = c.company_id AND a.call_id = c.id), '[]') AS attempts,
    CASE WHEN {history}::boolean THEN (SELECT json_build_object('1', ${within(1)}, '7', ${within(7)}, '30', ${within(30)}, '90', ${within(90)}) FROM calls p
      WHERE ${EARLIER} AND p.created_at > c.created_at - interval '90 days') END AS calls_last,
    CASE WHEN {history}::boolean THEN ARRAY(SELECT DISTINCT f.user_fleet_id FROM calls p JOIN buyers b ON b.company_id = p.company_id AND b.id = p.buyer_id
      JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id WHERE ${EARLIER} AND p.connected_at IS NOT NULL ORDER BY 1) END AS previous_fleets
    FROM ${CALLS} AND (c.created_at, c.id) > ({after_at}::timestamptz, {after_id}::bigint) ORDER BY c.created_at, c.id LIMIT {page}::int`,
  { prepared: false },
);

/** What a statement reads at a time: that of a whole month would take longer than one may. */
const PAGE = 5_000;

/** Calls of an offer that have ended, with what came of them, in the order in which they came. `tokens`: with their tokens; `history`: with what the caller had done before. */
export async function* readPastCalls(
  db: Statements,
  period: Period,
  more: { tokens: boolean; history: boolean },
): AsyncGenerator<PastCall[]> {
  let after = { after_at: '-infinity', after_id: 0 };
  for (;;) {
    const page = await db.query<PastCall>(
      READ({ ...at(period), ...more, ...after, company_id: db.company_id, page: PAGE }),
    );
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < PAGE) return;
    after = { after_at: last.at.toISOString(), after_id: last.id };
  }
}

/** What attempts of an offer came to, by buyer. */
export interface Observed {
  buyer_id: number;
  /** Of which it is known whether the buyer took the call. */
  attempts: number;
  connects: number;
  conversions: number;
  /** Seconds until it took the call, all together. */
  rang: number;
}

const OBSERVED = template(
  `SELECT a.buyer_id::float8 AS buyer_id, count(*)::int AS attempts, count(a.connected_at)::int AS connects, count(v.id) FILTER (WHERE a.connected_at IS NOT NULL)::int AS conversions,
      coalesce(sum(extract(epoch FROM a.connected_at - a.created_at)), 0)::float8 AS rang
    FROM (SELECT c.id, c.company_id FROM ${CALLS}) c JOIN call_attempts a ON a.company_id = c.company_id AND a.call_id = c.id
      LEFT JOIN conversions v ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
    WHERE a.connected_at IS NOT NULL OR a.status IN ('no_answer', 'busy', 'failed', 'declined') GROUP BY 1`,
  { prepared: false },
);

export const readObserved = (db: Statements, period: Period): Promise<Observed[]> =>
  db.query<Observed>(OBSERVED({ ...at(period), company_id: db.company_id }));

const TALKED = template(
  `SELECT coalesce(percentile_disc(ARRAY(SELECT n / 200.0 FROM generate_series(1, 199, 2) n)) WITHIN GROUP (ORDER BY c.answered_duration), '{}') AS talked
    FROM (SELECT c.answered_duration FROM ${CALLS} AND c.connected_at IS NOT NULL AND c.answered_duration IS NOT NULL) c`,
  { prepared: false },
);

/** Seconds that connected calls of an offer lasted: a hundred of them, evenly from the shortest to the longest. Empty when there were none. */
export const readTalked = async (db: Statements, period: Period): Promise<number[]> =>
  (await db.query<{ talked: number[] }>(TALKED({ ...at(period), company_id: db.company_id })))[0]!
    .talked;

/** What is known of callers by their numbers. */
export interface Callers {
  blacklisted: number[];
  lists: { id: number; name: string; numbers: number[]; buyer_ids: number[]; of_offer: boolean }[];
  /** To whom each was connected last. */
  previous: { number: number; buyer_id: number }[];
  paid: { number: number; buyer_id: number; at: string }[];
}

const CALLERS = template(
  `SELECT coalesce((SELECT json_agg(k.caller_number) FROM contacts k WHERE k.company_id = {company_id} AND k.caller_number = ANY({numbers}::bigint[]) AND k.blocked), '[]') AS blacklisted,
    coalesce((SELECT json_agg(json_build_object('id', s.id, 'name', s.name, 'numbers', n.numbers, 'of_offer', EXISTS (SELECT FROM buyer_suppression_offers a
          WHERE a.company_id = s.company_id AND a.buyer_suppression_id = s.id AND a.offer_id = {offer_id}::bigint),
        'buyer_ids', ARRAY(SELECT a.buyer_id FROM buyer_suppression_buyers a WHERE a.company_id = s.company_id AND a.buyer_suppression_id = s.id AND a.buyer_id = ANY({buyer_ids}::bigint[]))) ORDER BY s.id)
      FROM buyer_suppressions s, LATERAL (SELECT array_agg(n.number) AS numbers FROM buyer_suppression_numbers n
        WHERE n.company_id = s.company_id AND n.buyer_suppression_id = s.id AND n.number = ANY({numbers}::bigint[])) n
      WHERE s.company_id = {company_id} AND s.deleted_at IS NULL AND s.blocked > 0 AND n.numbers IS NOT NULL), '[]') AS lists,
    coalesce((SELECT json_agg(json_build_object('number', p.caller_number, 'buyer_id', p.buyer_id)) FROM (SELECT DISTINCT ON (c.caller_number) c.caller_number, c.buyer_id FROM calls c
      WHERE c.company_id = {company_id} AND c.caller_number = ANY({numbers}::bigint[]) AND c.offer_id = {offer_id}::bigint AND c.connected_at IS NOT NULL AND c.created_at < {from}::timestamptz
      ORDER BY c.caller_number, c.id DESC) p), '[]') AS previous,
    coalesce((SELECT json_agg(json_build_object('number', p.caller_number, 'buyer_id', p.buyer_id, 'at', p.at)) FROM (SELECT v.caller_number, v.buyer_id, max(v.created_at) AS at FROM conversions v
      WHERE v.company_id = {company_id} AND v.caller_number = ANY({numbers}::bigint[]) AND v.buyer_id = ANY({buyer_ids}::bigint[]) AND v.created_at < {from}::timestamptz GROUP BY 1, 2) p), '[]') AS paid`,
  { prepared: false },
);

/** What decides about callers of an offer as things were at an instant; lists as they are now. */
export const readCallers = async (
  db: Statements,
  {
    offer_id,
    from,
    numbers,
    buyer_ids,
  }: Pick<Period, 'offer_id' | 'from'> & {
    numbers: readonly number[];
    buyer_ids: readonly number[];
  },
): Promise<Callers> =>
  (
    await db.query<Callers>(
      CALLERS({
        company_id: db.company_id,
        offer_id,
        from: from.toISOString(),
        numbers,
        buyer_ids,
      }),
    )
  )[0]!;

/** What buyers and groups have set up that a candidate of routing does not show. */
export interface Setup {
  caps: {
    buyer_id: number | null;
    buyer_group_id: number | null;
    zone: string;
    limits: Limits;
    used: Partial<Record<UsedName, number>>;
  }[];
  hours: { buyer_id: number; open: number[]; limits: Limits }[];
  conversions: (PaidFor & { buyer_id: number })[];
}

const LIMITS = `json_strip_nulls(json_build_object(${[...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit'].map((name) => `'${name}', l.${name}`).join(', ')}))`;
const HOURLY = `json_strip_nulls(json_build_object(${METRICS.map((metric) => `'${metric}_hourly_limit', x.${metric}_hourly_limit`).join(', ')}))`;
const SINCE = { hourly: 'w.hour', daily: 'w.day', monthly: 'w.month', total: 'w.ever' };

const SETUP = template(
  `WITH uses AS MATERIALIZED (
      SELECT a.buyer_id, a.buyer_group_id, a.created_at AS at, 1 AS attempt, 0 AS connection, 0 AS buyer_conversion, 0::numeric AS revenue, 0::numeric AS earned_revenue,
          CASE WHEN row_number() OVER (PARTITION BY a.call_id, a.round, a.buyer_group_id ORDER BY a.id) = 1 THEN 1 ELSE 0 END AS of_group
        FROM call_attempts a WHERE a.company_id = {company_id} AND a.buyer_id = ANY({buyer_ids}::bigint[]) AND a.created_at >= {since}::timestamptz AND a.created_at < {from}::timestamptz
      UNION ALL SELECT a.buyer_id, a.buyer_group_id, a.connected_at, 0, 1, 0, 0, 0, 1 FROM call_attempts a
        WHERE a.company_id = {company_id} AND a.buyer_id = ANY({buyer_ids}::bigint[]) AND a.created_at >= {since}::timestamptz AND a.connected_at < {from}::timestamptz
      UNION ALL SELECT v.buyer_id, a.buyer_group_id, v.created_at, 0, 0, 1, v.revenue, v.revenue, 1
        FROM call_attempts a JOIN conversions v ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
        WHERE a.company_id = {company_id} AND a.buyer_id = ANY({buyer_ids}::bigint[]) AND a.created_at >= {since}::timestamptz AND v.created_at < {from}::timestamptz
      UNION ALL SELECT a.buyer_id, a.buyer_group_id, c.ended_at, 0, 0, 0, 0, -c.payout, 1
        FROM call_attempts a JOIN calls c ON c.company_id = a.company_id AND c.id = a.call_id AND c.buyer_id = a.buyer_id
        WHERE a.company_id = {company_id} AND a.buyer_id = ANY({buyer_ids}::bigint[]) AND a.created_at >= {since}::timestamptz AND c.payout <> 0 AND c.ended_at < {from}::timestamptz),
    owners AS (SELECT l.*, date_trunc('hour', {from}::timestamptz, l.zone) AS hour, date_trunc('day', {from}::timestamptz AT TIME ZONE l.zone) AT TIME ZONE l.zone AS day,
        date_trunc('month', {from}::timestamptz AT TIME ZONE l.zone) AT TIME ZONE l.zone AS month, CASE WHEN l.totals_reset_at <= {from}::timestamptz THEN l.totals_reset_at ELSE '-infinity' END AS ever
      FROM call_limits l WHERE l.company_id = {company_id} AND (l.buyer_id = ANY({buyer_ids}::bigint[]) OR l.buyer_group_id = ANY({group_ids}::bigint[])))
  SELECT coalesce((SELECT json_agg(json_build_object('buyer_id', l.buyer_id, 'buyer_group_id', l.buyer_group_id, 'zone', l.zone, 'limits', ${LIMITS},
        'used', (SELECT json_strip_nulls(json_build_object(${CAPS.map(({ metric, interval, used }) => `'${used}', sum(u.${metric}${metric === 'attempt' ? ' * CASE WHEN l.buyer_id IS NULL THEN u.of_group ELSE 1 END' : ''}) FILTER (WHERE u.at >= ${SINCE[interval]})`).join(', ')})) FROM uses u, LATERAL (SELECT l.hour, l.day, l.month, l.ever) w
          WHERE u.buyer_id = l.buyer_id OR u.buyer_group_id = l.buyer_group_id))) FROM owners l), '[]') AS caps,
    coalesce((SELECT json_agg(json_build_object('buyer_id', x.buyer_id, 'open', x.open_minutes, 'limits', ${HOURLY}) ORDER BY x.buyer_id, x.position)
      FROM buyer_business_hours x WHERE x.company_id = {company_id} AND x.buyer_id = ANY({buyer_ids}::bigint[])), '[]') AS hours,
    coalesce((SELECT json_agg(json_build_object('buyer_id', x.buyer_id, 'time_frame', x.time_frame, 'open', x.open_minutes, 'conversion_type', x.conversion_type, 'duration', x.duration,
        'revenue', x.revenue, 'duplicate_timeframe', x.duplicate_timeframe, 'token_values', x.token_values) ORDER BY x.buyer_id, x.time_frame, x.position)
      FROM buyer_conversions x WHERE x.company_id = {company_id} AND x.buyer_id = ANY({buyer_ids}::bigint[])), '[]') AS conversions`,
  { prepared: false },
);

/** How buyers and groups are set up now, and what they had used of their caps at `from`, counted from the calls since then. */
export const readSetup = async (
  db: Statements,
  {
    from,
    since,
    ...owners
  }: { from: Date; since: Date; buyer_ids: readonly number[]; group_ids: readonly number[] },
): Promise<Setup> =>
  (
    await db.query<Setup>(
      SETUP({
        ...owners,
        company_id: db.company_id,
        from: from.toISOString(),
        since: since.toISOString(),
      }),
    )
  )[0]!;

const NAMES = template(
  'SELECT b.id::float8 AS id, b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])',
  { prepared: true },
);

/** Names of buyers, those that are deleted too. */
export const readBuyerNames = async (
  db: Statements,
  ids: readonly number[],
): Promise<Map<number, string | null>> =>
  new Map(
    (
      await db.query<{ id: number; name: string | null }>(NAMES({ company_id: db.company_id, ids }))
    ).map(({ id, name }) => [id, name]),
  );
