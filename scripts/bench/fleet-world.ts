import type { ChildProcess } from 'node:child_process';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import type { ServicePids } from './cpu';
import { fillLists, fillOffer } from './decisions-world';
import { addWebhook, RECEIVER_SETTINGS } from './deliveries';
import { openSoakWorld, type SoakWorld } from './soak-world';
import { option, waitUntilReady, startService, startWorker } from './tools';
import { query } from './world';

/** Length of each measurement. */
export const SECONDS = Number(option('seconds', '2'));
export const ROUNDS = Number(option('rounds', '3'));
export const CLIENTS = option('clients', '16').split(',').map(Number);

/** Numbers on each suppression list that is checked for a call. */
const LISTED = 50_000;
const REGISTERED_TIMEOUT_MS = 60_000;

export interface FleetWorld extends SoakWorld {
  /** The offer with 1,000 buyers; `offer_id` has 100. */
  large_offer_id: string;
}

/** Opens a company with a hundred days of records and a webhook for every call. */
export async function openFleetWorld(server: EmbeddedDatabase): Promise<FleetWorld> {
  const soak = await openSoakWorld(server);
  await fillLists(soak.world, LISTED);
  const largeOfferId = await fillOffer(soak.world, 1_000);
  await addWebhook(soak.world);
  await query(soak.world.url, 'VACUUM ANALYZE');
  await query(soak.world.url, 'CHECKPOINT');
  return { ...soak, large_offer_id: largeOfferId };
}

/** Starts a server whose processes answer requests and run no jobs. */
export async function startApi(url: string, port: string, processes: number) {
  const settings = { RUN_JOBS: 'false', WEB_CONCURRENCY: String(processes), ...RECEIVER_SETTINGS };
  const service = startService(url, port, settings);
  await waitUntilReady(port);
  return service;
}

/** Starts workers, and waits until all of them run. */
export async function startWorkers(url: string, count: number): Promise<ChildProcess[]> {
  const workers = Array.from({ length: count }, () => startWorker(url, RECEIVER_SETTINGS));
  const pids = workers.map(({ pid }) => pid);
  for (const deadline = Date.now() + REGISTERED_TIMEOUT_MS; Date.now() < deadline;) {
    const [row] = await query(
      url,
      `SELECT count(*)::int AS n FROM processes WHERE kind = 'worker' AND pid = ANY($1)`,
      [pids],
    );
    if (row!.n === count) return workers;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`not all of ${count} workers have started`);
}

export const listPids = (api: readonly ChildProcess[], workers: readonly ChildProcess[] = []) =>
  ({
    api: api.map(({ pid }) => pid!),
    workers: workers.map(({ pid }) => pid!),
  }) satisfies ServicePids;

/** Returns the bytes by which the database grows during `work`, apart from reused space. */
export async function measureGrowth(url: string, work: () => Promise<unknown>): Promise<number> {
  const size = async () => {
    await query(url, 'VACUUM');
    const [row] = await query(url, 'SELECT pg_database_size(current_database())::float8 AS n');
    return Number(row!.n);
  };
  const before = await size();
  await work();
  return (await size()) - before;
}

/** Formats a Markdown table. */
export function formatTable(head: readonly string[], rows: readonly (string | number)[][]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}
