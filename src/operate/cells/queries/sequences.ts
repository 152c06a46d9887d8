import { sql, statement } from '../../../data/sql';

// Run on the node of a cell.

/** The sequences that a cell needs: those of its tables, and those that belong to no column. */
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
