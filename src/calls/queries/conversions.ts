import type { PayoutTerms } from '../../routing/engine/payout';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

/** What a conversion needs to know of the call, and of the buyer that was dialed for it. */
export interface ConvertibleCall {
  caller_number: number | null;
  traffic_source_id: number | null;
  offer_id: number | null;
  lead_id: number | null;
  token_values: Record<string, unknown>;
  payout: number;
  revenue: number;
  traffic_source_converted: boolean;
  dialed_at: Date;
  buyer_group_id: number | null;
  payouts: PayoutTerms[];
  /** Whether the buyer has paid for the call already. */
  converted: boolean;
  /** Dollars that somebody has told the buyer pays, before there was a conversion that they could be of. */
  told_revenue: number;
}

const CALL = template(
  `SELECT c.caller_number::float8 AS caller_number, c.traffic_source_id::float8 AS traffic_source_id, c.offer_id::float8 AS offer_id, c.lead_id::float8 AS lead_id, c.token_values, c.payout::float8 AS payout,
      c.revenue::float8 AS revenue, c.traffic_source_converted, coalesce(a.created_at, c.created_at) AS dialed_at, a.buyer_group_id::float8 AS buyer_group_id, coalesce(o.payouts, '[]') AS payouts,
      coalesce(v.converted, false) AS converted, (c.revenue - coalesce(v.revenue, 0))::float8 AS told_revenue
    FROM calls c LEFT JOIN LATERAL (SELECT bool_or(x.buyer_id = {buyer_id}::bigint) AS converted, sum(x.revenue) AS revenue FROM conversions x WHERE x.company_id = c.company_id AND x.call_id = c.id) v ON true
      LEFT JOIN call_attempts a ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = {buyer_id}::bigint LEFT JOIN offers o ON o.company_id = c.company_id AND o.id = c.offer_id
    WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint`,
  { prepared: true },
);

export const readConvertible = async (
  db: Statements,
  call_id: number,
  buyer_id: number,
): Promise<ConvertibleCall | undefined> =>
  (await db.query<ConvertibleCall>(CALL({ company_id: db.company_id, call_id, buyer_id })))[0];

const LOCK = template(
  `SELECT l.id FROM call_limits l WHERE l.company_id = {company_id} AND (l.buyer_group_id = {buyer_group_id}::bigint OR l.buyer_id = {buyer_id}::bigint)
    ORDER BY (l.buyer_group_id IS NULL) FOR NO KEY UPDATE`,
  { prepared: true },
);

const PAID = template(
  `SELECT EXISTS (SELECT FROM conversions v WHERE v.company_id = {company_id} AND v.caller_number = {caller_number}::bigint AND v.buyer_id = {buyer_id}::bigint
    AND v.created_at > {now}::timestamptz - {seconds}::int * interval '1 second') AS paid`,
  { prepared: true },
);

/**
 * Whether a buyer has paid for a caller within so many seconds. Holds the rows of its caps from then on, so that of two calls of one caller the second
 * waits until the first is written. A caller whose number is withheld is nobody's.
 */
export async function hasPaid(
  db: Statements,
  {
    buyer_id,
    buyer_group_id,
    caller_number,
    seconds,
    now,
  }: {
    buyer_id: number;
    buyer_group_id: number | null;
    caller_number: number | null;
    seconds: number;
    now: Date;
  },
): Promise<boolean> {
  await db.query(LOCK({ company_id: db.company_id, buyer_id, buyer_group_id }));
  if (caller_number === null || seconds === 0) return false;
  const [row] = await db.query<{ paid: boolean }>(
    PAID({ company_id: db.company_id, buyer_id, caller_number, seconds, now: now.toISOString() }),
  );
  return row!.paid;
}

const SOURCE = template(
  `SELECT EXISTS (SELECT FROM calls c WHERE c.company_id = {company_id} AND c.caller_number = {caller_number}::bigint AND c.offer_id = {offer_id}::bigint AND c.traffic_source_converted
    AND c.id <> {call_id}::bigint AND c.created_at > {now}::timestamptz - {seconds}::int * interval '1 second') AS paid`,
  { prepared: true },
);

/** Whether the source of a call was paid for its caller within so many seconds. Of two calls of one caller for an offer the second waits for the first. */
export async function isSourcePaid(
  db: Statements,
  {
    call_id,
    caller_number,
    offer_id,
    seconds,
    now,
  }: {
    call_id: number;
    caller_number: number | null;
    offer_id: number | null;
    seconds: number;
    now: Date;
  },
): Promise<boolean> {
  if (caller_number === null || seconds === 0) return false;
  await db.query({
    text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 4108))',
    values: [`${db.company_id}/${offer_id}/${caller_number}`],
  });
  const [row] = await db.query<{ paid: boolean }>(
    SOURCE({
      company_id: db.company_id,
      call_id,
      caller_number,
      offer_id,
      seconds,
      now: now.toISOString(),
    }),
  );
  return row!.paid;
}

export interface NewConversion {
  uuid: string;
  call_id: number;
  buyer_id: number;
  buyer_conversion_id: number | null;
  name: string | null;
  caller_number: number | null;
  revenue: number;
  /** What of it the call and its lead do not have yet. */
  added: number;
  /** Tokens that the call gets with it. */
  tokens: Record<string, string>;
}

const INSERT = template(
  `WITH v AS (INSERT INTO conversions (company_id, uuid, created_at, call_id, buyer_id, buyer_conversion_id, name, caller_number, revenue, payout)
      SELECT {company_id}, {uuid}::uuid, {now}::timestamptz, {call_id}::bigint, {buyer_id}::bigint, {buyer_conversion_id}::bigint, {name}, {caller_number}::bigint, {revenue}::numeric,
        c.payout - coalesce((SELECT sum(o.payout) FROM conversions o WHERE o.company_id = {company_id} AND o.call_id = c.id), 0) FROM calls c WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint
      ON CONFLICT (company_id, call_id, buyer_id) DO NOTHING RETURNING id),
    c AS (UPDATE calls SET buyer_converted = true, buyer_revenue = buyer_revenue + {added}::numeric, revenue = revenue + {added}::numeric, updated_at = {now}::timestamptz,
      token_values = token_values || {tokens}::jsonb FROM v WHERE calls.company_id = {company_id} AND calls.id = {call_id}::bigint RETURNING calls.lead_id),
    l AS (UPDATE leads SET buyer_converted = true, buyer_id = {buyer_id}::bigint, revenue = leads.revenue + {added}::numeric, updated_at = {now}::timestamptz FROM c
      WHERE leads.company_id = {company_id} AND leads.id = c.lead_id)
  SELECT count(*)::int AS n FROM v`,
  { prepared: true },
);

/** Writes a conversion, and what it makes of the call and its lead; false when the buyer has paid for the call already. */
export async function insertConversion(
  db: Statements,
  { tokens, ...conversion }: NewConversion,
  now: Date,
): Promise<boolean> {
  const values = {
    ...conversion,
    company_id: db.company_id,
    now: now.toISOString(),
    tokens: JSON.stringify(tokens),
  };
  return (await db.query<{ n: number }>(INSERT(values)))[0]!.n === 1;
}

const PAY = template(
  `WITH c AS (UPDATE calls SET payout = payout + {payout}::numeric, traffic_source_converted = true, updated_at = {now}::timestamptz WHERE company_id = {company_id} AND id = {call_id}::bigint RETURNING lead_id),
    v AS (UPDATE conversions SET payout = payout + {payout}::numeric WHERE company_id = {company_id} AND call_id = {call_id}::bigint AND buyer_id = {buyer_id}::bigint)
  UPDATE leads SET payout = leads.payout + {payout}::numeric, offer_converted = true, updated_at = {now}::timestamptz FROM c WHERE leads.company_id = {company_id} AND leads.id = c.lead_id`,
  { prepared: true },
);

/** Writes what the source of a call is paid, with what its buyer pays. */
export async function payTrafficSource(
  db: Statements,
  due: { call_id: number; buyer_id: number; payout: number },
  now: Date,
): Promise<void> {
  await db.query(PAY({ ...due, company_id: db.company_id, now: now.toISOString() }));
}

const REPEATED = {
  buyer: template(
    `UPDATE calls SET buyer_repeat_caller = true WHERE company_id = {company_id} AND id = {call_id}::bigint AND NOT buyer_repeat_caller RETURNING 1`,
    { prepared: true },
  ),
  traffic_source: template(
    `UPDATE calls SET traffic_source_repeat_caller = true WHERE company_id = {company_id} AND id = {call_id}::bigint AND NOT traffic_source_repeat_caller RETURNING 1`,
    {
      prepared: true,
    },
  ),
};

/** Notes that nothing is paid because the caller was paid for a short while ago; false when that was noted before. */
export const noteRepeatCaller = async (
  db: Statements,
  call_id: number,
  by: keyof typeof REPEATED,
): Promise<boolean> =>
  (await db.query(REPEATED[by]({ company_id: db.company_id, call_id }))).length > 0;

const EVENT = template(
  `INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details) VALUES ({company_id}, {now}::timestamptz, {call_id}::bigint, {event}, {message}, {buyer_id}::bigint, {details}::jsonb)`,
  { prepared: true },
);

/** Writes one thing that happened to a call. */
export async function writeCallEvent(
  db: Statements,
  {
    call_id,
    event,
    message = null,
    buyer_id = null,
    details = null,
    now,
  }: {
    call_id: number;
    event: string;
    message?: string | null;
    buyer_id?: number | null;
    details?: object | null;
    now: Date;
  },
): Promise<void> {
  await db.query(
    EVENT({
      company_id: db.company_id,
      call_id,
      event,
      message,
      buyer_id,
      details: details && JSON.stringify(details),
      now: now.toISOString(),
    }),
  );
}
