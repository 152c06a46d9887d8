import { sql, statement } from '../../../data/sql';

/** No row before the first backup. */
export const LAST_BACKUP = statement(
  'backup.last_backup',
  sql`
    SELECT
      backed_up_at,
      (extract(epoch FROM now() - backed_up_at) / 3600)::int AS hours
    FROM installations
    WHERE backed_up_at IS NOT NULL
  `,
  { prepared: false },
);

/** An older backup than the last counts nothing. */
export const RECORD_BACKUP = statement(
  'backup.record_backup',
  sql`
    UPDATE installations
    SET backed_up_at = greatest(backed_up_at, {taken_at})
  `,
  { prepared: false },
);
