import { sql, statement } from '../../../data/sql';

// The queue of a node.

export const HAS_JOBS = statement(
  'cells.has_jobs',
  sql`SELECT to_regclass('jobs.job') IS NOT NULL AS has_jobs`,
  { prepared: false },
);

/** Unfinished jobs of companies. */
export const LIST_JOBS = statement(
  'cells.list_jobs',
  sql`
    SELECT j.id, to_jsonb(j) AS job
    FROM jobs.job j
    WHERE j.company_id = ANY ({companies}::text[])
  `,
  { prepared: false },
);

/**
 * Adds jobs that are not there. Running ones start again after the time by which their run has
 * noticed the move.
 */
export const ADD_JOBS = statement(
  'cells.add_jobs',
  sql`
    INSERT INTO jobs.job (id, name, data, created_at, due_at, runs)
    SELECT
      j.id, j.name, j.data, j.created_at,
      CASE
        WHEN j.expires_at IS NULL THEN j.due_at
        ELSE now() + {seconds}::int * interval '1 second'
      END,
      j.runs + 1
    FROM jsonb_populate_recordset(NULL::jobs.job, {jobs}::jsonb) j
    ON CONFLICT DO NOTHING
  `,
  { prepared: false },
);

export const DELETE_JOBS = statement(
  'cells.delete_jobs',
  sql`DELETE FROM jobs.job WHERE id = ANY ({ids}::uuid[])`,
  { prepared: false },
);

/** Ends the runs of a company's jobs. They start again later. */
export const RESTART_JOBS = statement(
  'cells.restart_jobs',
  sql`
    UPDATE jobs.job
    SET expires_at = NULL, runs = runs + 1,
      due_at = now() + {seconds}::int * interval '1 second'
    WHERE expires_at IS NOT NULL AND company_id = {company_id}::text
  `,
  { prepared: false },
);

/** Deletes unfinished jobs of companies. */
export const DELETE_JOBS_OF = statement(
  'cells.delete_jobs_of',
  sql`
    DELETE FROM jobs.job WHERE company_id = ANY ({companies}::text[])
  `,
  { prepared: false },
);
