import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/** Seconds to wait; 0 where the guesses are counted. */
export const TAKE_ATTEMPTS = statement(
  'people.take_attempts',
  sql`
    SELECT take_attempts(
        {subjects}::text[], {free_guesses}::int[], {window_hours}::int[], {now}::timestamptz
      ) AS wait_seconds`,
  { prepared: false },
);

export const FORGIVE_ATTEMPTS = statement(
  'people.forgive_attempts',
  sql`SELECT forgive_attempts({subjects}::text[], {own}::text)`,
  { prepared: false },
);

/** The living users with an address, in all companies of a database, with what they sign in by. */
export const FIND_LOGINS = statement(
  'people.find_logins',
  sql`
    SELECT u.company_id, u.id AS user_id, l.password_hash
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    LEFT JOIN user_logins l ON l.company_id = u.company_id AND l.user_id = u.id
    WHERE u.email = {email} AND u.deleted_at IS NULL
    ORDER BY u.company_id
    LIMIT {limit}::int`,
  { prepared: false },
).returning<{ company_id: string; user_id: string }>();

/** The users of a person at a provider, and those with the confirmed address and no provider. */
export const FIND_BY_IDENTITY = statement(
  'people.find_by_identity',
  sql`
    SELECT u.company_id, u.id AS user_id
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    JOIN user_logins l ON l.company_id = u.company_id AND l.user_id = u.id
    WHERE l.oidc_subject = {subject} AND l.oidc_issuer = {issuer} AND u.deleted_at IS NULL
    UNION
    SELECT u.company_id, u.id
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    LEFT JOIN user_logins l ON l.company_id = u.company_id AND l.user_id = u.id
    WHERE u.email = {email} AND u.deleted_at IS NULL AND l.oidc_subject IS NULL
    ORDER BY company_id
    LIMIT {limit}::int`,
  { prepared: false },
).returning<{ company_id: string; user_id: string }>();

/** A living user with the login; no row where the company is removed. */
export const FIND_LOGIN = statement(
  'people.find_login',
  sql`
    SELECT company.name AS company_name, u.email, u.name, u.joined_at,
      l.password_hash, l.password_set_at, l.totp_secret, l.totp_confirmed_at,
      l.totp_last_step, l.recovery_digests
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    LEFT JOIN user_logins l ON l.company_id = u.company_id AND l.user_id = u.id
    WHERE u.company_id = {company_id} AND u.id = {user_id} AND u.deleted_at IS NULL`,
  { prepared: false },
).returning<{ company_name: string; email: string }>();

/** Like the list of the contract, for the person alone: living sessions, newest first. */
export const LIST_SESSIONS = statement(
  'people.list_sessions',
  sql`
    SELECT a.id, a.public_key, a.created_at, a.expires_at, s.ends_at, s.seen_at, s.method,
      s.second_factor, s.ip, s.user_agent
    FROM access_tokens a
    JOIN sessions s ON s.company_id = a.company_id AND s.access_token_id = a.id
    WHERE a.company_id = {company_id} AND a.user_id = {user_id} AND a.kind = 'session'
      AND a.deleted_at IS NULL AND a.expires_at > {now}::timestamptz
    ORDER BY a.id DESC`,
  { prepared: false },
);

/**
 * Deletes sessions of all companies a day after their end, a portion at a time; a cookie of one has
 * long been refused.
 */
export const DELETE_ENDED_SESSIONS = statement(
  'people.delete_ended_sessions',
  sql`
    WITH ended AS (
      SELECT company_id, id
      FROM access_tokens
      WHERE kind = 'session' AND expires_at < now() - interval '1 day'
      ORDER BY expires_at
      LIMIT {limit}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM access_tokens a
      USING ended e
      WHERE a.company_id = e.company_id AND a.id = e.id
      RETURNING a.company_id, a.deleted_at
    ),
    living AS (SELECT company_id FROM deleted WHERE deleted_at IS NULL),
    counted AS (${countRows('access_tokens', 'living', -1)})
    SELECT count(*)::int AS deleted FROM deleted`,
  { prepared: false },
);

/** The longest window of guesses is a day. */
export const DELETE_OLD_ATTEMPTS = statement(
  'people.delete_old_attempts',
  sql`
    WITH deleted AS (
      DELETE FROM sign_in_attempts
      WHERE subject IN (
        SELECT subject
        FROM sign_in_attempts
        WHERE since < now() - interval '2 days'
        LIMIT {limit}::int
        FOR UPDATE SKIP LOCKED
      )
      RETURNING subject
    )
    SELECT count(*)::int AS deleted FROM deleted`,
  { prepared: false },
);

/** Locks a living user, for whom a session or a password is about to be written. */
export const LOCK_PERSON = statement(
  'people.lock_person',
  sql`
    SELECT u.email, u.joined_at, l.password_set_at, l.totp_confirmed_at, l.oidc_issuer,
      l.oidc_subject
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    LEFT JOIN user_logins l ON l.company_id = u.company_id AND l.user_id = u.id
    WHERE u.company_id = {company_id} AND u.id = {user_id} AND u.deleted_at IS NULL
    FOR NO KEY UPDATE OF u`,
  { prepared: false },
);

/** Makes a link to sign in by mail; earlier ones are void. */
export const BEGIN_LINK = statement(
  'people.begin_link',
  sql`
    INSERT INTO user_logins AS l (company_id, user_id, link_number, link_open, link_sent_at)
    VALUES ({company_id}, {user_id}, 1, true, {now}::timestamptz)
    ON CONFLICT (company_id, user_id) DO UPDATE SET
      link_number = l.link_number + 1,
      link_open = true,
      link_sent_at = excluded.link_sent_at
    RETURNING l.link_number AS number`,
  { prepared: false },
);

/** A row for the first who opens the link. */
export const TAKE_LINK = statement(
  'people.take_link',
  sql`
    UPDATE user_logins
    SET link_open = false
    WHERE company_id = {company_id} AND user_id = {user_id} AND link_number = {number}
      AND link_open AND link_sent_at > {since}::timestamptz
    RETURNING user_id`,
  { prepared: false },
);

/** A row for the first who shows the code of this step; later ones show a later one. */
export const TAKE_STEP = statement(
  'people.take_step',
  sql`
    UPDATE user_logins
    SET totp_last_step = {step}
    WHERE company_id = {company_id} AND user_id = {user_id} AND totp_last_step < {step}
    RETURNING user_id`,
  { prepared: false },
);

export const TAKE_RECOVERY_CODE = statement(
  'people.take_recovery_code',
  sql`
    UPDATE user_logins
    SET recovery_digests = array_remove(recovery_digests, {digest}::bytea)
    WHERE company_id = {company_id} AND user_id = {user_id}
      AND {digest}::bytea = ANY (recovery_digests)
    RETURNING user_id`,
  { prepared: false },
);

export const CONFIRM_SECOND_FACTOR = statement(
  'people.confirm_second_factor',
  sql`
    UPDATE user_logins
    SET totp_confirmed_at = {now}::timestamptz, totp_last_step = {step}
    WHERE company_id = {company_id} AND user_id = {user_id}`,
  { prepared: false },
);
