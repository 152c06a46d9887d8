import type { Maker } from '../../../data/access/makers';
import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

export interface PreDialWebhook extends Maker {
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

/** The webhooks of a company that are asked before a buyer is dialed, by id. */
export const PRE_DIAL_WEBHOOKS = statement(
  'routing.pre_dial_webhooks',
  sql`
    SELECT
      x.id::float8 AS id,
      x.uuid::text,
      x.owner_type,
      x.owner_id::float8 AS owner_id,
      x.url,
      x.method,
      x.headers,
      x.body,
      x.token_filters,
      x.timeout_seconds,
      x.secret_version,
      x.secret_rotated_at::text,
      x.maker_user_id::text,
      x.maker_team_ids::text[] AS maker_team_ids
    FROM outgoing_webhooks x
    WHERE x.company_id = {company_id} AND x.trigger_type = 'before_buyer_dialled'
      AND x.deleted_at IS NULL AND NOT x.paused
    ORDER BY x.id
  `,
  { prepared: true, nullable: ['owner_id', 'secret_rotated_at', 'maker_user_id'] },
).returning<{
  id: number;
  uuid: string;
  headers: Record<string, string>;
  token_filters: string[];
  maker_team_ids: string[];
}>();

/** `rows` is a JSON array. */
export const INSERT_PRE_DIAL_LOGS = statement(
  'routing.insert_pre_dial_logs',
  sql`
    WITH sent AS (
      SELECT *
      FROM json_to_recordset({rows}::json) AS x(
        uuid uuid, event_id uuid, outgoing_webhook_id bigint, lead_id bigint, buyer_id bigint,
        offer_id bigint, request_method text, request_url text, request_headers jsonb,
        request_body text, code int, response_headers jsonb, response_body text,
        started_at timestamptz, duration int, success boolean, notes text
      )
    ),
    logged AS (
      INSERT INTO webhook_logs (
        company_id, uuid, created_at, outgoing_webhook_id, trigger_type, event_id, attempt,
        lead_id, buyer_id, offer_id, request_method, request_url, request_headers, request_body,
        code, response_headers, response_body, started_at, duration, success, notes
      )
      SELECT
        {company_id}, uuid, started_at, outgoing_webhook_id, 'before_buyer_dialled', event_id, 1,
        lead_id, buyer_id, offer_id, request_method, request_url, request_headers, request_body,
        code, response_headers, response_body, started_at, duration, success, notes
      FROM sent
      RETURNING company_id
    )
    ${countRows('webhook_logs', 'logged')}
  `,
  { prepared: true },
);

/** Sets the call of logs that were written before the call had a record. */
export const SET_CALL_OF_LOGS = statement(
  'routing.set_call_of_logs',
  sql`
    UPDATE webhook_logs l
    SET call_id = c.id
    FROM calls c
    WHERE l.company_id = {company_id} AND l.uuid = ANY({uuids}::uuid[])
      AND c.company_id = {company_id} AND c.uuid = {call_uuid}::uuid
  `,
  { prepared: true },
);

/** Transactions roll back to it when webhooks must be asked first. */
export const SAVEPOINT = statement('routing.savepoint', sql`SAVEPOINT pre_dial_check`, {
  prepared: false,
});

export const ROLL_BACK_TO_SAVEPOINT = statement(
  'routing.roll_back_to_savepoint',
  sql`ROLLBACK TO SAVEPOINT pre_dial_check`,
  { prepared: false },
);
