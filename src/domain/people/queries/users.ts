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
