import { sql, statement } from '../../sql';

export const RECORD_LOOP_FAULT = statement(
  'jobs.record_loop_fault',
  sql`
    INSERT INTO loop_faults (name, ends_at)
    VALUES ({name}, now() + make_interval(secs => {seconds}::int))
    ON CONFLICT (name) DO UPDATE SET last_at = excluded.last_at, ends_at = excluded.ends_at`,
  { prepared: false },
);

/** An ended fault must not keep its first time when it happens again. */
export const DELETE_ENDED_FAULTS = statement(
  'jobs.delete_ended_faults',
  sql`DELETE FROM loop_faults WHERE ends_at < now()`,
  { prepared: false },
);

export const END_LOOP_FAULT = statement(
  'jobs.end_loop_fault',
  sql`DELETE FROM loop_faults WHERE name = {name}`,
  { prepared: false },
);

export const LIST_LOOP_FAULTS = statement(
  'jobs.list_loop_faults',
  sql`SELECT name, first_at FROM loop_faults WHERE ends_at >= now() ORDER BY name`,
  { prepared: false },
);
