import { sql, statement } from '../../../data/sql';

// Each runs a function of prisma/sql/leads/, which says what it locks.

export const LOCK_CONTACTS = statement(
  'leads.lock_contacts',
  sql`
    SELECT lock_contacts({company_id}, {numbers}::bigint[], {uuids}::uuid[], {now}::timestamptz)
      ::text AS locked`,
  { prepared: true },
);

export const CHANGE_CONTACTS = statement(
  'leads.change_contacts',
  sql`
    SELECT change_contacts(
      {company_id}, {change}, {numbers}::bigint[], {uuids}::uuid[], {now}::timestamptz, {message}
    ) AS changed`,
  { prepared: true },
);

export const RESTRICT_CONTACT = statement(
  'leads.restrict_contact',
  sql`
    SELECT restrict_contact(
      {company_id}, {change}, {number}::bigint, {uuid}::uuid, {offer_id}::bigint,
      {schedule_id}::bigint, {now}::timestamptz, {details}::json
    )::text AS restricted`,
  { prepared: true },
);
