import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';
import type { DueLead } from '../due-lead';

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

/** Adds the contacts that do not exist yet, so that there is a row to lock. */
export const ADD_CONTACTS = statement(
  'outreach.add_contacts',
  sql`
    WITH added AS (
      INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
      SELECT company_id, uuid, {now}::timestamptz, {now}::timestamptz, caller_number
      FROM unnest({company_ids}::bigint[], {caller_numbers}::bigint[], {uuids}::uuid[])
        AS x(company_id, caller_number, uuid)
      ORDER BY company_id, caller_number
      ON CONFLICT (company_id, caller_number) DO NOTHING
      RETURNING company_id
    )
    ${countRows('contacts', 'added')}
  `,
  { prepared: true },
);

export const LOCK_CONTACTS = statement(
  'outreach.lock_contacts',
  sql`
    SELECT k.company_id, k.caller_number, k.blocked, k.opt_out
    FROM unnest({company_ids}::bigint[], {caller_numbers}::bigint[]) AS x(company_id, caller_number)
    JOIN contacts k ON k.company_id = x.company_id AND k.caller_number = x.caller_number
    ORDER BY k.company_id, k.caller_number
    FOR UPDATE OF k
  `,
  { prepared: true },
);

export const READ_CONTACT = statement(
  'outreach.read_contact',
  sql`
    SELECT blocked, opt_out
    FROM contacts
    WHERE company_id = {company_id} AND caller_number = {caller_number}
  `,
  { prepared: false },
);

const DUE_LEAD = sql`
  l.company_id, l.id, l.caller_number, l.uuid, l.created_at, l.email, l.data, l.zones, l.offer_id,
  l.schedule_id, l.buyer_id, l.status, l.is_live, l.phase, l.position, l.exit_reason,
  l.contact_attempts, l.entered_at, l.callback_at, l.scheduled_callback_id, l.next_action_at,
  l.hours_to_expire, l.expires_in, l.max_contact_attempts, l.sms_number_id, l.dial_number_id,
  l.attempted_call_id, l.connected_call_id, l.buyer_converted, l.revenue, l.payout,
  l.first_action_at, l.last_action_at, l.last_call_at, b.name AS buyer_name,
  f.user_fleet_id AS buyer_fleet, l.suppressed, l.unreachable, l.step, l.tries, l.delay_reason,
  l.traffic_source_id, l.sub_id, s.user_traffic_source_id
`;

const BUYER = sql`
  LEFT JOIN buyers b ON b.company_id = l.company_id AND b.id = l.buyer_id
  LEFT JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
  LEFT JOIN traffic_sources s ON s.company_id = l.company_id AND s.id = l.traffic_source_id
`;

export const LOCK_CLAIMED_LEADS = statement(
  'outreach.lock_claimed_leads',
  sql`
    SELECT ${DUE_LEAD}
    FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
    JOIN leads l ON l.company_id = x.company_id AND l.id = x.id
    ${BUYER}
    WHERE l.claim_id = {claim_id}::uuid
    ORDER BY l.company_id, l.id
    FOR NO KEY UPDATE OF l
  `,
  { prepared: true },
).returning<DueLead>();

export const READ_LEAD = statement(
  'outreach.read_lead',
  sql`
    SELECT ${DUE_LEAD}
    FROM leads l
    ${BUYER}
    WHERE l.company_id = {company_id} AND l.id = {id} AND l.deleted_at IS NULL
  `,
  { prepared: false },
).returning<DueLead>();
