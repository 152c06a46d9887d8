import { sql, statement } from '../../../data/sql';

/** For the installation as a whole (prisma/sql/installation/analyze_grown_tables.sql). */
export const ANALYZE_GROWN_TABLES = statement(
  'background.analyze_grown_tables',
  sql`SELECT analyze_grown_tables() AS n`,
  { prepared: true },
);

/** The keys whose files belong to a suppression file. */
export const FILES_IN_USE = statement(
  'background.files_in_use',
  sql`
    SELECT import_file_key AS key FROM buyer_suppression_files
    WHERE import_file_key = ANY({keys})
  `,
  { prepared: false },
);
