import { sql, statement } from '../../../data/sql';
import { RECORD_CALL_CHANGE } from './record-call';

/** The id is null if no disposition that is not deleted has the key. `keys` are those of all. */
export const FIND_DISPOSITION = statement(
  'calls.find_disposition',
  sql`
    SELECT
      (
        SELECT d.id::text
        FROM dispositions d
        WHERE d.company_id = {company_id} AND d.key = {key}::text AND d.deleted_at IS NULL
      ) AS id,
      ARRAY(
        SELECT d.key
        FROM dispositions d
        WHERE d.company_id = {company_id} AND d.deleted_at IS NULL
        ORDER BY d.position, d.key
        LIMIT 100
      )::text[] AS keys`,
  { prepared: true, nullable: ['id'] },
);

/** Writes the columns that are keys of `fields`; returns the call if one differs. */
export const DESCRIBE_CALL = statement(
  'calls.describe',
  sql`
    WITH next AS (
      SELECT
        c.id, c AS was,
        CASE
          WHEN {fields}::jsonb ? 'disposition_id' THEN ({fields}::jsonb->>'disposition_id')::bigint
          ELSE c.disposition_id
        END AS disposition_id,
        CASE
          WHEN {fields}::jsonb ? 'disposition_notes' THEN {fields}::jsonb->>'disposition_notes'
          ELSE c.disposition_notes
        END AS disposition_notes,
        CASE
          WHEN {fields}::jsonb ? 'quality_assurance_name'
            THEN {fields}::jsonb->>'quality_assurance_name'
          ELSE c.quality_assurance_name
        END AS quality_assurance_name,
        CASE
          WHEN {fields}::jsonb ? 'quality_assurance_name' THEN (
            SELECT min(b.id)
            FROM buyers b
            WHERE b.company_id = {company_id}
              AND b.deleted_at IS NULL
              AND b.buyer_type = 'quality_assurance'
              AND lower(b.name) = lower({fields}::jsonb->>'quality_assurance_name')
          )
          ELSE c.quality_assurance_id
        END AS quality_assurance_id,
        CASE
          WHEN {fields}::jsonb ? 'agent_id' THEN ({fields}::jsonb->>'agent_id')::bigint
          ELSE c.agent_id
        END AS agent_id
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET
        disposition_id = next.disposition_id,
        disposition_notes = next.disposition_notes,
        quality_assurance_name = next.quality_assurance_name,
        quality_assurance_id = next.quality_assurance_id,
        agent_id = next.agent_id,
        updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM next
      WHERE c.company_id = {company_id}
        AND c.id = next.id
        AND (
          c.disposition_id, c.disposition_notes, c.quality_assurance_name, c.quality_assurance_id,
          c.agent_id
        ) IS DISTINCT FROM (
          next.disposition_id, next.disposition_notes, next.quality_assurance_name,
          next.quality_assurance_id, next.agent_id
        )
      RETURNING c.id, next.was, c AS now
    )
    SELECT call.id, ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: false, records: true },
);
