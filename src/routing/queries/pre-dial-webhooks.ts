import type { ResponseFields } from '../../egress/response-fields';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';
import { SLOT } from '../../db/counters';

/** A webhook that is asked before a buyer is dialed. */
export interface VetoWebhook {
  id: number;
  uuid: string;
  owner_type: string;
  owner_id: number | null;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  token_filters: string[];
  timeout_seconds: number;
  secret_version: number;
  secret_rotated_at: string | null;
}

/** Those of a company that may be asked, as they stand behind FROM. */
export const VETOING = `outgoing_webhooks x WHERE x.company_id = {company_id} AND x.trigger_type = 'before_buyer_dialled' AND x.deleted_at IS NULL AND NOT x.paused`;

const READ = template(
  `SELECT x.id::float8 AS id, x.uuid::text, x.owner_type, x.owner_id::float8 AS owner_id, x.url, x.method, x.headers, x.body, x.token_filters, x.timeout_seconds, x.secret_version, x.secret_rotated_at::text FROM ${VETOING} ORDER BY x.id`,
  { prepared: true },
);

export const readVetoWebhooks = (db: Statements): Promise<VetoWebhook[]> =>
  db.query<VetoWebhook>(READ({ company_id: db.company_id }));

/** What a question came to. */
export interface AskedLog extends ResponseFields {
  /** Of the log. */
  uuid: string;
  outgoing_webhook_id: string;
  started_at: string;
  success: boolean;
  notes: string | null;
  request_headers: Record<string, string>;
  event_id: string;
  buyer_id: number;
  lead_id: number | null;
  offer_id: number | null;
  request_method: string;
  request_url: string;
  request_body: string | null;
}

const WRITE = template(
  `WITH x AS (SELECT * FROM json_to_recordset({rows}::json) AS x(uuid uuid, event_id uuid, outgoing_webhook_id bigint, lead_id bigint, buyer_id bigint, offer_id bigint, request_method text, request_url text,
      request_headers jsonb, request_body text, code int, response_headers jsonb, response_body text, started_at timestamptz, duration int, success boolean, notes text)),
    logged AS (INSERT INTO webhook_logs (company_id, uuid, created_at, outgoing_webhook_id, trigger_type, event_id, attempt, lead_id, buyer_id, offer_id, request_method, request_url, request_headers, request_body, code,
        response_headers, response_body, started_at, duration, success, notes)
      SELECT {company_id}, x.uuid, x.started_at, x.outgoing_webhook_id, 'before_buyer_dialled', x.event_id, 1, x.lead_id, x.buyer_id, x.offer_id, x.request_method, x.request_url, x.request_headers, x.request_body, x.code,
        x.response_headers, x.response_body, x.started_at, x.duration, x.success, x.notes FROM x RETURNING 1)
  INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'webhook_logs', ${SLOT}, count(*) FROM logged
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n RETURNING 1`,
  { prepared: true },
);

export async function writeAsked(db: Statements, logs: readonly AskedLog[]): Promise<void> {
  await db.query(WRITE({ company_id: db.company_id, rows: JSON.stringify(logs) }));
}

const NAME_CALL = template(
  `UPDATE webhook_logs l SET call_id = c.id FROM calls c WHERE l.company_id = {company_id} AND l.uuid = ANY({uuids}::uuid[]) AND c.company_id = {company_id} AND c.uuid = {call_uuid}::uuid RETURNING 1`,
  { prepared: true },
);

/** Says which call the questions were about, once there is a record of it. */
export async function nameCallOfAsked(
  db: Statements,
  uuids: readonly string[],
  call_uuid: string,
): Promise<void> {
  await db.query(NAME_CALL({ company_id: db.company_id, uuids, call_uuid }));
}
