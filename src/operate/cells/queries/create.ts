import { sql, statement } from '../../../data/sql';

/** Stand-ins for the functions of Citus while statements are checked. */
const FUNCTIONS = sql`
  CREATE OR REPLACE FUNCTION citus_schema_distribute(regnamespace) RETURNS void
    LANGUAGE sql AS 'SELECT';
  CREATE OR REPLACE FUNCTION citus_schema_move(regnamespace, text, int, text) RETURNS void
    LANGUAGE sql AS 'SELECT';
`;

/** Assigns the tables of a schema to one node, which Citus chooses. */
export const DISTRIBUTE_SCHEMA = statement(
  'cells.distribute_schema',
  sql`
    SELECT citus_schema_distribute({schema}::text::regnamespace)
  `,
  { prepared: false, needs: FUNCTIONS },
);

/** Moves the tables of a schema that is not in use yet. */
export const MOVE_EMPTY_SCHEMA = statement(
  'cells.move_empty_schema',
  sql`
    SELECT citus_schema_move(
      {schema}::text::regnamespace, {host}::text, {port}::int, 'block_writes'
    )
  `,
  { prepared: false, needs: FUNCTIONS },
);
