import autocannon from 'autocannon';
import { writeFileSync } from 'node:fs';
import { end, option, waitUntilReady, say, startService } from './tools';
import { query, waitUntilIdle, type BenchWorld } from './world';

// Shared by the benches of lists with millions of records.

const SECONDS = Number(option('seconds', '5'));

/** Drops the indexes of a table that belong to no constraint; returns their definitions. */
export async function dropIndexes(world: BenchWorld, table: string): Promise<string[]> {
  const indexes = await query(
    world.url,
    `SELECT indexname, indexdef
      FROM pg_indexes
      WHERE tablename = $1 AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE
        conrelid = $1::regclass)`,
    [table],
  );
  for (const { indexname } of indexes) await query(world.url, `DROP INDEX ${indexname as string}`);
  return indexes.map(({ indexdef }) => indexdef as string);
}

export async function createIndexes(world: BenchWorld, definitions: string[]): Promise<void> {
  for (const definition of definitions)
    await query(world.url, `SET maintenance_work_mem = '1GB'; ${definition}`);
}

interface Row {
  query: string;
  /** The first request, with cold caches. */
  first_ms: number;
  p50_ms: number;
  p99_ms: number;
}

interface Lists {
  port: string;
  /** The path below /api/v1, such as `calls`. */
  resource: string;
  searches: string[];
  /** Parallel requests. */
  connections?: number;
}

export async function measureLists(world: BenchWorld, lists: Lists): Promise<Row[]> {
  const service = startService(world.url, lists.port, { RUN_JOBS: 'false' });
  const report: Row[] = [];
  try {
    await waitUntilReady(lists.port);
    for (const search of lists.searches) report.push(await measure(world, lists, search));
  } finally {
    await end([service]);
  }
  writeFileSync(
    `.bench/${lists.resource.replaceAll('/', '-')}-lists.json`,
    JSON.stringify({ seconds: SECONDS, report }, null, 2),
  );
  return report;
}

async function measure(
  world: BenchWorld,
  { port, resource, connections = 2 }: Lists,
  search: string,
): Promise<Row> {
  await waitUntilIdle(world);
  const url = `http://127.0.0.1:${port}/api/v1/${resource}?${search}`;
  const headers = { Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}` };
  const started = performance.now();
  await (await fetch(url, { headers })).text();
  const firstMs = Math.round(performance.now() - started);
  const load = { url, headers, connections };
  await autocannon({ ...load, duration: 1 });
  const { latency, errors, non2xx } = await autocannon({ ...load, duration: SECONDS });
  say(
    `${(search || 'all').padEnd(60)} first ${firstMs} ms  p50 ${latency.p50} ms  ` +
      `p99 ${latency.p99} ms${errors + non2xx ? `  ERRORS ${errors + non2xx}` : ''}`,
  );
  return { query: search, first_ms: firstMs, p50_ms: latency.p50, p99_ms: latency.p99 };
}
