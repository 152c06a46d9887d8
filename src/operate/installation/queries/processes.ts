import { sql, statement } from '../../../data/sql';

/** Registers a process, or renews its heartbeat. */
export const SEE_PROCESS = statement(
  'installation.see_process',
  sql`
    INSERT INTO processes (id, kind, host, pid) VALUES ({id}, {kind}, {host}, {pid})
    ON CONFLICT (id) DO UPDATE SET seen_at = now()
  `,
  { prepared: false },
);

export const DELETE_PROCESS = statement(
  'installation.delete_process',
  sql`DELETE FROM processes WHERE id = {id} OR seen_at < now() - interval '1 day'`,
  { prepared: false },
);

export const RUNNING_PROCESSES = statement(
  'installation.running_processes',
  sql`
    SELECT kind, host, pid FROM processes
    WHERE seen_at > now() - make_interval(secs => {seconds}::int)
    ORDER BY started_at, id
  `,
  { prepared: false },
);
