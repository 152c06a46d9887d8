import { sql, statement } from '../../../data/sql';

/** Does not overwrite: the first process on a new database decides. */
export const CLAIM_PEPPER = statement(
  'installation.claim_pepper',
  sql`INSERT INTO installations (pepper_check) VALUES ({pepper_check}) ON CONFLICT DO NOTHING`,
  { prepared: false },
);

export const REPLACE_PEPPER = statement(
  'installation.replace_pepper',
  sql`
    INSERT INTO installations (pepper_check) VALUES ({pepper_check})
    ON CONFLICT (id) DO UPDATE SET pepper_check = EXCLUDED.pepper_check
  `,
  { prepared: false },
);

/** The digest of the pepper; `has_credentials` tells if anything was made with a pepper. */
export const PEPPER_STATE = statement(
  'installation.pepper_state',
  sql`
    SELECT
      (SELECT pepper_check FROM installations) AS pepper_check,
      EXISTS (SELECT FROM credential_lookups) AS has_credentials
  `,
  { prepared: false, nullable: ['pepper_check'] },
);

export const COUNT_CREDENTIALS = statement(
  'installation.count_credentials',
  sql`
    SELECT count(*)::int AS credentials FROM access_tokens
    WHERE deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  `,
  { prepared: false },
);
