import { sql, statement } from '../../../data/sql';

/** Postpones the idle end of a session, at most once a minute; an ended one stays ended. */
export const TOUCH_SESSION = statement(
  'http.touch_session',
  sql`
    SELECT touch_session(
        {company_id}::bigint, {access_token_id}::bigint, {now}::timestamptz, {idle_hours}::int
      ) AS touched`,
  { prepared: false },
);
