import { sql, statement } from '../../../data/sql';

/** For the installation as a whole (prisma/sql/installation/analyze_grown_tables.sql). */
export const ANALYZE_GROWN_TABLES = statement(
  'background.analyze_grown_tables',
  sql`SELECT analyze_grown_tables() AS n`,
  { prepared: true },
);
