import { sql, statement } from '../../sql';

export const DATABASE_TIME = statement('db.database_time', sql`SELECT clock_timestamp() AS at`, {
  prepared: false,
});
