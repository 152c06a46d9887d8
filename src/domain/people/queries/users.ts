import { sql, statement } from '../../../data/sql';

/** Parallel requests create a user once: the second one waits, and inserts nothing. */
export const INSERT_MISSING_USERS = statement(
  'people.insert_missing_users',
  sql`
    INSERT INTO users (company_id, uuid, email, created_at, updated_at)
    SELECT {company_id}, missing.uuid, missing.email, {now}, {now}
    FROM unnest({uuids}::uuid[], {emails}::text[]) AS missing(uuid, email)
    ON CONFLICT (company_id, email) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id::text
  `,
  { prepared: false },
);

export const LOCK_USERS_BY_EMAIL = statement(
  'people.lock_users_by_email',
  sql`
    SELECT id::text
    FROM users
    WHERE company_id = {company_id} AND email = ANY({emails}::text[]) AND deleted_at IS NULL
    ORDER BY id
    FOR NO KEY UPDATE
  `,
  { prepared: false },
);

/** Returns no row where the invitation was accepted or replaced in the meantime. */
export const ACCEPT_INVITATION = statement(
  'people.accept_invitation',
  sql`
    UPDATE users
    SET invitation_open = false, joined_at = coalesce(joined_at, {now}), updated_at = {now}
    WHERE company_id = {company_id} AND id = {user_id} AND invitation_number = {number}
      AND invitation_open AND deleted_at IS NULL
    RETURNING email
  `,
  { prepared: false },
);
