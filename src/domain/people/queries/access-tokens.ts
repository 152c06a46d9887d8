import { sql, statement } from '../../../data/sql';

/**
 * Lets credentials expire at a time, but never later than before; returns their old columns. The
 * secret of a session is for the cookie of a browser alone.
 */
export const EXPIRE_CREDENTIALS = statement(
  'people.expire_credentials',
  sql`
    WITH old AS (
      SELECT a.id, a.name, a.kind, a.permissions, a.superuser, a.expires_at, u.email
      FROM access_tokens a
      LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
      WHERE a.company_id = {company_id} AND a.id = {id} AND a.kind <> 'session'
        AND a.deleted_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > {now}::timestamptz)
      FOR UPDATE OF a
    )
    UPDATE access_tokens a
    SET expires_at = least(old.expires_at, {expires_at}::timestamptz),
      updated_at = {now}::timestamptz
    FROM old
    WHERE a.company_id = {company_id} AND a.id = old.id
    RETURNING old.name, old.kind, old.permissions, old.superuser, old.expires_at,
      old.email AS user_email
  `,
  { prepared: false, nullable: ['user_email', 'expires_at'] },
).returning<{ name: string; permissions: string[]; superuser: boolean }>();
