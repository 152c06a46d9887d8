import { sql, statement } from '../../db/sql';

/** Of all companies. */
export const FOLD_NEXT_ACTIONS = statement(
  'leads.fold_next_actions',
  sql`
    SELECT fold_next_actions(x.company_id, array_agg(x.hour))
    FROM (
      SELECT company_id, hour
      FROM next_action_counts
      GROUP BY company_id, hour
      HAVING count(*) > 1
    ) x
    GROUP BY x.company_id
  `,
  { prepared: false },
);
