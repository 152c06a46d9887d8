import { sql, statement } from '../../sql';

/** Postpones the expiry of a job that this run still owns. `jobs.job` belongs to pg-boss. */
export const EXTEND_JOB = statement(
  'jobs.extend_job',
  sql`
    UPDATE jobs.job
    SET started_on = now(), expire_in = {expire_seconds}::int * interval '1 second'
    WHERE name = {name} AND id = {id} AND state = 'active' AND retry_count = {retry_count}
    RETURNING id
  `,
  { prepared: false },
);

/** Wakes the workers of every process when the transaction commits. */
export const NOTIFY = statement(
  'jobs.notify',
  sql`SELECT pg_notify({channel}, {name})::text AS notified`,
  { prepared: false },
);

export const DELETE_JOBS = statement(
  'jobs.delete_jobs',
  sql`DELETE FROM jobs.job WHERE data ->> 'company_id' = {company_id}::text`,
  { prepared: false },
);

/**
 * Indexes for claims: of the waiting jobs by company and time, and of the running ones. An index of
 * `jobs.job` is also one of the table of each kind.
 */
export const INDEX_TURNS = sql`
  CREATE INDEX IF NOT EXISTS trunkline_waiting ON jobs.job
    (name, (data ->> 'company_id'), start_after) WHERE state < 'active';
  CREATE INDEX IF NOT EXISTS trunkline_running ON jobs.job
    (name, (data ->> 'company_id')) WHERE state = 'active'`;

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
          SELECT j.data ->> 'company_id' AS company, false AS wraps
          FROM jobs.job j
          WHERE j.name = {name} AND j.state < 'active' AND j.data ->> 'company_id' > w.company
          ORDER BY j.data ->> 'company_id'
          LIMIT 1
        )
        UNION ALL
        (
          SELECT j.data ->> 'company_id', true
          FROM jobs.job j
          WHERE j.name = {name} AND j.state < 'active' AND NOT w.has_wrapped
          ORDER BY j.data ->> 'company_id'
          LIMIT 1
        )
        LIMIT 1
      ) next
      WHERE w.turn < {max_companies}::int
        AND (NOT (w.has_wrapped OR next.wraps) OR next.company <= {after}::text)
    ),
    running AS (
      SELECT j.data ->> 'company_id' AS company, count(*) AS n
      FROM jobs.job j
      WHERE j.name = {name} AND j.state = 'active'
      GROUP BY 1
    ),
    due AS (
      SELECT j.id, w.turn,
        coalesce(r.n, 0)
          + row_number() OVER (PARTITION BY w.company ORDER BY j.start_after, j.id) AS place
      FROM waiting w
      LEFT JOIN running r ON r.company = w.company
      LEFT JOIN unnest({busy}::text[], {busy_counts}::int[]) AS own (company, n)
        ON own.company = w.company
      CROSS JOIN LATERAL (
        SELECT x.id, x.start_after
        FROM jobs.job x
        WHERE x.name = {name} AND x.state < 'active' AND x.data ->> 'company_id' = w.company
          AND x.start_after < now()
        ORDER BY x.start_after
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
      JOIN jobs.job j ON j.name = {name} AND j.id = c.id
      WHERE j.state < 'active'
      FOR UPDATE OF j SKIP LOCKED
    ),
    claimed AS (
      UPDATE jobs.job j
      SET state = 'active', started_on = now(),
        retry_count = CASE WHEN j.started_on IS NULL THEN j.retry_count ELSE j.retry_count + 1 END
      FROM locked
      WHERE j.name = {name} AND j.id = locked.id
      RETURNING j.id, j.data, j.retry_count, locked.turn
    )
    SELECT (SELECT count(*) FROM chosen)::int AS chosen,
      (SELECT company FROM waiting ORDER BY turn DESC LIMIT 1) AS last_company,
      c.id::text, c.data, c.retry_count
    FROM (SELECT) AS always
    LEFT JOIN claimed c ON true
    ORDER BY c.turn
  `,
  { prepared: false, nullable: ['id', 'data', 'retry_count'] },
).returning<{ chosen: number; last_company: string }>();

/** By kind: the jobs that could run now, the oldest due time of these, and the jobs that run. */
export const MEASURE_JOBS = statement(
  'jobs.measure_jobs',
  sql`
    SELECT j.name, count(*)::int AS waiting, min(j.start_after) AS oldest, 0 AS running
    FROM jobs.job j
    WHERE j.state < 'active' AND j.start_after <= now()
    GROUP BY j.name
    UNION ALL
    SELECT j.name, 0, NULL, count(*)::int
    FROM jobs.job j
    WHERE j.state = 'active'
    GROUP BY j.name
  `,
  { prepared: false, nullable: ['oldest'] },
);
