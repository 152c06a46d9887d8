import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { fillLeads, openShop } from './shop';
import { copyWorld, prepareWorld, query, waitUntilIdle, type BenchWorld } from './world';

// Leads that are all due at once, and how many of them workers have texted.

const SAMPLE_MS = 100;
export const LONGEST_MS = 600_000;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

export async function openDueLeads(
  server: EmbeddedDatabase,
  name: string,
  leads: number,
): Promise<BenchWorld> {
  const world = await copyWorld(server, await prepareWorld(server, 1_000), name);
  const shop = await openShop(world, 1);
  await fillLeads(world, shop, {
    schedule_id: shop.schedules[0]!.id,
    first: 0,
    count: leads,
    due_at: 'now()',
  });
  await query(world.url, 'VACUUM ANALYZE');
  await query(world.url, 'CHECKPOINT');
  await waitUntilIdle(world);
  return world;
}

interface TextedCount {
  /** Leads that are texted at `ms`, in epoch milliseconds. */
  n: number;
  ms: number;
}

export async function watchTexted({
  url,
}: BenchWorld): Promise<{ until(n: number): Promise<TextedCount>; close(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  // Reading the maintained count is cheap; counting rows would slow what is measured.
  const text = `SELECT coalesce(sum(n), 0)::int AS n, clock_timestamp() AS at
    FROM record_counts
    WHERE resource = 'text_messages'`;
  const until = async (target: number) => {
    for (const deadline = Date.now() + LONGEST_MS; Date.now() < deadline; await pause(SAMPLE_MS)) {
      const { n, at } = (await client.query<{ n: number; at: Date }>(text)).rows[0]!;
      if (n >= target) return { n, ms: at.getTime() };
    }
    throw new Error(`${target} leads were not contacted within ${LONGEST_MS / 1000} s`);
  };
  return { until, close: () => client.end() };
}

/** Checks that every lead got one message and waits for its next step. */
export async function checkTexted({ url }: BenchWorld, leads: number): Promise<void> {
  const [row] = await query(
    url,
    `SELECT (SELECT count(*) FROM text_messages)::int AS messages, (SELECT count(DISTINCT lead_id)
    FROM text_messages)::int AS texted,
      (SELECT count(*) FROM leads WHERE step = 1 AND due_at > now() + interval '1 hour')::int AS
        waiting`,
  );
  if (Object.values(row!).some((n) => n !== leads))
    throw new Error(`wrong counts for ${leads} leads: ${JSON.stringify(row)}`);
}
