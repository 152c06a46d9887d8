import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { createIndexes, dropIndexes, measureLists } from './lists';
import { fillLeads, openShop } from './shop';
import { option } from './tools';
import { copyWorld, prepareWorld, query, type BenchWorld } from './world';

// Lists a million leads: a page of 25 with its exact count, by next action and in every order.

const PORT = '4113';
const LEADS = Number(option('leads', '1000000'));

/** Four in ten have ended; one in twenty waits for a callback; three in ten have no address. */
const AGE_LEADS = `
  UPDATE leads
  SET
    email = CASE WHEN id % 10 > 2 THEN email END,
    is_live = id % 5 > 1,
    due_at = CASE WHEN id % 5 > 1 THEN due_at END,
    status = CASE
      WHEN id % 5 > 1 THEN 'scheduled'
      WHEN id % 5 = 1 THEN 'completed_attempted'
      ELSE 'expired'
    END,
    callback_at = CASE WHEN id % 20 = 7 THEN due_at + interval '1 hour' END,
    last_action_at = CASE WHEN id % 6 > 0 THEN now() - id % 100000 * interval '1 minute' END,
    updated_at = now() - id * 7919 % 100000 * interval '1 minute'`;

const COUNT_LEADS = `
  INSERT INTO next_action_counts (company_id, hour, n)
  SELECT company_id, next_action_hour(due_at, callback_at, next_action_at), count(*)
  FROM leads
  WHERE next_action_hour(due_at, callback_at, next_action_at) IS NOT NULL
  GROUP BY 1, 2`;

async function fill(world: BenchWorld): Promise<void> {
  const run = (text: string) => query(world.url, text);
  const shop = await openShop(world, 1);
  const indexes = await dropIndexes(world, 'leads');
  process.stderr.write(`making ${LEADS} leads ...\n`);
  await fillLeads(world, shop, {
    schedule_id: shop.schedules[0]!.id,
    first: 0,
    count: LEADS,
    due_at: `now() + interval '1 millisecond' * (n * 2654435761 % 2592000000)`,
    lead_priority: 'CASE WHEN n % 5 = 0 THEN n % 1000 END',
  });
  await run(AGE_LEADS);
  await createIndexes(world, indexes);
  await run('DELETE FROM next_action_counts');
  await run(COUNT_LEADS);
  await run('VACUUM ANALYZE leads');
  await run('CREATE TABLE bench_lead_lists AS SELECT 1');
}

export async function prepareLeadLists(server: EmbeddedDatabase): Promise<BenchWorld> {
  const base = await prepareWorld(server, 10_000);
  const world = { ...base, url: base.url.replace(/bench_10000$/, 'bench_lead_lists') };
  const databases = await query(
    server.url,
    `SELECT FROM pg_database WHERE datname = 'bench_lead_lists'`,
  );
  if (
    databases.length > 0 &&
    (await query(world.url, `SELECT to_regclass('bench_lead_lists') AS present`))[0]!.present
  )
    return world;
  await fill(await copyWorld(server, base, 'bench_lead_lists'));
  return world;
}

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

const ORDERS = [
  'created_at',
  'updated_at',
  'status',
  'lead_priority',
  'next_action_at',
  'last_action_at',
  'email',
];

export async function benchLeadLists(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareLeadLists(server);
  await measureLists(world, {
    port: PORT,
    resource: 'leads',
    searches: [
      '',
      'has_next_action=true',
      'has_next_action=false',
      `next_action_at_from=${day(3)}&next_action_at_to=${day(4)}`,
      `next_action_at_to=${day(1)}`,
      `next_action_at_from=${day(15)}`,
      `next_action_at_from=${day(1)}`,
      `next_action_at_from=${day(1)}&next_action_at_to=${day(29)}`,
      ...ORDERS.flatMap((order) => [`order=${order}`, `order=${order}&order_dir=desc`]),
      'has_next_action=true&order=next_action_at',
    ],
  });
}
