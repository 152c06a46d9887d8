import { sql, statement } from '../../db/sql';

export const CHECK_DATABASE = statement('http.check_database', sql`SELECT 1 AS ok`, {
  prepared: false,
});
