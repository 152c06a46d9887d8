import type { EventDb } from './events';
import { template } from '../../db/statement';
import { SLOT } from '../../db/counters';

/** An event for one webhook, ready to be sent. */
export interface NewDelivery {
  uuid: string;
  outgoing_webhook_id: string;
  webhook_manual_fire_id?: string | null;
  trigger_type: string;
  lead_id: string | null;
  call_id: string | null;
  buyer_id: string | null;
  offer_id: string | null;
  request_method: string;
  request_url: string;
  request_headers: Record<string, string>;
  request_body: string | null;
  /** Why it cannot be sent: then it is dead from the start, and its log says so. */
  fault?: string | undefined;
}

const ROWS = `json_to_recordset({rows}::json) AS x(n int, uuid uuid, log_uuid uuid, outgoing_webhook_id bigint, webhook_manual_fire_id bigint, trigger_type text, lead_id bigint, call_id bigint, buyer_id bigint, offer_id bigint,
  request_method text, request_url text, request_headers jsonb, shown_headers jsonb, request_body text, fault text)`;

/** In their order; the queues of their webhooks are woken in the order of ids, after the webhooks were locked. */
const INSERT = template(
  `WITH x AS (SELECT * FROM ${ROWS}),
    made AS (INSERT INTO webhook_deliveries (company_id, uuid, created_at, outgoing_webhook_id, webhook_manual_fire_id, trigger_type, lead_id, call_id, buyer_id, offer_id, request_method, request_url, request_headers,
        request_body, status, due_at)
      SELECT {company_id}, x.uuid, {now}::timestamptz, x.outgoing_webhook_id, x.webhook_manual_fire_id, x.trigger_type, x.lead_id, x.call_id, x.buyer_id, x.offer_id, x.request_method, x.request_url, x.request_headers,
        x.request_body, CASE WHEN x.fault IS NULL THEN 'waiting' ELSE 'dead' END, CASE WHEN x.fault IS NULL THEN {now}::timestamptz END FROM x ORDER BY x.n RETURNING id, uuid),
    logged AS (INSERT INTO webhook_logs (company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id, webhook_manual_fire_id, trigger_type, event_id, attempt, lead_id, call_id, buyer_id, offer_id, request_headers,
        started_at, duration, success, notes)
      SELECT {company_id}, x.log_uuid, {now}::timestamptz, x.outgoing_webhook_id, made.id, x.webhook_manual_fire_id, x.trigger_type, x.uuid, 0, x.lead_id, x.call_id, x.buyer_id, x.offer_id, x.shown_headers,
        {now}::timestamptz, 0, false, x.fault FROM x JOIN made ON made.uuid = x.uuid WHERE x.fault IS NOT NULL ORDER BY x.n RETURNING id),
    counted AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'webhook_logs', ${SLOT}, count(*) FROM logged HAVING count(*) > 0
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n),
    locked AS (SELECT q.outgoing_webhook_id FROM webhook_queues q WHERE q.company_id = {company_id} AND q.outgoing_webhook_id IN (SELECT x.outgoing_webhook_id FROM x WHERE x.fault IS NULL)
      ORDER BY q.outgoing_webhook_id FOR NO KEY UPDATE)
  UPDATE webhook_queues q SET next_due_at = least(q.next_due_at, {now}::timestamptz) FROM locked, outgoing_webhooks w
    WHERE q.company_id = {company_id} AND q.outgoing_webhook_id = locked.outgoing_webhook_id AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id AND NOT w.paused AND w.deleted_at IS NULL RETURNING 1`,
  { prepared: true },
);

interface Inserting {
  now: Date;
  newUuid: () => string;
  shown: (headers: Record<string, string>) => Record<string, string>;
}

/** Writes deliveries, and has somebody look for them. Their webhooks are locked. */
export async function insertDeliveries(
  db: EventDb,
  deliveries: readonly NewDelivery[],
  { now, newUuid, shown }: Inserting,
): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery, n) => ({
    ...delivery,
    n,
    ...(delivery.fault !== undefined && {
      log_uuid: newUuid(),
      shown_headers: shown(delivery.request_headers),
    }),
  }));
  await db.query(
    INSERT({
      company_id: String(db.company_id),
      now: now.toISOString(),
      rows: JSON.stringify(rows),
    }),
  );
}

/** A webhook as far as it decides what is made of an event. */
export interface ListeningWebhook {
  id: string;
  owner_type: string;
  owner_id: string | null;
  trigger_type: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  token_filters: string[];
}

const LISTENING = template(
  `SELECT w.id::text, w.owner_type, w.owner_id::text, w.trigger_type, w.url, w.method, w.headers, w.body, w.token_filters FROM outgoing_webhooks w
    WHERE w.company_id = {company_id} AND w.trigger_type = ANY({kinds}::text[]) AND w.deleted_at IS NULL AND NOT w.paused ORDER BY w.id FOR SHARE`,
  { prepared: true },
);

/** The webhooks that are told of these kinds, locked against being paused or deleted meanwhile. */
export const listeningWebhooks = (
  db: EventDb,
  kinds: readonly string[],
): Promise<ListeningWebhook[]> =>
  db.query<ListeningWebhook>(LISTENING({ company_id: db.company_id, kinds }));

const FIRED = template(
  `SELECT w.id::text, w.owner_type, w.owner_id::text, w.trigger_type, w.url, w.method, w.headers, w.body, w.token_filters FROM outgoing_webhooks w
    WHERE w.company_id = {company_id} AND w.id = {id}::bigint AND w.deleted_at IS NULL FOR SHARE`,
  { prepared: false },
);

/** One webhook, paused or not, locked in the same way. */
export const firedWebhook = async (
  db: EventDb,
  id: bigint,
): Promise<ListeningWebhook | undefined> =>
  (
    await db.query<ListeningWebhook>(FIRED({ company_id: String(db.company_id), id: String(id) }))
  )[0];
