import { sql, statement } from '../../db/sql';

// Run on the node that has the tables of a cell. There a distributed table is an ordinary table,
// its shard, with a number at the end of its name.

const CATALOG = sql`
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_shard (logicalrelid regclass, shardid bigint);
`;

const SHARDS = sql`
  SELECT c.oid, c.relname AS name, format('%I.%I', s.nspname, c.relname || '_' || d.shardid) AS shard
  FROM pg_class c
  JOIN pg_namespace s ON s.oid = c.relnamespace
  JOIN pg_dist_shard d ON d.logicalrelid = c.oid
  WHERE s.nspname = {schema} AND NOT c.relispartition`;

/** Whether the node has a queue of jobs. */
export const HAS_QUEUE = statement(
  'cells.has_queue',
  sql`SELECT to_regclass('jobs.version') IS NOT NULL AS has_queue`,
  { prepared: false },
);

/** The shard of each table of a schema. */
export const LIST_SHARDS = statement(
  'cells.list_shards',
  sql`
    SELECT x.name, x.shard
    FROM (${SHARDS}) x
    ORDER BY x.name
  `,
  { prepared: false, needs: CATALOG },
);

/**
 * The commands that make a view of each shard, with its table's name and defaults. Statements use
 * the system columns ctid and xmin, which views do not have of themselves.
 */
export const LIST_VIEWS = statement(
  'cells.list_views',
  sql`
    SELECT
      format('CREATE VIEW %I.%I AS SELECT *, ctid, xmin FROM %s', {local}::text, x.name, x.shard)
      || coalesce(
        (
          SELECT string_agg(
            format(
              '; ALTER VIEW %I.%I ALTER COLUMN %I SET DEFAULT %s',
              {local}::text, x.name, a.attname, pg_get_expr(d.adbin, d.adrelid)
            ),
            ''
          )
          FROM pg_attrdef d
          JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
          WHERE d.adrelid = x.oid AND a.attgenerated = ''
        ),
        ''
      ) AS command
    FROM (${SHARDS}) x
    ORDER BY x.name
  `,
  { prepared: false, needs: CATALOG },
);

/**
 * The commands that make the sequences that belong to no column: Citus makes the others itself.
 */
export const MAKE_SEQUENCES = statement(
  'cells.make_sequences',
  sql`
    SELECT format('CREATE SEQUENCE IF NOT EXISTS %I.%I', {schema}::text, x.name) AS command
    FROM (VALUES ('token_value_ids'), ('suppression_file_positions')) AS x (name)
  `,
  { prepared: false },
);

/**
 * Moves each sequence of a schema to the part of the node's range that belongs to the cell, unless
 * it is there already. Citus gives each node 2^48 values; each cell has 2^38 of them.
 */
export const SET_SEQUENCES = statement(
  'cells.set_sequences',
  sql`
    SELECT setval(q.seqrelid, greatest(first.value, coalesce(pg_sequence_last_value(q.seqrelid), 0)))
    FROM pg_sequence q
    JOIN pg_class c ON c.oid = q.seqrelid
    JOIN pg_namespace s ON s.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT (({groupid}::bigint << 48) + ({cell}::bigint << 38) + 1) AS value
    ) first
    WHERE s.nspname = {schema} AND q.seqtypid = 'bigint'::regtype
  `,
  { prepared: false },
);
