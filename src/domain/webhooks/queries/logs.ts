import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

// Old logs are deleted in batches. Rows are created in the order of their ids, so that a company's
// rows are read in that order until one is young enough.

/** Rows that are read at once: the LIMITs below. */
export const BATCH = 1_000;

/** Steps from one company to the next by the index, without reading the rows between. */
export const LIST_COMPANIES_WITH_DELIVERIES = statement(
  'webhooks.list_companies_with_deliveries',
  sql`
    WITH RECURSIVE company AS (
      (SELECT company_id FROM webhook_deliveries ORDER BY company_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT d.company_id
        FROM webhook_deliveries d
        WHERE d.company_id > company.company_id
        ORDER BY d.company_id
        LIMIT 1
      )
      FROM company
      WHERE company.company_id IS NOT NULL
    )
    SELECT company_id::text
    FROM company
    WHERE company_id IS NOT NULL
  `,
  { prepared: false },
);

export const LIST_COMPANIES_WITH_LOGS = statement(
  'webhooks.list_companies_with_logs',
  sql`
    WITH RECURSIVE company AS (
      (SELECT company_id FROM webhook_logs ORDER BY company_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT l.company_id
        FROM webhook_logs l
        WHERE l.company_id > company.company_id
        ORDER BY l.company_id
        LIMIT 1
      )
      FROM company
      WHERE company.company_id IS NOT NULL
    )
    SELECT company_id::text
    FROM company
    WHERE company_id IS NOT NULL
  `,
  { prepared: false },
);

export const LIST_OLDEST_DELIVERIES = statement(
  'webhooks.list_oldest_deliveries',
  sql`
    SELECT d.id::text, d.created_at < {before}::timestamptz AS is_old,
      d.status <> 'waiting' AS is_deletable
    FROM webhook_deliveries d
    WHERE d.company_id = {company_id} AND d.id > {after}::bigint
    ORDER BY d.id
    LIMIT 1000
  `,
  { prepared: false },
);

/** Only logs of pre-dial requests can be deleted here: others are deleted with their delivery. */
export const LIST_OLDEST_LOGS = statement(
  'webhooks.list_oldest_logs',
  sql`
    SELECT l.id::text, l.created_at < {before}::timestamptz AS is_old,
      l.webhook_delivery_id IS NULL AS is_deletable
    FROM webhook_logs l
    WHERE l.company_id = {company_id} AND l.id > {after}::bigint
    ORDER BY l.id
    LIMIT 1000
  `,
  { prepared: false },
);

/** A redelivery locks the log of its delivery first, and so does the deletion. */
export const LOCK_LOGS_OF_DELIVERIES = statement(
  'webhooks.lock_logs_of_deliveries',
  sql`
    SELECT FROM webhook_logs
    WHERE company_id = {company_id} AND webhook_delivery_id = ANY({ids}::bigint[])
    ORDER BY id
    FOR UPDATE
  `,
  { prepared: false },
);

export const DELETE_DELIVERIES = statement(
  'webhooks.delete_deliveries',
  sql`
    WITH deleted AS (
        DELETE FROM webhook_deliveries d
        WHERE d.company_id = {company_id} AND d.id = ANY({ids}::bigint[]) AND d.status <> 'waiting'
          AND NOT EXISTS (
            SELECT FROM webhook_logs l
            WHERE l.company_id = d.company_id AND l.webhook_delivery_id = d.id
              AND l.created_at >= {before}::timestamptz
          )
        RETURNING d.id
      ),
      deleted_logs AS (
        DELETE FROM webhook_logs l
        USING deleted
        WHERE l.company_id = {company_id} AND l.webhook_delivery_id = deleted.id
        RETURNING l.company_id
      )
    ${countRows('webhook_logs', 'deleted_logs', -1)}
  `,
  { prepared: false },
);

export const DELETE_LOGS = statement(
  'webhooks.delete_logs',
  sql`
    WITH deleted_logs AS (
      DELETE FROM webhook_logs l
      WHERE l.company_id = {company_id} AND l.id = ANY({ids}::bigint[])
      RETURNING l.company_id
    )
    ${countRows('webhook_logs', 'deleted_logs', -1)}
  `,
  { prepared: false },
);
