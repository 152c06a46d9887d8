import { sql, statement } from '../../../data/sql';

// Statements of an import run on the row of its file. After the claim every statement contains the
// run: it finds no row once the file was stopped, deleted, or claimed by another run.

const ROW_OF_RUN = sql`
  company_id = {company_id}
    AND id = {id}
    AND run_id = {run_id}
    AND status = 'running'
    AND deleted_at IS NULL`;

/** Locks a queued file, before its list is locked. */
export const LOCK_QUEUED_FILE = statement(
  'suppression.lock_queued_file',
  sql`
    SELECT
      f.buyer_suppression_id AS list,
      f.status,
      f.job_id,
      f.apply_block_or_unblock AS verb,
      f.attempts,
      f.import_file_key,
      c.country,
      f.caller_id_column_name,
      f.headers,
      f.import_count,
      f.rejected_count,
      l.caller_id_column_name AS usual_column_name
    FROM buyer_suppression_files f
    JOIN companies c ON c.id = f.company_id
    JOIN buyer_suppressions l ON l.company_id = f.company_id AND l.id = f.buyer_suppression_id
    WHERE f.company_id = {company_id}
      AND f.id = {id}
      AND f.deleted_at IS NULL
      AND f.queue_position IS NOT NULL
      AND f.status IN ('pending', 'running')
    FOR UPDATE OF f`,
  { prepared: false },
).returning<{ list: string; import_file_key: string; headers: string[] }>();

export const START_RUN = statement(
  'suppression.start_run',
  sql`
    UPDATE buyer_suppression_files
    SET
      status = 'running',
      job_id = {job_id},
      run_id = {run_id},
      attempts = attempts + 1,
      started_at = coalesce(started_at, {now}),
      updated_at = {now}
    WHERE company_id = {company_id} AND id = {id}`,
  { prepared: false },
);

export const FIND_RUN = statement(
  'suppression.find_run',
  sql`SELECT id FROM buyer_suppression_files WHERE ${ROW_OF_RUN}`,
  { prepared: false },
);

/** A run that could not read the file, because its storage is unavailable, does not count. */
export const UNDO_ATTEMPT = statement(
  'suppression.forgive_run',
  sql`
    UPDATE buyer_suppression_files
    SET attempts = attempts - 1
    WHERE ${ROW_OF_RUN} AND attempts > 0`,
  { prepared: false },
);

export const RECORD_LAYOUT = statement(
  'suppression.record_layout',
  sql`
    UPDATE buyer_suppression_files
    SET
      total_count = {total_count},
      found_headers = {headers},
      found_column_name = {column_name}
    WHERE ${ROW_OF_RUN}
    RETURNING id`,
  { prepared: false },
);

/** Progress resets the count of failed runs. */
export const RECORD_PROGRESS = statement(
  'suppression.record_progress',
  sql`
    UPDATE buyer_suppression_files
    SET
      import_count = import_count + {taken},
      rejected_count = rejected_count + {rejected},
      added_count = added_count
        + CASE WHEN apply_block_or_unblock = 'block' THEN {changed}::bigint ELSE 0 END,
      removed_count = removed_count
        + CASE WHEN apply_block_or_unblock = 'unblock' THEN {changed}::bigint ELSE 0 END,
      attempts = 0,
      updated_at = now()
    WHERE ${ROW_OF_RUN}
    RETURNING id`,
  { prepared: false },
);

export const RECORD_SUCCESS = statement(
  'suppression.record_success',
  sql`
    UPDATE buyer_suppression_files
    SET status = 'succeeded', succeeded_at = {now}, updated_at = {now}
    WHERE ${ROW_OF_RUN}
    RETURNING id`,
  { prepared: false },
);

export const RECORD_FAILURE = statement(
  'suppression.record_failure',
  sql`
    UPDATE buyer_suppression_files
    SET
      status = 'failed',
      failed_at = {now},
      updated_at = {now},
      error_message = {message},
      found_headers = CASE
        WHEN cardinality({headers}::text[]) > 0 THEN {headers}::text[]
        ELSE found_headers
      END
    WHERE ${ROW_OF_RUN}
    RETURNING id`,
  { prepared: false },
);
