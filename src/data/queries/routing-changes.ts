import { sql, statement, type SqlText } from '../sql';

/**
 * Counts a change of the routing of each company in `rows`, a table or a CTE with the column
 * company_id: a CTE of the statement that writes the configuration of routing. There are 16 slots,
 * so that transactions on different connections rarely wait for each other.
 */
export const countRoutingChanges = (rows: SqlText): SqlText => sql`
    INSERT INTO routing_changes (company_id, slot, n)
    SELECT DISTINCT company_id, pg_backend_pid() % 16, 1
    FROM ${rows}
    ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1`;

export const RECORD_ROUTING_CHANGE = statement(
  'db.record_routing_change',
  sql`
    INSERT INTO routing_changes (company_id, slot, n)
    VALUES ({company_id}, pg_backend_pid() % 16, 1)
    ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1
  `,
  { prepared: true },
);
