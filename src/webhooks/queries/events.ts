import { callAttemptProjection, callProjection } from '../../calls/columns';
import { leadProjection } from '../../leads/columns';
import { selectRecords, type Projection } from '../../db/projection';
import type { Statements } from '../../db/tenant';
import { template, type Template } from '../../db/statement';

export type EventDb = Pick<Statements, 'company_id' | 'query'>;

/** What an event is about, as the receivers of webhooks are told it: JSON of each record. */
export interface EventRecords {
  lead: string | null;
  call: string | null;
  attempt: string | null;
  buyer: string | null;
  conversion: string | null;
  agent: string | null;
}

/** What has happened, and whose it is. */
export interface WebhookEventRow extends EventRecords {
  id: string;
  kind: string;
  /** ISO 8601. */
  occurred_at: string;
  lead_id: string | null;
  call_id: string | null;
  buyer_id: string | null;
  offer_id: string | null;
  offer_name: string | null;
  traffic_source_id: string | null;
  schedule_action_id: string | null;
  buyer_group_ids: string[];
}

const iso = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')`;

const TAKE = template(
  `SELECT e.id::text FROM webhook_events e WHERE e.company_id = {company_id} ORDER BY e.id LIMIT {most}::int`,
  { prepared: true },
);

/** The oldest events, with whose they are; their records are read beside. */
const FACTS = template(
  `SELECT e.id::text, e.kind, ${iso('e.occurred_at')} AS occurred_at, x.lead_id::text, x.call_id::text, x.buyer_id::text, x.offer_id::text, x.traffic_source_id::text, o.name AS offer_name,
      coalesce(c.schedule_action_id, (SELECT a.id FROM schedule_actions a WHERE c.id IS NULL AND a.company_id = e.company_id AND a.schedule_id = l.schedule_id AND a.end_of_schedule = (l.phase = 'end')
        AND a.position = l.position AND a.deleted_at IS NULL))::text AS schedule_action_id,
      ARRAY(SELECT m.buyer_group_id::text FROM buyer_group_members m WHERE m.company_id = e.company_id AND m.buyer_id = x.buyer_id
        UNION SELECT t.buyer_group_id::text WHERE t.buyer_group_id IS NOT NULL) AS buyer_group_ids,
      (SELECT json_build_object('id', b.id, 'uuid', b.uuid, 'name', b.name, 'user_buyer_id', b.user_buyer_id, 'number', b.number, 'routes_show_path', '/api/v1/buyers/' || b.id)::text
        FROM buyers b WHERE b.company_id = e.company_id AND b.id = x.buyer_id AND (c.id IS NOT NULL OR v.id IS NOT NULL)) AS buyer,
      CASE WHEN v.id IS NOT NULL THEN json_build_object('id', v.id, 'uuid', v.uuid, 'created_at', ${iso('v.created_at')}, 'call_id', v.call_id, 'buyer_id', v.buyer_id, 'name', v.name,
        'revenue', v.revenue, 'payout', v.payout)::text END AS conversion,
      CASE WHEN e.snapshot ? 'agent' THEN json_build_object('id', (e.snapshot->'agent'->>'id')::bigint, 'user_id', (e.snapshot->'agent'->>'user_id')::bigint, 'status', e.snapshot->'agent'->>'status')::text END AS agent
    FROM unnest({ids}::bigint[]) AS k(id) JOIN webhook_events e ON e.company_id = {company_id} AND e.id = k.id
    CROSS JOIN LATERAL jsonb_populate_record(NULL::leads, coalesce(e.snapshot->'lead', '{}')) l
    CROSS JOIN LATERAL jsonb_populate_record(NULL::calls, coalesce(e.snapshot->'call', '{}')) c
    CROSS JOIN LATERAL jsonb_populate_record(NULL::call_attempts, coalesce(e.snapshot->'attempt', '{}')) t
    CROSS JOIN LATERAL jsonb_populate_record(NULL::conversions, coalesce(e.snapshot->'conversion', '{}')) v
    CROSS JOIN LATERAL (SELECT l.id AS lead_id, c.id AS call_id, coalesce(t.buyer_id, v.buyer_id, c.buyer_id, l.buyer_id) AS buyer_id, coalesce(c.offer_id, l.offer_id) AS offer_id,
      coalesce(c.traffic_source_id, l.traffic_source_id) AS traffic_source_id) x
    LEFT JOIN offers o ON o.company_id = e.company_id AND o.id = x.offer_id
    ORDER BY e.id`,
  { prepared: true },
);

/** The records of events as they were then, by the projection that shows them: what is counted up to now is counted up to then. */
function recordsOf(projection: Projection, what: string): Template {
  const rows = `(SELECT p.*, e.id AS event_id, e.occurred_at FROM unnest({ids}::bigint[]) AS k(id) JOIN webhook_events e ON e.company_id = {company_id} AND e.id = k.id AND e.snapshot ? '${what}'
    CROSS JOIN LATERAL jsonb_populate_record(NULL::${projection.plural}, e.snapshot->'${what}') p)`;
  return template(
    selectRecords(projection, rows, { more: 't.event_id::text AS event_id' }).replaceAll(
      '{now}',
      't.occurred_at',
    ),
    { prepared: true },
  );
}

const RECORDS = {
  lead: recordsOf(leadProjection, 'lead'),
  call: recordsOf(callProjection, 'call'),
  attempt: recordsOf(callAttemptProjection, 'attempt'),
};
const KINDS = Object.keys(RECORDS) as (keyof typeof RECORDS)[];

/** Ids of the oldest events of the company that wait. */
export const oldestEvents = async (db: EventDb, most: number): Promise<string[]> =>
  (await db.query<{ id: string }>(TAKE({ company_id: db.company_id, most }))).map(({ id }) => id);

/** Events in the order of their ids, with what receivers are told of them. */
export async function readEvents(db: EventDb, ids: readonly string[]): Promise<WebhookEventRow[]> {
  const values = { company_id: db.company_id, ids };
  const events = (await db.query<WebhookEventRow>(FACTS(values))).map(
    (event) => ({ ...event, lead: null, call: null, attempt: null }) as WebhookEventRow,
  );
  const by_id = new Map(events.map((event) => [event.id, event]));
  for (const kind of KINDS) {
    for (const { event_id, record } of await db.query<{ event_id: string; record: string }>(
      RECORDS[kind](values),
    ))
      by_id.get(event_id)![kind] = record;
  }
  return events;
}

const FORGET = template(
  'DELETE FROM webhook_events WHERE company_id = {company_id} AND id = ANY({ids}::bigint[]) RETURNING 1',
  { prepared: true },
);

export async function forgetEvents(db: EventDb, ids: readonly string[]): Promise<void> {
  await db.query(FORGET({ company_id: db.company_id, ids }));
}

const FIRE = template(
  `INSERT INTO webhook_events (company_id, kind, occurred_at, record_id, transaction_id, snapshot)
    SELECT {company_id}, 'manual', {now}::timestamptz, 0, -nextval('webhook_events_id_seq'), webhook_rows({company_id}, {lead_id}::bigint, coalesce({call_id}::bigint, v.call_id), NULL, {conversion_id}::bigint)
    FROM (SELECT 1) one LEFT JOIN conversions v ON v.company_id = {company_id} AND v.id = {conversion_id}::bigint RETURNING id::text`,
  { prepared: false },
);

export interface Subject {
  lead_id: bigint | null;
  call_id: bigint | null;
  conversion_id: bigint | null;
}

/** Writes an event of which only this transaction knows: it must forget it. Answers its id. */
export async function fireEvent(db: EventDb, subject: Subject, now: Date): Promise<string> {
  const ids = Object.fromEntries(
    Object.entries(subject).map(([name, id]) => [name, id === null ? null : String(id)]),
  );
  return (
    await db.query<{ id: string }>(
      FIRE({ ...ids, company_id: String(db.company_id), now: now.toISOString() }),
    )
  )[0]!.id;
}
