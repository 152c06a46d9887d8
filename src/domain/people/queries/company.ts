import { sql, statement, TIMESTAMP_FORMAT } from '../../../data/sql';

const RECORD = sql`
  (
    SELECT row_to_json(r)
    FROM (
      SELECT
        c.id,
        'Company' AS type,
        c.uuid,
        to_char(c.created_at, ${TIMESTAMP_FORMAT}) AS created_at,
        to_char(c.updated_at, ${TIMESTAMP_FORMAT}) AS updated_at,
        c.name,
        c.country,
        c.contact_countries,
        c.contact_prefixes,
        c.sip_hosts,
        c.lead_token_powers,
        c.service_cost_per_minute,
        c.keyword_replies,
        c.help_text,
        c.opt_out_text,
        c.opt_in_text
    ) r
  )::text`;

export const READ_COMPANY = statement(
  'people.read_company',
  sql`SELECT ${RECORD} AS record FROM companies c WHERE c.id = {company_id}`,
  { prepared: true },
).returning<{ record: string }>();

export const LOCK_COMPANY = statement(
  'people.lock_company',
  sql`SELECT c.id FROM companies c WHERE c.id = {company_id} FOR NO KEY UPDATE`,
  { prepared: false },
);

/** Writes the settings that are among the keys of `fields`. */
export const UPDATE_COMPANY = statement(
  'people.update_company',
  sql`
    UPDATE companies c
    SET
      name = coalesce({fields}::jsonb->>'name', c.name),
      country = coalesce({fields}::jsonb->>'country', c.country),
      contact_countries = CASE
        WHEN {fields}::jsonb ? 'contact_countries' THEN {contact_countries}::text[]
        ELSE c.contact_countries
      END,
      contact_prefixes = CASE
        WHEN {fields}::jsonb ? 'contact_prefixes' THEN {contact_prefixes}::text[]
        ELSE c.contact_prefixes
      END,
      sip_hosts = CASE
        WHEN {fields}::jsonb ? 'sip_hosts' THEN {sip_hosts}::text[]
        ELSE c.sip_hosts
      END,
      lead_token_powers = CASE
        WHEN {fields}::jsonb ? 'lead_token_powers' THEN {lead_token_powers}::text[]
        ELSE c.lead_token_powers
      END,
      service_cost_per_minute = coalesce(
        ({fields}::jsonb->>'service_cost_per_minute')::numeric,
        c.service_cost_per_minute
      ),
      keyword_replies = coalesce(({fields}::jsonb->>'keyword_replies')::boolean, c.keyword_replies),
      help_text = CASE
        WHEN {fields}::jsonb ? 'help_text' THEN {fields}::jsonb->>'help_text'
        ELSE c.help_text
      END,
      opt_out_text = CASE
        WHEN {fields}::jsonb ? 'opt_out_text' THEN {fields}::jsonb->>'opt_out_text'
        ELSE c.opt_out_text
      END,
      opt_in_text = CASE
        WHEN {fields}::jsonb ? 'opt_in_text' THEN {fields}::jsonb->>'opt_in_text'
        ELSE c.opt_in_text
      END,
      updated_at = {now}::timestamptz
    WHERE c.id = {company_id}
  `,
  { prepared: false },
);

export const READ_DESTINATION_POLICY = statement(
  'people.read_destination_policy',
  sql`
    SELECT
      c.country,
      c.contact_countries,
      coalesce(c.contact_prefixes, '{}') AS contact_prefixes,
      coalesce(c.sip_hosts, '{}') AS sip_hosts
    FROM companies c
    WHERE c.id = {company_id}
  `,
  { prepared: true },
).returning<{ contact_prefixes: string[]; sip_hosts: string[] }>();
