import type { Pool, PoolClient } from 'pg';
import type { ScheduleRow } from '../schedules/engine/plan';
import { type Executor } from '../db/executor';

/** A lead that a worker has claimed. */
export interface DueKey {
  company_id: string;
  id: string;
  caller_number: string;
}

/** All that the engine needs of a lead, as PostgreSQL's driver reads it: ids and money as text. */
export interface DueLead extends DueKey {
  uuid: string;
  created_at: Date;
  email: string | null;
  data: Record<string, unknown>;
  zones: string[];
  offer_id: string | null;
  schedule_id: string | null;
  buyer_id: string | null;
  status: string;
  is_live: boolean;
  phase: 'actions' | 'end';
  position: number | null;
  exit_reason: 'completed' | 'expired' | 'exceeded_max_calls' | null;
  contact_attempts: number;
  entered_at: Date;
  callback_at: Date | null;
  scheduled_callback_id: string | null;
  next_action_at: Date | null;
  hours_to_expire: number | null;
  expires_in: number | null;
  max_contact_attempts: number | null;
  sms_number_id: string | null;
  dial_number_id: string | null;
  attempted_call_id: string | null;
  connected_call_id: string | null;
  buyer_converted: boolean;
  revenue: string;
  payout: string;
  first_action_at: Date | null;
  last_action_at: Date | null;
  last_call_at: Date | null;
  buyer_name: string | null;
  buyer_fleet: string | null;
  suppressed: boolean;
  unreachable: boolean;
  step: number;
  tries: number;
  delay_reason: string | null;
}

const COLUMNS = `l.company_id, l.id, l.caller_number, l.uuid, l.created_at, l.email, l.data, l.zones, l.offer_id, l.schedule_id, l.buyer_id, l.status, l.is_live, l.phase, l.position, l.exit_reason,
  l.contact_attempts, l.entered_at, l.callback_at, l.scheduled_callback_id, l.next_action_at, l.hours_to_expire, l.expires_in, l.max_contact_attempts, l.sms_number_id, l.dial_number_id,
  l.attempted_call_id, l.connected_call_id, l.buyer_converted, l.revenue, l.payout, l.first_action_at, l.last_action_at, l.last_call_at, b.name AS buyer_name, f.user_fleet_id AS buyer_fleet, l.suppressed, l.unreachable, l.step, l.tries, l.delay_reason`;

const ITS_BUYER = `LEFT JOIN buyers b ON b.company_id = l.company_id AND b.id = l.buyer_id LEFT JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id`;

export interface Claim {
  claim_id: string;
  now: Date;
  /** When another worker may take the leads over. */
  lease_until: Date;
  limit: number;
}

const CLAIM = `UPDATE leads l SET claim_id = $1::uuid, due_at = $3::timestamptz FROM due WHERE l.company_id = due.company_id AND l.id = due.id RETURNING l.company_id, l.id, l.caller_number, due.due_at, l.lead_priority::float8`;
/** Keys stay as they are, so that what refers to a lead may be written while its turn is taken. */
const LOCK = 'FOR NO KEY UPDATE';

/** Those with a priority: all that are due are looked at, and the lowest come first. What another worker has locked is passed over. */
const BY_PRIORITY = `WITH first AS MATERIALIZED (SELECT company_id, id FROM leads WHERE due_at <= $2::timestamptz AND lead_priority IS NOT NULL ORDER BY lead_priority, due_at LIMIT $4 * 4),
  due AS (SELECT x.company_id, x.id, x.due_at FROM leads x JOIN first USING (company_id, id) WHERE x.due_at <= $2::timestamptz ORDER BY x.lead_priority, x.due_at LIMIT $4 ${LOCK} OF x SKIP LOCKED) ${CLAIM}`;
const BY_TIME = `WITH due AS (SELECT company_id, id, due_at FROM leads WHERE due_at <= $2::timestamptz AND due_at IS NOT NULL AND lead_priority IS NULL ORDER BY due_at LIMIT $4 ${LOCK} SKIP LOCKED) ${CLAIM}`;

type Claimed = DueKey & { due_at: Date; lead_priority: number | null };

const byTurn = (a: Claimed, b: Claimed) =>
  (a.lead_priority ?? 0) - (b.lead_priority ?? 0) ||
  a.due_at.getTime() - b.due_at.getTime() ||
  Number(a.id) - Number(b.id);

/** Claims leads that are due, and answers them in their order, those with the lowest priority first: until the lease is over no other worker gets them. */
export async function claimDue(
  pool: Pool,
  { claim_id, now, lease_until, limit }: Claim,
): Promise<DueKey[]> {
  const values = [claim_id, now, lease_until];
  // A quarter is kept for those without, or a company that gives each of its leads a priority would keep all others waiting.
  const first = await pool.query({
    name: 'claim_by_priority',
    text: BY_PRIORITY,
    values: [...values, Math.ceil(limit * 0.75)],
  });
  const then = await pool.query({
    name: 'claim_by_time',
    text: BY_TIME,
    values: [...values, limit - first.rows.length],
  });
  return [first, then].flatMap(({ rows }) => (rows as Claimed[]).toSorted(byTurn));
}

const columnsOf = (keys: readonly DueKey[]) => [
  keys.map(({ company_id }) => company_id),
  keys.map(({ id }) => id),
];

/** Lets go of claimed leads: they are looked at again at `due_at`, by anybody. */
export async function letGo(
  pool: Pool,
  { claim_id, keys, due_at }: { claim_id: string; keys: readonly DueKey[]; due_at: Date },
): Promise<void> {
  const text = `WITH mine AS (SELECT l.company_id, l.id FROM unnest($1::bigint[], $2::bigint[]) AS x(c, i) JOIN leads l ON l.company_id = x.c AND l.id = x.i
      WHERE l.claim_id = $3::uuid ORDER BY l.company_id, l.id ${LOCK} OF l)
    UPDATE leads l SET claim_id = NULL, due_at = $4::timestamptz FROM mine WHERE l.company_id = mine.company_id AND l.id = mine.id`;
  await pool.query(text, [...columnsOf(keys), claim_id, due_at]);
}

/** The claimed leads that are still this claim's, locked, as they now stand, in the order of `keys`. */
export async function lockLeads(
  client: PoolClient,
  claim_id: string,
  keys: readonly DueKey[],
): Promise<DueLead[]> {
  const { rows } = await client.query({
    name: 'lock_leads',
    text: `SELECT ${COLUMNS} FROM unnest($1::bigint[], $2::bigint[]) AS x(c, i) JOIN leads l ON l.company_id = x.c AND l.id = x.i ${ITS_BUYER}
      WHERE l.claim_id = $3::uuid ORDER BY l.company_id, l.id ${LOCK} OF l`,
    values: [...columnsOf(keys), claim_id],
  });
  const places = new Map(keys.map((key, n) => [`${key.company_id}/${key.id}`, n]));
  const placeOf = ({ company_id, id }: DueLead) => places.get(`${company_id}/${id}`)!;
  return (rows as DueLead[]).toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** One living lead, without a lock; undefined when there is none. */
export async function readLead(
  client: Executor,
  company_id: string,
  id: string,
): Promise<DueLead | undefined> {
  const text = `SELECT ${COLUMNS} FROM leads l ${ITS_BUYER} WHERE l.company_id = $1 AND l.id = $2 AND l.deleted_at IS NULL`;
  return (await client.query({ text, values: [company_id, id] })).rows[0] as DueLead | undefined;
}

export interface OfferRow {
  company_id: string;
  id: string;
  name: string;
  paused: boolean;
  lists: string[];
}

interface Named {
  company_id: string;
  id: string | null;
}

const distinctPairs = (records: readonly Named[]) => {
  const pairs = [
    ...new Map(
      records.flatMap((record) =>
        record.id === null ? [] : [[`${record.company_id}/${record.id}`, record]],
      ),
    ).values(),
  ];
  return [pairs.map(({ company_id }) => company_id), pairs.map(({ id }) => id)];
};

const keyed = <T extends { company_id: string; id: string }>(rows: readonly T[]) =>
  new Map(rows.map((row) => [`${row.company_id}/${row.id}`, row]));

/** Living schedules with their living actions in order, by company and id. */
export async function loadSchedules(
  client: Executor,
  named: readonly Named[],
): Promise<Map<string, ScheduleRow>> {
  const { rows } = await client.query({
    name: 'load_schedules',
    text: `SELECT s.company_id, s.id, s.name, s.paused, s.time_zone, s.daylight_hours, s.business_hours, s.hours_to_expire, s.max_contact_attempts, s.from_email,
        ARRAY(SELECT a.buyer_suppression_id::text FROM buyer_suppression_schedules a WHERE a.company_id = s.company_id AND a.schedule_id = s.id ORDER BY 1) AS lists,
        coalesce((SELECT json_agg(json_build_object('id', a.id::text, 'action_type', a.action_type, 'end_of_schedule', a.end_of_schedule, 'position', a.position, 'name', a.name,
            'token_filters', a.token_filters, 'wait_amount', a.wait_amount, 'wait_unit', a.wait_unit, 'wait_until', a.wait_until, 'connect_to', a.connect_to, 'timeout_seconds', a.timeout_seconds,
            'body', a.body, 'subject', a.subject, 'html', a.html, 'from_email', a.from_email, 'url', a.url, 'method', a.method, 'headers', a.headers, 'to_schedule_id', a.to_schedule_id::text)
          ORDER BY a.position) FROM schedule_actions a WHERE a.company_id = s.company_id AND a.schedule_id = s.id AND a.deleted_at IS NULL), '[]') AS actions
      FROM unnest($1::bigint[], $2::bigint[]) AS x(c, i) JOIN schedules s ON s.company_id = x.c AND s.id = x.i AND s.deleted_at IS NULL`,
    values: distinctPairs(named),
  });
  return keyed(rows as ScheduleRow[]);
}

export async function loadOffers(
  client: Executor,
  named: readonly Named[],
): Promise<Map<string, OfferRow>> {
  const { rows } = await client.query({
    name: 'load_offers',
    text: `SELECT o.company_id, o.id, o.name, o.paused,
        ARRAY(SELECT a.buyer_suppression_id::text FROM buyer_suppression_offers a WHERE a.company_id = o.company_id AND a.offer_id = o.id ORDER BY 1) AS lists
      FROM unnest($1::bigint[], $2::bigint[]) AS x(c, i) JOIN offers o ON o.company_id = x.c AND o.id = x.i AND o.deleted_at IS NULL`,
    values: distinctPairs(named),
  });
  return keyed(rows as OfferRow[]);
}

/** Of numbers and the lists that may hold them, the first list that does, by the place in `asked`. */
export async function loadSuppressed(
  client: Executor,
  asked: readonly { company_id: string; caller_number: string; lists: readonly string[] }[],
): Promise<Map<number, string>> {
  const pairs = asked.flatMap(({ company_id, caller_number, lists }, n) =>
    lists.map((list) => ({ n, company_id, caller_number, list })),
  );
  if (pairs.length === 0) return new Map();
  const { rows } = await client.query({
    text: `SELECT x.n, min(x.l)::text AS list FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[]) AS x(n, c, number, l)
      JOIN buyer_suppressions s ON s.company_id = x.c AND s.id = x.l AND s.deleted_at IS NULL
      WHERE EXISTS (SELECT FROM buyer_suppression_numbers b WHERE b.company_id = x.c AND b.buyer_suppression_id = x.l AND b.number = x.number) GROUP BY x.n`,
    values: [
      pairs.map(({ n }) => n),
      pairs.map(({ company_id }) => company_id),
      pairs.map(({ caller_number }) => caller_number),
      pairs.map(({ list }) => list),
    ],
  });
  return new Map((rows as { n: number; list: string }[]).map(({ n, list }) => [n, list]));
}

/** What the calls of a lead's number are: for the tokens that tell of them. */
export interface CallFacts {
  call_uuid: string | undefined;
  total_duration: number | undefined;
  calls_last: Record<1 | 7 | 30 | 90, number>;
}

/** The calls of the numbers of leads, by the id of the lead. */
export async function loadCallFacts(
  client: Executor,
  leads: readonly DueKey[],
  now: Date,
): Promise<Map<string, CallFacts>> {
  if (leads.length === 0) return new Map();
  const within = (days: number) =>
    `(count(*) FILTER (WHERE c.created_at > $3::timestamptz - interval '${days} days'))::int`;
  const { rows } = await client.query({
    text: `SELECT l.id::text, a.* FROM unnest($1::bigint[], $2::bigint[]) AS x(c, i) JOIN leads l ON l.company_id = x.c AND l.id = x.i, LATERAL (
        SELECT ${within(1)} AS d1, ${within(7)} AS d7, ${within(30)} AS d30, ${within(90)} AS d90, (array_agg(c.uuid::text ORDER BY c.id DESC) FILTER (WHERE c.lead_id = l.id))[1] AS call_uuid,
          (array_agg(c.total_duration ORDER BY c.id DESC) FILTER (WHERE c.lead_id = l.id))[1] AS total_duration
        FROM leads s JOIN calls c ON c.company_id = s.company_id AND c.lead_id = s.id WHERE s.company_id = l.company_id AND s.caller_number = l.caller_number) a`,
    values: [...columnsOf(leads), now],
  });
  type Row = Record<'d1' | 'd7' | 'd30' | 'd90', number> & {
    id: string;
    call_uuid: string | null;
    total_duration: number | null;
  };
  return new Map(
    (rows as Row[]).map(({ id, d1, d7, d30, d90, call_uuid, total_duration }) => [
      id,
      {
        call_uuid: call_uuid ?? undefined,
        total_duration: total_duration ?? undefined,
        calls_last: { 1: d1, 7: d7, 30: d30, 90: d90 },
      },
    ]),
  );
}
