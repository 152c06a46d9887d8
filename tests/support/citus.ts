import { randomBytes } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';
import { buildNodeUrl, withSettings, type Node } from '../../src/operate/cells/address';
import { distribute } from '../../src/operate/cells/distribute';
import { openDeps } from '../../src/operate/cells/open-deps';
import { migrate } from '../../src/data/postgres/migrate';
import { closeDeps } from '../../src/operate/installation/deps';
import { type Deps } from '../../src/domain/deps';
import { prepareQueue } from '../../src/data/jobs/queue';
import { makeDatabases, type OpenDatabase, type WorldDatabase } from './world-database';

// Distributed databases for tests, on the cluster of CITUS_URL. The first that a run needs is made
// as an operator makes one; the others are copies of it, because PostgreSQL copies the files of a
// database in half a second and Citus makes a cell in ten.

const NEEDED =
  'CITUS_URL is not set: the coordinator of a Citus cluster that tests may make databases on, ' +
  'with two nodes for data, as its superuser';

/** Why tests on a cluster are skipped; undefined if they are not. */
export const missingCluster = (): string | undefined =>
  process.env.CITUS_URL ? undefined : NEEDED;

/** Runs tests where there is a cluster; otherwise one is skipped, which says why. */
export function onCluster(define: () => void): void {
  const missing = missingCluster();
  if (missing) test.skip(`on a Citus cluster: ${missing}`, () => undefined);
  else define();
}

const CELLS = 2;
/** Prefix of the names of all databases of a run. */
const prefix = () => `trunkline_test_${process.env.TRUNKLINE_TEST_RUN}`;
const template = () => `${prefix()}_template`;

/** The coordinator's URL of a database. */
function coordinatorUrl(name: string): string {
  const url = new URL(process.env.CITUS_URL!);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements in a session of their own, and returns the rows of the last. */
export async function run<Row extends QueryResultRow>(
  connectionString: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** All nodes of the cluster, the coordinator first. */
export const readNodes = (): Promise<Node[]> =>
  run<Node>(
    process.env.CITUS_URL!,
    `SELECT groupid, nodename AS host, nodeport AS port FROM pg_dist_node
    WHERE noderole = 'primary' AND isactive ORDER BY groupid`,
  );

/** Runs statements in the maintenance database of every node. */
async function onAllNodes(...statements: string[]): Promise<void> {
  const url = coordinatorUrl('postgres');
  await Promise.all((await readNodes()).map((node) => run(buildNodeUrl(url, node), ...statements)));
}

/** Makes an empty database on all nodes, which know each other. Returns the coordinator's URL. */
export async function makeClusterDatabase(name: string): Promise<string> {
  await onAllNodes(`CREATE DATABASE ${name}`);
  const url = coordinatorUrl(name);
  const [coordinator, ...otherNodes] = await readNodes();
  for (const node of [coordinator!, ...otherNodes])
    await run(buildNodeUrl(url, node), 'CREATE EXTENSION citus');
  const formatAddress = ({ host, port }: Node) => `'${host}', ${port}`;
  await run(
    url,
    `SELECT citus_set_coordinator_host(${formatAddress(coordinator!)})`,
    ...otherNodes.map((node) => `SELECT citus_add_node(${formatAddress(node)})`),
  );
  return url;
}

type Prepare = (coordinator: string) => Promise<void>;

/** From now on worlds have distributed databases. */
export const onDistributedDatabases = (prepare: Prepare = async () => undefined): void =>
  makeDatabases(() => distributedDatabase(prepare));

/** Citus keeps a session open in a database, which would keep PostgreSQL from copying it. */
const closeTemplate = () => [
  `ALTER DATABASE ${template()} ALLOW_CONNECTIONS false`,
  `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${template()}'`,
];

async function makeTemplate(): Promise<void> {
  const url = await makeClusterDatabase(template());
  await migrate(url);
  await prepareQueue(url);
  await distribute(url, { cells: CELLS, progress: { filled: () => undefined } });
  await onAllNodes(...closeTemplate());
}

/** Held while the template is made. */
const LOCK = 7_481_299;

async function distributedUrl(): Promise<string> {
  const client = new Client({ connectionString: process.env.CITUS_URL! });
  await client.connect();
  try {
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
    const { rowCount } = await client.query(
      `SELECT FROM pg_database WHERE datname = '${template()}' AND NOT datallowconn`,
    );
    if (rowCount === 0) await makeTemplate();
  } finally {
    await client.end();
  }
  const name = `${prefix()}_${randomBytes(4).toString('hex')}`;
  await onAllNodes(`CREATE DATABASE ${name} TEMPLATE ${template()} STRATEGY file_copy`);
  return coordinatorUrl(name);
}

const dropDatabase = (name: string): Promise<void> =>
  onAllNodes(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);

export async function dropDatabasesOfRun(): Promise<void> {
  const databases = await run<{ datname: string }>(
    process.env.CITUS_URL!,
    `SELECT datname FROM pg_database WHERE starts_with(datname, '${prefix()}')`,
  );
  for (const { datname } of databases) await dropDatabase(datname);
}

/**
 * A migrated, empty database of two cells, each on a node of its own. `prepare` runs before the
 * service opens it.
 */
async function distributedDatabase(prepare: Prepare): Promise<WorldDatabase> {
  const url = await distributedUrl();
  await prepare(url);
  return {
    environment: { DATABASE_URL: url },
    open: async (options) => openCells(await openDeps(options)),
    drop: () => dropDatabase(new URL(url).pathname.slice(1)),
  };
}

function openCells(deps: Deps): OpenDatabase {
  return {
    deps,
    locateCompany: async (companyId) => {
      const { streams } = deps.tenants.of(companyId);
      const { database } = deps.parts().find((part) => part.database.streams === streams)!;
      const { rows } = await streams.query<{ schemas: string[] }>(
        'SELECT current_schemas(false)::text[] AS schemas',
      );
      const searchPath = rows[0]!.schemas.join();
      return {
        // Work without a request runs for each cell, with the database of that cell.
        deps: { ...deps, database },
        url: withSettings(database.session_url, { search_path: searchPath }),
      };
    },
    close: async () => {
      deps.live.close();
      await closeDeps(deps);
    },
  };
}
