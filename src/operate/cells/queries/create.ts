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

/**
 * The sequences that a cell needs: those of its tables, and those that belong to no column. Run on
 * the node of the cell.
 */
export const LIST_SEQUENCES = statement(
  'cells.list_sequences',
  sql`
    SELECT x.name
    FROM (
      SELECT substring(
        pg_get_expr(d.adbin, d.adrelid) FROM 'nextval[(]''(?:[^.'']+[.])?([^.'']+)'''
      ) AS name
      FROM pg_attrdef d
      JOIN pg_class c ON c.oid = d.adrelid
      JOIN pg_namespace s ON s.oid = c.relnamespace
      WHERE s.nspname = {schema}
      UNION
      VALUES ('token_value_ids'), ('suppression_file_positions')
    ) x
    WHERE x.name IS NOT NULL
    ORDER BY x.name
  `,
  { prepared: false },
);
