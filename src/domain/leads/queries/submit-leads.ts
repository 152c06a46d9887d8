import { sql, statement } from '../../../data/sql';

/**
 * Rows of the leads that submissions have written (prisma/sql/leads/submit_leads.sql), as a FROM
 * item: `writeSubmission` selects their records in the statement that writes them.
 */
export const SUBMIT_LEADS = sql`
  submit_leads(
    {company_id}::bigint, {now}::timestamptz, {offer_id}::bigint, {schedule_id}::bigint,
    {numbers}::bigint[], {submissions}::json
  )`;

/** The submissions themselves, for senders who are shown only what they have sent. */
export const SUBMITTED_COLUMNS = sql`
  JOIN (
    SELECT x.caller_number, x.data, x.zones, x.fields->>'email' AS email,
      x.fields->>'remote_ip' AS remote_ip
    FROM json_to_recordset({submissions}::json)
      AS x(caller_number bigint, data jsonb, zones text[], fields jsonb)
  ) request ON request.caller_number = t.caller_number`;

export const SUBMIT_LEADS_CHECK = statement(
  'leads.submit_leads',
  sql`
    SELECT t.id, request.email
    FROM ${SUBMIT_LEADS} t
    ${SUBMITTED_COLUMNS}
    WHERE t.company_id = {company_id}`,
  { prepared: true },
);
