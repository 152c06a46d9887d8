import { sql, statement } from '../../db/sql';

/** Postpones the expiry of a job that is still this run's. `jobs.job` belongs to pg-boss. */
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
