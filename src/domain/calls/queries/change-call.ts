import { sql, statement } from '../../../data/sql';
import { ASKS_US } from './calls';
import { OLD_AND_NEW, CALL_BEFORE, RECORD_CALL_CHANGE } from './record-call';

export const FIND_CALL = {
  id: statement(
    'calls.find_by_id',
    sql`
    SELECT c.id::text AS id, c.direction, c.lead_id::text AS lead_id,
      ${ASKS_US} AS asks_us
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {value}::bigint AND c.deleted_at IS NULL`,
    { prepared: true, nullable: ['lead_id'] },
  ),
  uuid: statement(
    'calls.find_by_uuid',
    sql`
    SELECT c.id::text AS id, c.direction, c.lead_id::text AS lead_id,
      ${ASKS_US} AS asks_us
    FROM calls c
    WHERE c.company_id = {company_id} AND c.uuid = {value}::uuid AND c.deleted_at IS NULL`,
    { prepared: true, nullable: ['lead_id'] },
  ),
};

export const LOCK_LEAD = statement(
  'calls.lock_lead',
  sql`
    SELECT l.id
    FROM leads l
    WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint
    FOR NO KEY UPDATE`,
  { prepared: true },
);

export const LOCK_CALL_ROW = statement(
  'calls.lock_row',
  sql`
    SELECT c.id
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {id}::bigint
    FOR UPDATE`,
  { prepared: true },
);

export const READ_EDITABLE_CALL = statement(
  'calls.read_editable_call',
  sql`
    SELECT
      c.id::float8 AS id, c.uuid::text AS uuid, c.direction, c.routed, c.status, c.carrier,
      c.carrier_call_id, c.lead_id::float8 AS lead_id, c.buyer_id::float8 AS buyer_id,
      c.token_values, c.connected_at, c.ended_at, c.answered_duration
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {id}::bigint`,
  { prepared: true, nullable: ['lead_id', 'buyer_id'] },
).returning<{
  direction: 'inbound' | 'outbound';
  routed: boolean;
  status: string;
  carrier: string;
  token_values: Record<string, unknown>;
}>();

export const ADD_TOKENS = statement(
  'calls.add_tokens',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        token_values = c.token_values || {tokens}::jsonb,
        updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);

export const SAVE_RECORDING = statement(
  'calls.save_recording',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id}
        AND c.id = {call_id}::bigint
        AND c.recording_url IS NULL
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET recording_url = {recording_url}, updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);
