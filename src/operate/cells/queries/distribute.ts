import { sql, statement } from '../../../data/sql';

/** Companies with the number of their leads and calls, the largest first. */
export const LIST_COMPANIES = statement(
  'cells.list_companies',
  sql`
    SELECT
      c.id, c.name,
      coalesce(
        (
          SELECT sum(r.n)
          FROM record_counts r
          WHERE r.company_id = c.id AND r.resource IN ('leads', 'calls')
        ),
        0
      )::float8 AS records
    FROM companies c
    ORDER BY records DESC, c.id
  `,
  { prepared: false },
);

export const LIST_OTHER_SESSIONS = statement(
  'cells.list_other_sessions',
  sql`
    SELECT count(*)::int AS sessions
    FROM pg_stat_activity
    WHERE datname = current_database()
      AND backend_type = 'client backend'
      AND pid <> pg_backend_pid()
      AND application_name NOT LIKE 'citus%'
      AND application_name <> 'trunkline distribute'
  `,
  { prepared: false },
);
