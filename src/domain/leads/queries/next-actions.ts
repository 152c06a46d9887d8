import { sql, statement } from '../../../data/sql';

/**
 * Folds at most `max` hours, of all companies, that follow a given one. Returns the last hour of
 * each company.
 */
export const FOLD_NEXT_ACTIONS = statement(
  'leads.fold_next_actions',
  sql`
    SELECT
      x.company_id::text, max(x.hour) AS hour, fold_next_actions(x.company_id, array_agg(x.hour))
    FROM (
      SELECT company_id, hour
      FROM next_action_counts
      WHERE (company_id, hour) > ({after_company}::bigint, {after_hour}::timestamptz)
      GROUP BY company_id, hour
      HAVING count(*) > 1
      ORDER BY company_id, hour
      LIMIT {max}::int
    ) x
    GROUP BY x.company_id
    ORDER BY x.company_id
  `,
  { prepared: false },
);
