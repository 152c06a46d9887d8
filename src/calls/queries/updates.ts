import { INTERVALS } from '../../buyers/caps';
import { pairTokens } from '../../tokens/filters';
import { identify, type Reference } from '../../db/records';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';
import { type Executor } from '../../db/executor';
import { SLOT } from '../../db/counters';

/** A call as those need it who tell something of it afterwards. */
export interface TalliedCall {
  id: number;
  uuid: string;
  direction: 'inbound' | 'outbound';
  status: string;
  carrier: string;
  carrier_call_id: string | null;
  lead_id: number | null;
  /** Whom it was connected to, else whom it was last tried with. */
  buyer_id: number | null;
  /** Through which that buyer came to the call. */
  buyer_group_id: number | null;
  /** Dollars. */
  revenue: number;
  payout: number;
  /** Dollars of the revenue that other buyers pay. */
  others_revenue: number;
  buyer_converted: boolean;
  token_values: Record<string, unknown>;
  connected_at: Date | null;
  ended_at: Date | null;
  answered_duration: number | null;
}

/** What a call that is placed is for. */
export interface Unknown {
  caller_number: string;
  lead_id: string | null;
  now: Date;
}

/** How long a call of which it is not known whether the carrier has placed it is looked for before the same is placed anew. */
const LOOKED_FOR_MINUTES = 15;

/** uuid of a call to a number that was asked for a short while ago, and of which it is not known whether the carrier has placed it. The contact is locked. */
export async function unknownCall(
  db: Statements,
  { caller_number, lead_id, now }: Unknown,
): Promise<string | undefined> {
  const [found] = await db.query<{ uuid: string }>({
    text: `SELECT c.uuid::text FROM calls c WHERE c.company_id = $1 AND c.caller_number = $2::bigint AND c.direction = 'outbound' AND c.status = 'sending' AND c.error_code IS NULL
      AND c.schedule_action_id IS NULL AND c.lead_id IS NOT DISTINCT FROM $3::bigint AND c.created_at > $4::timestamptz - interval '${LOOKED_FOR_MINUTES} minutes' ORDER BY c.id LIMIT 1`,
    values: [db.company_id, caller_number, lead_id, now.toISOString()],
  });
  return found?.uuid;
}

/** Forgets a call that was written down before the carrier was asked, which certainly has not placed it. */
export async function forgetCall(
  aside: Executor,
  { company_id, uuid }: { company_id: string; uuid: string },
): Promise<void> {
  await aside.query({
    text: `WITH gone AS (DELETE FROM calls WHERE company_id = $1 AND uuid = $2::uuid AND status = 'sending' AND carrier_call_id IS NULL RETURNING 1)
      INSERT INTO record_counts (company_id, resource, slot, n) SELECT $1, 'calls', ${SLOT}, -count(*) FROM gone HAVING count(*) > 0
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
    values: [company_id, uuid],
  });
}

/** Notes with a locked lead that it was called. */
export async function noteCalled(
  db: Statements,
  {
    lead_id,
    call_id,
    status,
    number_id,
    now,
  }: { lead_id: string; call_id: bigint; status: string; number_id: string | null; now: Date },
): Promise<void> {
  await db.query({
    text: `UPDATE leads SET attempted_call_id = $3::bigint, connected_call_id = CASE WHEN $4 IN ('in_progress', 'completed') THEN $3::bigint ELSE connected_call_id END,
        status = CASE WHEN is_live AND status IN ('queue', 'scheduled', 'waiting') AND $4 IN ('queued', 'ringing', 'in_progress') THEN 'running' ELSE status END,
        contact_attempts = contact_attempts + 1, dial_number_id = coalesce(dial_number_id, $5::bigint), last_call_at = $6::timestamptz, last_action_at = $6::timestamptz,
        first_action_at = coalesce(first_action_at, $6::timestamptz), updated_at = $6::timestamptz WHERE company_id = $1 AND id = $2::bigint`,
    values: [db.company_id, lead_id, String(call_id), status, number_id, now.toISOString()],
  });
}

const NAMED = {
  id: template(
    `SELECT c.id::text, c.direction, c.lead_id::text FROM calls c WHERE c.company_id = {company_id} AND c.id = {value}::bigint AND c.deleted_at IS NULL`,
    { prepared: true },
  ),
  uuid: template(
    `SELECT c.id::text, c.direction, c.lead_id::text FROM calls c WHERE c.company_id = {company_id} AND c.uuid = {value}::uuid AND c.deleted_at IS NULL`,
    { prepared: true },
  ),
};
const LOCK_LEAD = template(
  'SELECT l.id FROM leads l WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint FOR NO KEY UPDATE',
  { prepared: true },
);
const LOCK = template(
  'SELECT c.id FROM calls c WHERE c.company_id = {company_id} AND c.id = {id}::bigint FOR UPDATE',
  { prepared: true },
);
const TALLY = template(
  `SELECT c.id::float8 AS id, c.uuid::text, c.direction, c.status, c.carrier, c.carrier_call_id, c.lead_id::float8 AS lead_id, c.buyer_id::float8 AS buyer_id, a.buyer_group_id::float8 AS buyer_group_id,
      c.revenue::float8 AS revenue, c.payout::float8 AS payout, c.buyer_converted, c.token_values, c.connected_at, c.ended_at, c.answered_duration,
      coalesce((SELECT sum(v.revenue) FROM conversions v WHERE v.company_id = c.company_id AND v.call_id = c.id AND v.buyer_id IS DISTINCT FROM c.buyer_id), 0)::float8 AS others_revenue
    FROM calls c LEFT JOIN call_attempts a ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = c.buyer_id WHERE c.company_id = {company_id} AND c.id = {id}::bigint`,
  { prepared: true },
);

/** Locks a lead against other writers until the transaction ends. */
export async function lockLead(db: Statements, lead_id: string): Promise<void> {
  await db.query(LOCK_LEAD({ company_id: db.company_id, lead_id }));
}

/**
 * A call, in or out, locked until the transaction ends; undefined when there is none. The lead of a call that went out is locked before it, as by who
 * places such calls; that of one that came in after it, as by who hears of those.
 */
export async function lockTally(
  db: Statements,
  reference: Reference,
): Promise<TalliedCall | undefined> {
  const { company_id } = db;
  const named = identify(reference);
  const [found] = named
    ? await db.query<{ id: string; direction: string; lead_id: string | null }>(
        NAMED[named.key]({ company_id, value: named.value }),
      )
    : [];
  if (!found) return undefined;
  if (found.direction === 'outbound' && found.lead_id !== null) await lockLead(db, found.lead_id);
  await db.query(LOCK({ company_id, id: found.id }));
  // In a statement of its own, so that it sees what whoever had the call before has written beside it.
  return (await db.query<TalliedCall>(TALLY({ company_id, id: found.id })))[0];
}

const TOKENS = template(
  `UPDATE calls SET token_values = token_values || {tokens}::jsonb, updated_at = {now}::timestamptz, user_updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND id = {call_id}::bigint`,
  { prepared: true },
);

/** Gives a call more tokens, if any, and notes that somebody has changed it. */
export async function addTokens(
  db: Statements,
  { call_id, tokens, now }: { call_id: number; tokens: Record<string, unknown>; now: Date },
): Promise<void> {
  await db.query(
    TOKENS({
      company_id: db.company_id,
      call_id,
      tokens: JSON.stringify(tokens),
      now: now.toISOString(),
    }),
  );
}

const BOTH = (of_call: string, of_conversion: string, of_lead: string) =>
  template(
    `WITH c AS (UPDATE calls SET ${of_call}, updated_at = {now}::timestamptz WHERE company_id = {company_id} AND id = {call_id}::bigint RETURNING lead_id),
      v AS (UPDATE conversions SET ${of_conversion} WHERE company_id = {company_id} AND call_id = {call_id}::bigint AND buyer_id = {buyer_id}::bigint)
    UPDATE leads SET ${of_lead}, updated_at = {now}::timestamptz FROM c WHERE leads.company_id = {company_id} AND leads.id = c.lead_id`,
    { prepared: true },
  );

const MORE = '{more}::numeric';
const MONEY = {
  revenue: BOTH(
    `revenue = revenue + ${MORE}, buyer_revenue = buyer_revenue + ${MORE}`,
    `revenue = revenue + ${MORE}`,
    `revenue = leads.revenue + ${MORE}`,
  ),
  payout: BOTH(
    `payout = payout + ${MORE}, traffic_source_converted = traffic_source_converted OR payout + ${MORE} > 0`,
    `payout = payout + ${MORE}`,
    `payout = leads.payout + ${MORE}, offer_converted = leads.offer_converted OR leads.payout + ${MORE} > 0`,
  ),
};

/** Adds so many dollars, or takes them off: of a call, of its lead, and of the conversion of its buyer if there is one. */
export async function moveMoney(
  db: Statements,
  what: keyof typeof MONEY,
  {
    call: { id: call_id, buyer_id },
    more,
    now,
  }: { call: Pick<TalliedCall, 'id' | 'buyer_id'>; more: number; now: Date },
): Promise<void> {
  await db.query(
    MONEY[what]({ company_id: db.company_id, call_id, buyer_id, more, now: now.toISOString() }),
  );
}

const KEY_PRESSES = template(
  `SELECT e.id::float8 AS id, e.details->>'digits' AS digits FROM call_events e WHERE e.company_id = {company_id} AND e.call_id = {call_id}::bigint AND e.event = 'send_digits' ORDER BY e.id`,
  { prepared: true },
);

/** The keys that are to be played to the buyer of a call, in their order. */
export const readKeyPresses = (
  db: Statements,
  call_id: number,
): Promise<{ id: number; digits: string }[]> =>
  db.query(KEY_PRESSES({ company_id: db.company_id, call_id }));

const DOLLARS = (['revenue', 'earned_revenue'] as const).flatMap((metric) =>
  INTERVALS.map((interval) => `${metric}_${interval}_used`),
);
const FLOOR = template(
  `UPDATE call_limits l SET ${DOLLARS.map((used) => `${used} = greatest(0, l.${used})`).join(', ')}
    WHERE l.company_id = {company_id} AND (l.buyer_group_id = {buyer_group_id}::bigint OR l.buyer_id = {buyer_id}::bigint) AND least(${DOLLARS.map((used) => `l.${used}`).join(', ')}) < 0`,
  { prepared: true },
);

/** What was taken off a buyer's and its group's dollars may have been counted in an hour or a day that is over. Their caps are locked. */
export async function floorDollars(
  db: Statements,
  { buyer_id, buyer_group_id }: { buyer_id: number; buyer_group_id: number | null },
): Promise<void> {
  await db.query(FLOOR({ company_id: db.company_id, buyer_id, buyer_group_id }));
}

const ADDITIONAL = template(
  `SELECT b.record_token_additional_data AS pairs FROM buyers b WHERE b.company_id = {company_id} AND b.id = {buyer_id}::bigint AND cardinality(b.record_token_additional_data) > 0`,
  { prepared: true },
);
/** A lead that has no room for them keeps what it has. */
const GIVE = template(
  `WITH c AS (UPDATE calls SET token_values = token_values || {tokens}::jsonb WHERE company_id = {company_id} AND id = {call_id}::bigint RETURNING lead_id)
  UPDATE leads l SET data = l.data || {tokens}::jsonb, updated_at = {now}::timestamptz FROM c
    WHERE l.company_id = {company_id} AND l.id = c.lead_id AND octet_length((l.data || {tokens}::jsonb)::text) <= 131072`,
  { prepared: true },
);

/** Gives a call that is connected to a buyer, and its lead, the tokens that the buyer adds. */
export async function giveBuyersTokens(
  db: Statements,
  { call_id, buyer_id, now }: { call_id: number; buyer_id: number; now: Date },
): Promise<void> {
  const [found] = await db.query<{ pairs: string[] }>(
    ADDITIONAL({ company_id: db.company_id, buyer_id }),
  );
  if (!found) return;
  const tokens = JSON.stringify(pairTokens(found.pairs));
  await db.query(GIVE({ company_id: db.company_id, call_id, tokens, now: now.toISOString() }));
}
