import { sql, statement } from '../../sql';

/**
 * The queue: a table of each node, so that jobs are added in the transaction of the records that
 * they are about. A run owns its job until `expires_at`, which it postpones; `runs` tells it from
 * later runs. An ended job is deleted.
 */
export const CREATE_QUEUE = `
  CREATE SCHEMA IF NOT EXISTS jobs;
  CREATE TABLE IF NOT EXISTS jobs.job (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    data jsonb NOT NULL,
    company_id text NOT NULL GENERATED ALWAYS AS (data ->> 'company_id') STORED,
    created_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    runs int NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS job_turns ON jobs.job (name, company_id, due_at);
  CREATE INDEX IF NOT EXISTS job_running ON jobs.job (name, company_id)
    WHERE expires_at IS NOT NULL`;

/** Adds jobs of one kind, and wakes the workers of every process when the transaction commits. */
export const ADD_JOBS = statement(
  'jobs.add_jobs',
  sql`
    WITH added AS (
      INSERT INTO jobs.job (name, data)
      SELECT {name}, p.payload
      FROM jsonb_array_elements({payloads}::jsonb) p (payload)
    )
    SELECT pg_notify({channel}, {name})::text AS notified`,
  { prepared: false },
);

/** Postpones the expiry of a job that this run still owns. */
export const EXTEND_JOB = statement(
  'jobs.extend_job',
  sql`
    UPDATE jobs.job
    SET expires_at = now() + {expire_seconds}::int * interval '1 second'
    WHERE id = {id} AND runs = {runs} AND expires_at IS NOT NULL
    RETURNING id
  `,
  { prepared: false },
);

export const END_JOB = statement(
  'jobs.end_job',
  sql`DELETE FROM jobs.job WHERE id = {id} AND runs = {runs} AND expires_at IS NOT NULL`,
  { prepared: false },
);

/** Ends a run that has failed: the job runs again later. */
export const RETRY_JOB = statement(
  'jobs.retry_job',
  sql`
    UPDATE jobs.job
    SET expires_at = NULL, due_at = now() + {retry_seconds}::int * interval '1 second'
    WHERE id = {id} AND runs = {runs} AND expires_at IS NOT NULL`,
  { prepared: false },
);

export const DELETE_JOBS = statement(
  'jobs.delete_jobs',
  sql`DELETE FROM jobs.job WHERE company_id = {company_id}::text`,
  { prepared: false },
);

/** The job `j` waits, or its run has ended without a word. */
const IS_FREE = sql`(j.expires_at IS NULL OR j.expires_at < now())`;

/**
 * Claims jobs of a kind by turns: first those of the companies with the fewest running jobs in all
 * processes; among equals, the company that follows `after`. It claims at most `company_max` of a
 * company, less those that this process runs already (`busy`). Also returns how many jobs it chose,
 * some of which another process may have claimed at the same time, and the last company that it
 * looked at.
 */
export const CLAIM_JOBS = statement(
  'jobs.claim_jobs',
  sql`
    WITH RECURSIVE waiting (company, turn, has_wrapped) AS (
      SELECT {after}::text, 0, false
      UNION ALL
      SELECT next.company, w.turn + 1, w.has_wrapped OR next.wraps
      FROM waiting w
      CROSS JOIN LATERAL (
        (
          SELECT j.company_id AS company, false AS wraps
          FROM jobs.job j
          WHERE j.name = {name} AND ${IS_FREE} AND j.company_id > w.company
          ORDER BY j.company_id
          LIMIT 1
        )
        UNION ALL
        (
          SELECT j.company_id, true
          FROM jobs.job j
          WHERE j.name = {name} AND ${IS_FREE} AND NOT w.has_wrapped
          ORDER BY j.company_id
          LIMIT 1
        )
        LIMIT 1
      ) next
      WHERE w.turn < {max_companies}::int
        AND (NOT (w.has_wrapped OR next.wraps) OR next.company <= {after}::text)
    ),
    running AS (
      SELECT j.company_id AS company, count(*) AS n
      FROM jobs.job j
      WHERE j.name = {name} AND j.expires_at >= now()
      GROUP BY 1
    ),
    due AS (
      SELECT j.id, w.turn,
        coalesce(r.n, 0)
          + row_number() OVER (PARTITION BY w.company ORDER BY j.due_at, j.id) AS place
      FROM waiting w
      LEFT JOIN running r ON r.company = w.company
      LEFT JOIN unnest({busy}::text[], {busy_counts}::int[]) AS own (company, n)
        ON own.company = w.company
      CROSS JOIN LATERAL (
        SELECT j.id, j.due_at
        FROM jobs.job j
        WHERE j.name = {name} AND ${IS_FREE} AND j.company_id = w.company
          AND j.due_at <= now()
        ORDER BY j.due_at
        LIMIT greatest(0, least({max}::int, {company_max}::int - coalesce(own.n, 0)))
      ) j
      WHERE w.turn > 0
    ),
    chosen AS (
      SELECT id, turn FROM due ORDER BY place, turn LIMIT {max}::int
    ),
    locked AS (
      SELECT j.id, c.turn
      FROM chosen c
      JOIN jobs.job j ON j.id = c.id
      WHERE ${IS_FREE}
      FOR UPDATE OF j SKIP LOCKED
    ),
    claimed AS (
      UPDATE jobs.job j
      SET expires_at = now() + {expire_seconds}::int * interval '1 second', runs = j.runs + 1
      FROM locked
      WHERE j.id = locked.id
      RETURNING j.id, j.company_id, j.data, j.runs, locked.turn
    )
    SELECT (SELECT count(*) FROM chosen)::int AS chosen,
      (SELECT company FROM waiting ORDER BY turn DESC LIMIT 1) AS last_company,
      c.id::text, c.company_id, c.data, c.runs
    FROM (SELECT) AS always
    LEFT JOIN claimed c ON true
    ORDER BY c.turn
  `,
  { prepared: false, nullable: ['id', 'company_id', 'data', 'runs'] },
).returning<{ chosen: number; last_company: string }>();

/** By kind: the jobs that could run now, the oldest due time of these, and the jobs that run. */
export const MEASURE_JOBS = statement(
  'jobs.measure_jobs',
  sql`
    SELECT j.name, count(*)::int AS waiting, min(j.due_at) AS oldest, 0 AS running
    FROM jobs.job j
    WHERE ${IS_FREE} AND j.due_at <= now()
    GROUP BY j.name
    UNION ALL
    SELECT j.name, 0, NULL, count(*)::int
    FROM jobs.job j
    WHERE j.expires_at >= now()
    GROUP BY j.name
  `,
  { prepared: false, nullable: ['oldest'] },
);
