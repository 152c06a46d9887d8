import { sql, statement } from '../../../data/sql';
import { DIRECTORY } from './directory';

// Data of Citus about its nodes and their tables. Its catalogs and functions exist only in a
// database with the extension: temporary ones replace them while these statements are checked.

const CATALOG = sql`
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_node (
    groupid int NOT NULL, nodename text NOT NULL, nodeport int NOT NULL, noderole text NOT NULL,
    isactive boolean NOT NULL, shouldhaveshards boolean NOT NULL
  );
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_shard (logicalrelid regclass, shardid bigint);
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_placement (shardid bigint, groupid int);
`;

/** `version` is null in a database without the extension. */
export const READ_CLUSTER = statement(
  'cells.read_cluster',
  sql`
    SELECT
      (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version,
      to_regclass('directory.cells') IS NOT NULL AS is_distributed
  `,
  { prepared: false, nullable: ['version'] },
);

/** All nodes, including the coordinator. */
export const LIST_NODES = statement(
  'cells.list_nodes',
  sql`
    SELECT groupid, nodename AS host, nodeport AS port
    FROM pg_dist_node
    WHERE isactive AND noderole = 'primary'
    ORDER BY groupid
  `,
  { prepared: false, needs: CATALOG },
).returning<{ groupid: number; host: string; port: number }>();

/** Nodes that hold data; the coordinator only if it is set to. */
export const LIST_DATA_NODES = statement(
  'cells.list_data_nodes',
  sql`
    SELECT groupid, nodename AS host, nodeport AS port
    FROM pg_dist_node
    WHERE isactive AND shouldhaveshards AND noderole = 'primary'
    ORDER BY groupid
  `,
  { prepared: false, needs: CATALOG },
).returning<{ groupid: number; host: string; port: number }>();

/** The node with the tables of a schema; no row if it has no distributed table. */
export const FIND_NODE_OF_SCHEMA = statement(
  'cells.find_node_of_schema',
  sql`
    SELECT DISTINCT n.groupid, n.nodename AS host, n.nodeport AS port
    FROM pg_class c
    JOIN pg_namespace s ON s.oid = c.relnamespace
    JOIN pg_dist_shard d ON d.logicalrelid = c.oid
    JOIN pg_dist_placement p ON p.shardid = d.shardid
    JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    WHERE s.nspname = {schema}
  `,
  { prepared: false, needs: CATALOG },
).returning<{ groupid: number; host: string; port: number }>();

export const LIST_SIZES = statement(
  'cells.list_sizes',
  sql`
    SELECT c.id, n.groupid, sum(x.shard_size)::float8 AS bytes
    FROM directory.cells c
    JOIN pg_class t ON t.relnamespace = to_regnamespace(c.name)
    JOIN citus_shards x ON x.table_name = t.oid::regclass
    JOIN pg_dist_node n
      ON n.nodename = x.nodename AND n.nodeport = x.nodeport AND n.noderole = 'primary'
    WHERE c.state = 'open'
    GROUP BY c.id, n.groupid
    ORDER BY c.id
  `,
  {
    prepared: false,
    needs: sql`
      ${CATALOG}
      ${DIRECTORY}
      CREATE TEMP TABLE IF NOT EXISTS citus_shards (
        table_name regclass, nodename text, nodeport int, shard_size bigint
      );
    `,
  },
).returning<{ id: number; groupid: number; bytes: number }>();
