import { openDatabase } from '../../data/client';
import { findHosts } from '../../data/postgres/hosts';
import { HostsClient } from '../../data/postgres/hosts-client';
import { sqlOn, type Row } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import {
  buildRateLimitCounter,
  createDeps,
  databaseOptions,
  buildDatabaseDeps,
  buildRateLimits,
  sharedDeps,
  type DepsOptions,
  type SharedDeps,
} from '../installation/deps';
import { type Deps } from '../../domain/deps';
import { expectMoves } from '../../api/reply/database-errors';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl } from './address';
import { requireComplete } from './change-cells';
import { Cells, type Part, type CellLocation } from './cells';
import { CELL_STATES, type CellState } from './directory';
import { EXTENSIONS, listNodeSchemas } from './on-node';
import { isDistributed } from './is-distributed';
import { LIST_PLACES } from './queries/open';

/**
 * Opens the dependencies of an installation: with one database, or with the cells of a distributed
 * one.
 */
export async function openDeps(options: DepsOptions): Promise<Deps> {
  const locations = await loadLocations(options.database_url);
  return locations ? openCellsDeps(options, locations) : createDeps(options);
}

/** Locations of the cells; undefined if the database is not distributed. */
async function loadLocations(connectionString: string): Promise<CellLocation[] | undefined> {
  const client = new HostsClient({ connectionString });
  return withClient(client, async () => {
    const sql = sqlOn(client);
    if (!(await isDistributed(sql))) return undefined;
    await requireComplete(sql);
    return selectUsable(await sql(LIST_PLACES, {}));
  });
}

/** The cells that have tables and are not being made. */
const selectUsable = (rows: Row<'cells.list_places'>[]): CellLocation[] =>
  rows.flatMap(({ host, port, groupid, state, ...rest }) =>
    host === null || port === null || groupid === null || state === CELL_STATES.filling
      ? []
      : [
          {
            ...(rest as Pick<CellLocation, 'id' | 'schema'>),
            state: state as CellState,
            host,
            port,
            groupid,
          },
        ],
  );

/** Leaves time for requests that still use the replaced part. */
const CLOSE_AFTER_MS = 30_000;

/** Throws if a variable asks for something that a distributed database does not support. */
function refuseUnsupported({ config, database_url }: DepsOptions): void {
  const refused = Object.entries({
    DATABASE_READ_URL: config.database_read_url,
    DATABASE_DIRECT_URL: config.database_direct_url,
    'several hosts in DATABASE_URL': findHosts(database_url).many || undefined,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (refused.length > 0)
    throw new StartError(
      `${refused.join(', ')}: not with a distributed database, whose coordinator and nodes are ` +
        'each reached by one name (docs/scale.md).',
    );
}

async function openCellsDeps(
  options: DepsOptions,
  locations: readonly CellLocation[],
): Promise<Deps> {
  refuseUnsupported(options);
  const shared = sharedDeps(options);
  const database = openDatabase(options.database_url, {
    ...databaseOptions(shared, options),
    schemas: ['public', EXTENSIONS],
  });
  const cells = new Cells(database);
  const open = (cell: CellLocation) => openPart(shared, cells, { options, cell });
  for (const cell of locations) cells.add(cell, open);
  await cells.refresh();
  expectMoves();
  const follow = async () => {
    await cells.refresh();
    for (const cell of selectUsable(await database.sql(LIST_PLACES, {}))) {
      const left = cells.add(cell, open);
      if (left) setTimeout(() => void closePart(left), CLOSE_AFTER_MS).unref();
    }
  };
  void cells.watch(follow, (error) =>
    shared.log.warn({ err: error }, 'the directory cannot be read'),
  );
  const { directory, tenants, counter } = cells;
  const databaseDeps = buildDatabaseDeps(shared, { database, directory }, options);
  return {
    ...shared,
    ...databaseDeps,
    standby: undefined,
    tenants,
    limits: buildRateLimits(shared.config, counter, options.rate_window_seconds),
    live: cells.buildStreams(databaseDeps.live),
    parts: () => cells.listParts().map(({ deps }) => deps),
  };
}

async function closePart({ deps, counter }: Part): Promise<void> {
  deps.live.close();
  await counter.close();
  await deps.database.close();
}

let opened = 0;

/** Opens a cell: pools of its own, on its node. */
function openPart(
  shared: SharedDeps,
  cells: Cells,
  { options, cell }: { options: DepsOptions; cell: CellLocation },
): Part {
  const database = openDatabase(buildNodeUrl(options.database_url, cell), {
    ...databaseOptions(shared, options),
    schemas: listNodeSchemas(cell.schema),
    name: `${cell.schema} opened ${opened++}`,
  });
  const { directory, tenants } = cells;
  const databaseDeps = buildDatabaseDeps(shared, { database, directory }, options);
  const counter = buildRateLimitCounter({ database, log: shared.log }, options.rate_window_seconds);
  const deps: Deps = {
    ...shared,
    ...databaseDeps,
    // All cells of the node share its job queue.
    tenants,
    standby: undefined,
    limits: buildRateLimits(shared.config, counter, options.rate_window_seconds),
    parts: () => [deps],
  };
  return { deps, tenants: databaseDeps.tenants, counter };
}
