import { sql, statement } from '../../../data/sql';

/**
 * The file of the list `t` that is imported now or next, or else the last one that was imported. A
 * file without content has no position in the queue.
 */
export const CURRENT_FILE = sql`
  SELECT x.*
  FROM buyer_suppression_files x
  WHERE x.company_id = t.company_id
    AND x.buyer_suppression_id = t.id
    AND x.deleted_at IS NULL
    AND x.queue_position IS NOT NULL
  ORDER BY
    x.status IN ('pending', 'running') DESC,
    CASE
      WHEN x.status IN ('pending', 'running') THEN x.queue_position
      ELSE -x.queue_position
    END
  LIMIT 1`;

export const FIND_BROKEN_FILE = statement(
  'suppression.find_broken_file',
  sql`
    SELECT file.id
    FROM buyer_suppressions t
    CROSS JOIN LATERAL (${CURRENT_FILE}) file
    WHERE t.company_id = {company_id}
      AND t.id = {list}
      AND file.status IN ('failed', 'stopped')`,
  { prepared: false },
);

/** Locks two lists in the order of their ids: the one of a reference, and `id`. */
export const LOCK_LISTS = statement(
  'suppression.lock_lists',
  sql`
    SELECT
    FROM buyer_suppressions
    WHERE company_id = {company_id}
      AND (id = {named_id} OR uuid = {named_uuid} OR id = {id})
    ORDER BY id
    FOR UPDATE`,
  { prepared: false },
);

export const LOCK_LIST = statement(
  'suppression.lock_list',
  sql`SELECT FROM buyer_suppressions WHERE company_id = {company_id} AND id = {id} FOR UPDATE`,
  { prepared: false },
);

export const LOCK_FILES_OF_LIST = statement(
  'suppression.lock_files_of_list',
  sql`
    SELECT
    FROM buyer_suppression_files
    WHERE company_id = {company_id} AND buyer_suppression_id = {list} AND deleted_at IS NULL
    ORDER BY id
    FOR UPDATE`,
  { prepared: false },
);

/** Resets earlier runs. The file gets a position in the queue if it has its content and a list. */
export const QUEUE_FILE = statement(
  'suppression.queue_file',
  sql`
    UPDATE buyer_suppression_files
    SET
      status = 'pending',
      total_count = NULL,
      import_count = 0,
      rejected_count = 0,
      added_count = 0,
      removed_count = 0,
      attempts = 0,
      found_column_name = NULL,
      found_headers = '{}',
      error_message = NULL,
      job_id = NULL,
      run_id = NULL,
      started_at = NULL,
      stopped_at = NULL,
      failed_at = NULL,
      succeeded_at = NULL,
      updated_at = {now},
      queue_position = CASE
        WHEN import_file_key IS NOT NULL AND buyer_suppression_id IS NOT NULL
          THEN nextval('suppression_file_positions')
      END
    WHERE company_id = {company_id} AND id = {id}
    RETURNING buyer_suppression_id AS list, queue_position IS NOT NULL AS is_queued`,
  { prepared: false },
);
