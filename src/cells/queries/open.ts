import { sql, statement } from '../../db/sql';

const TABLES = sql`
  CREATE SCHEMA IF NOT EXISTS directory;
  CREATE TABLE IF NOT EXISTS directory.cells (
    id int PRIMARY KEY, name text NOT NULL UNIQUE, state text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS directory.companies (
    company_id bigint PRIMARY KEY, cell_id int NOT NULL
  );
  ALTER TABLE directory.companies ADD COLUMN IF NOT EXISTS changed_at timestamptz NOT NULL;
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_shard (logicalrelid regclass, shardid bigint);
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_placement (shardid bigint, groupid int);
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_node (
    groupid int NOT NULL, nodename text NOT NULL, nodeport int NOT NULL, noderole text NOT NULL,
    isactive boolean NOT NULL, shouldhaveshards boolean NOT NULL
  );
`;

export const IS_DISTRIBUTED = statement(
  'cells.is_distributed',
  sql`SELECT to_regclass('directory.cells') IS NOT NULL AS is_distributed`,
  { prepared: false },
);

/** The cells, and the node on which each one's table of companies is. */
export const LIST_PLACES = statement(
  'cells.list_places',
  sql`
    SELECT c.id, c.name AS schema, c.state, n.groupid, n.nodename AS host, n.nodeport AS port
    FROM directory.cells c
    JOIN pg_dist_shard d ON d.logicalrelid = to_regclass(format('%I.companies', c.name))
    JOIN pg_dist_placement p ON p.shardid = d.shardid
    JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    ORDER BY c.id
  `,
  { prepared: false, needs: TABLES },
).returning<{
  id: number;
  schema: string;
  state: string;
  groupid: number;
  host: string;
  port: number;
}>();

/** Companies that were given to a cell since an instant. */
export const LIST_MOVED_COMPANIES = statement(
  'cells.list_moved_companies',
  sql`
    SELECT company_id, cell_id, changed_at
    FROM directory.companies
    WHERE changed_at >= {since}::timestamptz
    ORDER BY changed_at
  `,
  { prepared: false, needs: TABLES },
).returning<{ company_id: string; cell_id: number; changed_at: Date }>();

/** The cell with the fewest companies. */
export const FIND_EMPTIEST = statement(
  'cells.find_emptiest',
  sql`
    SELECT c.id
    FROM directory.cells c
    LEFT JOIN directory.companies m ON m.cell_id = c.id
    WHERE c.state = 'open'
    GROUP BY c.id
    ORDER BY count(m.company_id), c.id
    LIMIT 1
  `,
  { prepared: false, needs: TABLES },
).returning<{ id: number }>();
