import { sql, statement } from '../../../data/sql';

// Leads are locked FOR NO KEY UPDATE, so that rows that refer to them can be written.

const CLAIM_DUE = sql`
  UPDATE leads l
  SET claim_id = {claim_id}::uuid, due_at = {lease_until}::timestamptz
  FROM due
  WHERE l.company_id = due.company_id AND l.id = due.id
  RETURNING l.company_id, l.id, l.caller_number, due.due_at, l.lead_priority::float8
`;

/**
 * Claims due leads that have a priority, the lowest number first. Skips leads that another worker
 * has locked; reads four times as many rows as it claims, so that enough are left.
 */
export const CLAIM_BY_PRIORITY = statement(
  'outreach.claim_by_priority',
  sql`
    WITH first AS MATERIALIZED (
      SELECT company_id, id
      FROM leads
      WHERE due_at <= {now}::timestamptz AND lead_priority IS NOT NULL
      ORDER BY lead_priority, due_at
      LIMIT {limit} * 4
    ),
    due AS (
      SELECT x.company_id, x.id, x.due_at
      FROM leads x
      JOIN first USING (company_id, id)
      WHERE x.due_at <= {now}::timestamptz
      ORDER BY x.lead_priority, x.due_at
      LIMIT {limit}
      FOR NO KEY UPDATE OF x SKIP LOCKED
    )
    ${CLAIM_DUE}
  `,
  { prepared: true, nullable: ['lead_priority'] },
).returning<{ due_at: Date }>();

export const CLAIM_BY_TIME = statement(
  'outreach.claim_by_time',
  sql`
    WITH due AS (
      SELECT company_id, id, due_at
      FROM leads
      WHERE due_at <= {now}::timestamptz AND due_at IS NOT NULL AND lead_priority IS NULL
      ORDER BY due_at
      LIMIT {limit}
      FOR NO KEY UPDATE SKIP LOCKED
    )
    ${CLAIM_DUE}
  `,
  { prepared: true, nullable: ['lead_priority'] },
).returning<{ due_at: Date }>();

export const RELEASE_LEADS = statement(
  'outreach.release_leads',
  sql`
    WITH claimed AS (
      SELECT l.company_id, l.id
      FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
      JOIN leads l ON l.company_id = x.company_id AND l.id = x.id
      WHERE l.claim_id = {claim_id}::uuid
      ORDER BY l.company_id, l.id
      FOR NO KEY UPDATE OF l
    )
    UPDATE leads l
    SET claim_id = NULL, due_at = {due_at}::timestamptz
    FROM claimed
    WHERE l.company_id = claimed.company_id AND l.id = claimed.id
  `,
  { prepared: false },
);

export const CHECK_CONNECTION = statement('outreach.check_connection', sql`SELECT 1 AS ok`, {
  prepared: false,
});
