import { sql, statement } from '../../db/sql';

/** What refers to a telephone number: leads and calls of the person, and the addresses of leads. */
export const FIND_PERSON = statement(
  'erasure.find_person',
  sql`
    WITH leads_of AS (
      SELECT l.id, l.deleted_at, l.email
      FROM leads l
      WHERE l.company_id = {company_id} AND l.caller_number = {number}::bigint
    ),
    calls_of AS (
      SELECT c.id, c.ended_at, c.recording_url
      FROM calls c
      WHERE c.company_id = {company_id}
        AND (
          c.caller_number = {number}::bigint
          OR c.from_number = {number}::bigint
          OR c.to_number = {number}::bigint
          OR c.lead_id IN (SELECT l.id FROM leads_of l)
        )
    )
    SELECT
      ARRAY(SELECT l.id::text FROM leads_of l ORDER BY l.id) AS lead_ids,
      ARRAY(
        SELECT l.id::text FROM leads_of l WHERE l.deleted_at IS NULL ORDER BY l.id
      ) AS undeleted_lead_ids,
      ARRAY(SELECT c.id::text FROM calls_of c ORDER BY c.id) AS call_ids,
      ARRAY(SELECT c.id::text FROM calls_of c WHERE c.ended_at IS NULL) AS running_call_ids,
      ARRAY(
        SELECT c.recording_url FROM calls_of c WHERE c.recording_url IS NOT NULL ORDER BY c.id
      ) AS recording_urls,
      ARRAY(
        SELECT DISTINCT lower(l.email) FROM leads_of l WHERE l.email IS NOT NULL
      ) AS emails,
      (
        SELECT max(h.expires_at)
        FROM call_holds h
        WHERE h.company_id = {company_id} AND h.caller_number = {number}::bigint
          AND h.expires_at > {now}::timestamptz
      ) AS held_until
  `,
  { prepared: false, nullable: ['held_until'] },
).returning<{
  lead_ids: string[];
  undeleted_lead_ids: string[];
  call_ids: string[];
  running_call_ids: string[];
  recording_urls: string[];
  emails: string[];
}>();

/** What names a person and stays, because it keeps the person from being contacted. */
export const COUNT_KEPT = statement(
  'erasure.count_kept',
  sql`
    SELECT
      (
        SELECT count(*)::int FROM buyer_suppression_numbers s
        WHERE s.company_id = {company_id} AND s.number = {number}::bigint
      ) AS buyer_suppression_numbers,
      (
        SELECT count(*)::int FROM contact_restrictions r
        WHERE r.company_id = {company_id} AND r.caller_number = {number}::bigint
          AND (r.blocked OR r.opt_out)
      ) AS contact_restrictions,
      (
        SELECT count(*)::int FROM contacts c
        WHERE c.company_id = {company_id} AND c.caller_number = {number}::bigint
          AND (c.blocked OR c.opt_out)
      ) AS contacts,
      (
        SELECT count(*)::int FROM list_values v
        WHERE v.company_id = {company_id}
          AND regexp_replace(v.value, '\D', '', 'g') = {number}::text
      ) AS list_values
  `,
  { prepared: false },
);
