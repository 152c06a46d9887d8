import { openDatabase } from '../db/client';
import { HostsClient } from '../db/hosts-client';
import { sqlOn } from '../db/sql';
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
import { EXTENSIONS, localSchema } from './attach';
import { Cells, type Part, type Place } from './cells';
import { IS_DISTRIBUTED, LIST_PLACES } from './queries/open';

/** The dependencies of an installation: with one database, or with the cells of a distributed one. */
export async function openDeps(options: DepsOptions): Promise<Deps> {
  const places = await readPlaces(options.database_url);
  return places.length === 0 ? createDeps(options) : cellsDeps(options, places);
}

async function readPlaces(connectionString: string): Promise<Place[]> {
  const client = new HostsClient({ connectionString });
  await client.connect();
  try {
    const sql = sqlOn(client);
    const [found] = await sql(IS_DISTRIBUTED, {});
    return found!.is_distributed ? await sql(LIST_PLACES, {}) : [];
  } finally {
    await client.end();
  }
}

/** Waits for requests that use what is no longer needed. */
const CLOSE_AFTER_MS = 30_000;

async function cellsDeps(options: DepsOptions, places: readonly Place[]): Promise<Deps> {
  const unfinished = places.find(({ state }) => state === 'filling' || state === 'filled');
  if (unfinished)
    throw new StartError(
      'The database is not distributed completely. Go on with it: npx trunkline distribute --apply',
    );
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
    for (const place of await database.sql(LIST_PLACES, {})) {
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

/** What a process has of a cell: pools of its own, on the node that has it. */
function partOf(
  shared: SharedDeps,
  cells: Cells,
  { options, place }: { options: DepsOptions; place: Place },
): Part {
  const { schema } = place;
  const database = openDatabase(urlOfNode(options.database_url, place), {
    ...databaseOptions(shared, options),
    schemas: [localSchema(schema), schema, EXTENSIONS],
  });
  const { directory, tenants } = cells;
  const own = depsOfDatabase(shared, { database, directory }, options);
  const counter = counterOf({ database, log: shared.log }, options.rate_window_seconds);
  const deps: Deps = {
    ...shared,
    ...own,
    // The queue of jobs is that of the node, and so of all cells there.
    tenants,
    standby: undefined,
    limits: limitsOf(shared.config, counter, options.rate_window_seconds),
    parts: () => [deps],
  };
  return { deps, tenants: own.tenants, counter };
}
