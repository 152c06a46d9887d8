import { sql, statement } from '../../../data/sql';

export const READ_REPLY_SETTINGS = statement(
  'outreach.read_reply_settings',
  sql`
    SELECT
      c.name, c.country, c.contact_countries,
      coalesce(c.contact_prefixes, '{}') AS contact_prefixes,
      c.keyword_replies, c.help_text, c.opt_out_text, c.opt_in_text
    FROM companies c
    WHERE c.id = {company_id}
  `,
  { prepared: false },
).returning<{ contact_prefixes: string[] }>();

export const INSERT_REPLY = statement(
  'outreach.insert_reply',
  sql`
    INSERT INTO text_messages (
      company_id, uuid, created_at, updated_at, direction, from_number, to_number, body, status,
      carrier, lead_id, offer_id, schedule_id, sent_at, delivered_at, in_reply_to_id
    )
    VALUES (
      {company_id}::bigint, {uuid}::uuid, {now}::timestamptz, {now}::timestamptz, 'outbound',
      {from}::bigint, {to}::bigint, {body}, {status}, {carrier}, {lead_id}::bigint,
      {offer_id}::bigint, {schedule_id}::bigint,
      CASE WHEN {status} = 'delivered' THEN {now}::timestamptz END,
      CASE WHEN {status} = 'delivered' THEN {now}::timestamptz END,
      {in_reply_to_id}::bigint
    )
  `,
  { prepared: false },
);

export const FIND_REPLY = statement(
  'outreach.find_reply',
  sql`
    SELECT r.uuid AS key, r.body
    FROM text_messages r
    WHERE r.company_id = {company_id} AND r.in_reply_to_id = {id}::bigint
  `,
  { prepared: false },
);
