import { sql, statement } from '../../../data/sql';
import type { CredentialsKind } from '../credentials';

/** A team of a user, as json_agg returns it. */
export interface TeamRow {
  id: string;
  permissions: string[];
  superuser: boolean;
}

/** Leaves out deleted credentials, and those of a deleted user. `teams` is null without a team. */
export const FIND_CREDENTIALS = statement(
  'http.find_credentials',
  sql`
    SELECT
      lookup.company_id, company.name AS company_name, lookup.access_token_id,
      a.kind, a.name, a.public_key, a.user_id, u.email AS user_email,
      a.superuser, a.permissions, a.secret_digest, a.expires_at,
      (
        SELECT json_agg(json_build_object(
          'id', team.id::text, 'permissions', team.permissions, 'superuser', team.superuser
        ))
        FROM access_control_list_users member
        JOIN access_control_lists team
          ON team.company_id = member.company_id
          AND team.id = member.access_control_list_id
          AND team.deleted_at IS NULL
        WHERE member.company_id = a.company_id AND member.user_id = a.user_id
      ) AS teams
    FROM credential_lookups lookup
    JOIN access_tokens a ON a.company_id = lookup.company_id AND a.id = lookup.access_token_id
    JOIN companies company ON company.id = lookup.company_id AND company.removed_at IS NULL
    LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
    WHERE lookup.public_key = {public_key} AND a.deleted_at IS NULL AND u.deleted_at IS NULL
  `,
  { prepared: true },
).returning<{
  company_id: string;
  company_name: string;
  access_token_id: string;
  kind: CredentialsKind;
  name: string;
  public_key: string;
  superuser: boolean;
  permissions: string[];
  secret_digest: Buffer;
  teams: TeamRow[] | null;
}>();

/**
 * Current rights of credentials, in the order of two arrays; no row for those that are revoked,
 * have expired, or are those of a deleted user.
 */
export const FIND_CURRENT_RIGHTS = statement(
  'http.find_current_rights',
  sql`
    SELECT
      followed.n::int, a.kind, a.superuser, a.permissions,
      (
        SELECT json_agg(json_build_object(
          'id', team.id::text, 'permissions', team.permissions, 'superuser', team.superuser
        ))
        FROM access_control_list_users member
        JOIN access_control_lists team
          ON team.company_id = member.company_id
          AND team.id = member.access_control_list_id
          AND team.deleted_at IS NULL
        WHERE member.company_id = a.company_id AND member.user_id = a.user_id
      ) AS teams
    FROM unnest({company_ids}::bigint[], {access_token_ids}::bigint[]) WITH ORDINALITY
      AS followed(company_id, access_token_id, n)
    JOIN access_tokens a
      ON a.company_id = followed.company_id AND a.id = followed.access_token_id
    LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
    WHERE a.deleted_at IS NULL AND u.deleted_at IS NULL
      AND (a.expires_at IS NULL OR a.expires_at > {now}::timestamptz)
  `,
  { prepared: false },
).returning<{
  n: number;
  kind: CredentialsKind;
  superuser: boolean;
  permissions: string[];
  teams: TeamRow[] | null;
}>();
