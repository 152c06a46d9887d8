import { sql, statement } from '../../db/sql';

/** Stand for the functions of Citus while statements are checked. */
const FUNCTIONS = sql`
  CREATE OR REPLACE FUNCTION citus_schema_distribute(regnamespace) RETURNS void
    LANGUAGE sql AS 'SELECT';
`;

/** Gives the tables of a schema to one node, which Citus chooses. */
export const DISTRIBUTE_SCHEMA = statement(
  'cells.distribute_schema',
  sql`
    SELECT citus_schema_distribute({schema}::text::regnamespace)
  `,
  { prepared: false, needs: FUNCTIONS },
);
