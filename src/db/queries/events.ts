import { sql, statement } from '../sql';

/** Of several companies: the transactions of leads that are contacted are about many. */
export const COMPLETE_EVENTS = statement(
  'db.complete_events',
  sql`
    SELECT complete_events(x.company_id)
    FROM unnest({company_ids}::bigint[]) AS x(company_id)
  `,
  { prepared: true },
);
