import { sql, statement } from '../sql';

/** For several companies: a transaction that contacts leads concerns many. */
export const COMPLETE_EVENTS = statement(
  'db.complete_events',
  sql`
    SELECT complete_events(x.company_id)
    FROM unnest({company_ids}::bigint[]) AS x(company_id)
  `,
  { prepared: true },
);
