import { sql, statement } from '../sql';

/** One transaction at a time sets sequences: otherwise one could lower what another raised. */
export const LOCK_SEQUENCES = statement(
  'db.lock_sequences',
  sql`SELECT pg_advisory_xact_lock(hashtextextended('sequences of kept ids', 0))::text AS locked`,
  { prepared: false },
);

/**
 * Continues the id sequence of a table after `last`, if it has not reached `id` yet and is at most
 * `reach` before it. Returns how far it had come. The planner may first evaluate the defaults of
 * other columns, which are no sequences.
 */
export const RAISE_SEQUENCE = statement(
  'db.raise_sequence',
  sql`
    SELECT
      y.came_to::text,
      CASE
        WHEN y.came_to < {id}::bigint AND ({reach}::bigint IS NULL OR {id} - y.came_to <= {reach})
        THEN setval(y.sequence, {last}::bigint)
      END::text AS last
    FROM (
      SELECT x.sequence, coalesce(pg_sequence_last_value(x.sequence), 0) AS came_to
      FROM (
        SELECT CASE
          WHEN pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%'
          THEN split_part(pg_get_expr(d.adbin, d.adrelid), '''', 2)::regclass
        END AS sequence
        FROM pg_attrdef d
        JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attname = 'id'
        WHERE d.adrelid = {table}::text::regclass
      ) x
    ) y
  `,
  { prepared: false },
);
