import { sql, statement } from '../../../data/sql';

export const MAX_CONNECTIONS = statement(
  'installation.max_connections',
  sql`SELECT current_setting('max_connections')::int AS max`,
  { prepared: false },
);
