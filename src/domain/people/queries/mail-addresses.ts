import { sql, statement } from '../../../data/sql';

/** For each mailbox the quota that is used up; an empty text where the mail is counted. */
export const TAKE_MAILS = statement(
  'people.take_mails',
  sql`
    SELECT take_mails(
        {company_id}::bigint, {day}::date, {mailboxes}::text[], {company_max}::int,
        {mailbox_max}::int
      ) AS refusals`,
  { prepared: false },
);

export const FIND_CONFIRMED = statement(
  'people.find_confirmed',
  sql`
    SELECT email
    FROM mail_addresses
    WHERE company_id = {company_id} AND email = ANY({emails}::text[])
      AND confirmed_at IS NOT NULL`,
  { prepared: true },
);

/**
 * Starts a confirmation of each unconfirmed address that was not asked within `again_hours`.
 * Ascending, so that two requests never wait for each other.
 */
export const BEGIN_CONFIRMATIONS = statement(
  'people.begin_confirmations',
  sql`
    INSERT INTO mail_addresses AS a (
      company_id, email, created_at, confirmation_number, confirmation_sent_at
    )
    SELECT {company_id}, x.email, {now}::timestamptz, 1, {now}::timestamptz
    FROM unnest({emails}::text[]) AS x(email)
    ORDER BY x.email
    ON CONFLICT (company_id, email) DO UPDATE SET
      confirmation_number = a.confirmation_number + 1,
      confirmation_sent_at = excluded.confirmation_sent_at
    WHERE a.confirmed_at IS NULL
      AND (
        a.confirmation_sent_at IS NULL
        OR a.confirmation_sent_at
          <= excluded.confirmation_sent_at - make_interval(hours => {again_hours}::int)
      )
    RETURNING a.id::text, a.email, a.confirmation_number AS number`,
  { prepared: false },
);

/** The addresses that may be invited: no invitation was mailed to them within `again_minutes`. */
export const BEGIN_INVITATIONS = statement(
  'people.begin_invitations',
  sql`
    INSERT INTO mail_addresses AS a (company_id, email, created_at, invited_at)
    SELECT {company_id}, x.email, {now}::timestamptz, {now}::timestamptz
    FROM unnest({emails}::text[]) AS x(email)
    ORDER BY x.email
    ON CONFLICT (company_id, email) DO UPDATE SET invited_at = excluded.invited_at
    WHERE a.invited_at IS NULL
      OR a.invited_at <= excluded.invited_at - make_interval(mins => {again_minutes}::int)
    RETURNING a.email`,
  { prepared: false },
);

export const COUNT_REFUSED_MAILS = statement(
  'people.count_refused_mails',
  sql`
    SELECT coalesce(sum(refused), 0)::int AS mails, count(*)::int AS companies
    FROM mail_counts
    WHERE day = {day}::date AND mailbox = '' AND refused > 0`,
  { prepared: false },
);
