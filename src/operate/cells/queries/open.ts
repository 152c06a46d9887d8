import { sql, statement } from '../../../data/sql';
import { DIRECTORY } from './directory';

const CATALOG = sql`
  ${DIRECTORY}
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

/** The cells with their nodes, found by the table of companies; null if a cell has no tables. */
export const LIST_PLACES = statement(
  'cells.list_places',
  sql`
    SELECT c.id, c.name AS schema, c.state, n.groupid, n.nodename AS host, n.nodeport AS port
    FROM directory.cells c
    LEFT JOIN pg_dist_shard d ON d.logicalrelid = to_regclass(format('%I.companies', c.name))
    LEFT JOIN pg_dist_placement p ON p.shardid = d.shardid
    LEFT JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    ORDER BY c.id
  `,
  { prepared: false, needs: CATALOG, nullable: ['groupid', 'host', 'port'] },
).returning<{ id: number; schema: string; state: string }>();

/** Companies whose cell was changed since an instant. */
export const LIST_MOVED_COMPANIES = statement(
  'cells.list_moved_companies',
  sql`
    SELECT company_id, cell_id, moves_to IS NOT NULL AS moves, changed_at
    FROM directory.companies
    WHERE changed_at >= {since}::timestamptz
    ORDER BY changed_at
  `,
  { prepared: false, needs: CATALOG },
).returning<{ company_id: string; cell_id: number; moves: boolean; changed_at: Date }>();

/** The cell with the fewest companies, among those that take new ones. */
export const FIND_EMPTIEST = statement(
  'cells.find_emptiest',
  sql`
    SELECT c.id
    FROM directory.cells c
    LEFT JOIN directory.companies m ON m.cell_id = c.id
    WHERE c.state = 'open' AND c.takes_companies
    GROUP BY c.id
    ORDER BY count(m.company_id), c.id
    LIMIT 1
  `,
  { prepared: false, needs: CATALOG },
).returning<{ id: number }>();
