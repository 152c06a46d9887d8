import { sql, statement } from '../../data/sql';

export const CHECK_WRITES = statement(
  'http.check_writes',
  sql`SELECT true AS ok FROM check_writes()`,
  { prepared: false },
);
