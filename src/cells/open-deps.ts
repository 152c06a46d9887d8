import { openDatabase } from '../db/client';
import { hostsOf } from '../db/hosts';
import { HostsClient } from '../db/hosts-client';
import { sqlOn, type Row } from '../db/sql';
import { withClient } from '../db/with-client';
import {
  counterOf,
  createDeps,
  databaseOptions,
  depsOfDatabase,
  limitsOf,
  sharedDeps,
  type Deps,
  type DepsOptions,
  type SharedDeps,
} from '../deps';
import { expectMoves } from '../http/database-errors';
import { StartError } from '../start-error';
import { urlOfNode } from './address';
import { requireComplete } from './change-cells';
import { Cells, type Part, type Place } from './cells';
import { CELL_STATES, type CellState } from './directory';
import { EXTENSIONS, schemasOnNode } from './on-node';
import { isDistributed } from './is-distributed';
import { LIST_PLACES } from './queries/open';

/**
 * Opens the dependencies of an installation: with one database, or with the cells of a distributed
 * one.
 */
export async function openDeps(options: DepsOptions): Promise<Deps> {
  const places = await readPlaces(options.database_url);
  return places ? cellsDeps(options, places) : createDeps(options);
}

/** Locations of the cells; undefined if the database is not distributed. */
async function readPlaces(connectionString: string): Promise<Place[] | undefined> {
  const client = new HostsClient({ connectionString });
  return withClient(client, async () => {
    const sql = sqlOn(client);
    if (!(await isDistributed(sql))) return undefined;
    await requireComplete(sql);
    return usable(await sql(LIST_PLACES, {}));
  });
}

/** The cells that have tables and are not being made. */
const usable = (places: Row<'cells.list_places'>[]): Place[] =>
  places.flatMap(({ host, port, groupid, state, ...place }) =>
    host === null || port === null || groupid === null || state === CELL_STATES.filling
      ? []
      : [
          {
            ...(place as Pick<Place, 'id' | 'schema'>),
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
function refuseOtherPlaces({ config, database_url }: DepsOptions): void {
  const refused = Object.entries({
    DATABASE_READ_URL: config.database_read_url,
    DATABASE_DIRECT_URL: config.database_direct_url,
    'several hosts in DATABASE_URL': hostsOf(database_url).many || undefined,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (refused.length > 0)
    throw new StartError(
      `${refused.join(', ')}: not with a distributed database, whose coordinator and nodes are ` +
        'each reached by one name (docs/scale.md).',
    );
}

async function cellsDeps(options: DepsOptions, places: readonly Place[]): Promise<Deps> {
  refuseOtherPlaces(options);
  const shared = sharedDeps(options);
  const database = openDatabase(options.database_url, {
    ...databaseOptions(shared, options),
    schemas: ['public', EXTENSIONS],
  });
  const cells = new Cells(database);
  const open = (place: Place) => partOf(shared, cells, { options, place });
  for (const place of places) cells.add(place, open);
  await cells.refresh();
  expectMoves();
  const follow = async () => {
    await cells.refresh();
    for (const place of usable(await database.sql(LIST_PLACES, {}))) {
      const left = cells.add(place, open);
      if (left) setTimeout(() => void closePart(left), CLOSE_AFTER_MS).unref();
    }
  };
  void cells.watch(follow, (error) =>
    shared.log.warn({ err: error }, 'the directory cannot be read'),
  );
  const { directory, tenants, counter } = cells;
  const own = depsOfDatabase(shared, { database, directory }, options);
  return {
    ...shared,
    ...own,
    standby: undefined,
    tenants,
    limits: limitsOf(shared.config, counter, options.rate_window_seconds),
    live: cells.streams(own.live),
    parts: () => cells.all().map(({ deps }) => deps),
  };
}

async function closePart({ deps, counter }: Part): Promise<void> {
  deps.live.close();
  await counter.close();
  await deps.database.close();
}

let opened = 0;

/** Opens a cell: pools of its own, on its node. */
function partOf(
  shared: SharedDeps,
  cells: Cells,
  { options, place }: { options: DepsOptions; place: Place },
): Part {
  const database = openDatabase(urlOfNode(options.database_url, place), {
    ...databaseOptions(shared, options),
    schemas: schemasOnNode(place.schema),
    name: `${place.schema} opened ${opened++}`,
  });
  const { directory, tenants } = cells;
  const own = depsOfDatabase(shared, { database, directory }, options);
  const counter = counterOf({ database, log: shared.log }, options.rate_window_seconds);
  const deps: Deps = {
    ...shared,
    ...own,
    // All cells of the node share its job queue.
    tenants,
    standby: undefined,
    limits: limitsOf(shared.config, counter, options.rate_window_seconds),
    parts: () => [deps],
  };
  return { deps, tenants: own.tenants, counter };
}
