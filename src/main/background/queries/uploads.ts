import { sql, statement } from '../../../data/sql';

/** The keys whose files belong to a suppression file. */
export const FILES_IN_USE = statement(
  'background.files_in_use',
  sql`
    SELECT import_file_key AS key FROM buyer_suppression_files
    WHERE import_file_key = ANY({keys})
  `,
  { prepared: false },
);
