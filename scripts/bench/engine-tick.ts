import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import { loadConfig } from '../../src/main/config';

import { sqlOn } from '../../src/data/sql';
import type { BoundStatement } from '../../src/data/statement';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { createDeps } from '../../src/operate/installation/deps';
import { processDueLeads, claimDueLeads } from '../../src/domain/outreach/due-leads';
import { fillLeads, openShop, type Shop } from './shop';
import { median, percentile, round, say } from './tools';
import {
  copyWorld,
  dropWorld,
  PEPPER,
  prepareWorld,
  query,
  waitUntilIdle,
  type BenchWorld,
} from './world';

// The cost of looking for due leads when very many wait and none is due. Every worker looks twice a
// second.

const MILLION = 1_000_000;
const MILLIONS = process.argv.includes('--full') ? 10 : 1;
const TICKS = 1_000;
const INDEXES = ['leads_due_idx', 'leads_due_by_priority_idx'];

interface Figures {
  p50_ms: number;
  p99_ms: number;
}

async function tick({ url }: BenchWorld): Promise<Figures> {
  const deps = createDeps({
    config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent', DATA_DIR: '.bench' }),
    database_url: url,
  });
  const times: number[] = [];
  for (let n = -TICKS / 10; n < TICKS; n++) {
    const started = performance.now();
    if ((await processDueLeads(deps)) > 0) throw new Error('a lead was due');
    if (n >= 0) times.push(performance.now() - started);
  }
  await deps.database.close();
  return { p50_ms: round(median(times)), p99_ms: round(percentile(times, 0.99)) };
}

/**
 * Inserts leads that wait from one to a hundred days, one in ten with a priority. The indexes are
 * created after the rows because that is faster.
 */
async function fill(world: BenchWorld, shop: Shop): Promise<void> {
  const indexes = await query(
    world.url,
    `SELECT indexname, indexdef
      FROM pg_indexes
      WHERE tablename = 'leads' AND indexname <> 'leads_pkey'`,
  );
  for (const { indexname } of indexes) await query(world.url, `DROP INDEX ${indexname as string}`);
  const dueAt =
    `now() + interval '1 day' + ` + `interval '1 millisecond' * (n * 2654435761 % 8640000000)`;
  const filling = {
    schedule_id: shop.schedules[0]!.id,
    count: MILLION,
    due_at: dueAt,
    lead_priority: 'CASE WHEN n % 10 = 0 THEN n % 1000 END',
  };
  for (let n = 0; n < MILLIONS; n++) {
    process.stderr.write(`making leads: ${n} of ${MILLIONS} million ...\n`);
    await fillLeads(world, shop, { ...filling, first: n * MILLION });
  }
  process.stderr.write('making their indexes ...\n');
  const memory = `SET maintenance_work_mem = '1GB'`;
  for (const { indexdef } of indexes) await query(world.url, `${memory}; ${indexdef as string}`);
  await query(world.url, 'VACUUM ANALYZE leads');
  await query(world.url, 'CHECKPOINT');
  await waitUntilIdle(world);
}

/**
 * Returns the plans of a worker's statements. Each statement is prepared and run often enough for
 * PostgreSQL to choose between a generic and a custom plan.
 */
async function plans({ url }: BenchWorld): Promise<Record<string, string>> {
  const statements: BoundStatement[] = [];
  const recorder = {
    query: async (statement: BoundStatement) => (statements.push(statement), { rows: [] }),
  };
  const now = new Date();
  await claimDueLeads(sqlOn(recorder), {
    claim_id: '00000000-0000-7000-8000-000000000000',
    now,
    lease_until: new Date(now.getTime() + 20_000),
    limit: 400,
  });
  const client = new Client({ connectionString: url });
  await client.connect();
  const planByName: Record<string, string> = {};
  for (const { name, text, values } of statements) {
    const prepared = client.escapeIdentifier(name!);
    const literals = values.map((value) =>
      client.escapeLiteral(value instanceof Date ? value.toISOString() : String(value)),
    );
    const execute = `EXECUTE ${prepared} (${literals.join(', ')})`;
    await client.query(`PREPARE ${prepared} AS ${text}`);
    for (let n = 0; n < 10; n++) await client.query(execute);
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS) ${execute}`);
    planByName[name!] = rows.map((row) => row['QUERY PLAN'] as string).join('\n');
  }
  await client.end();
  return planByName;
}

export async function benchEngineTick(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 1_000), 'bench_tick');
  try {
    const shop = await openShop(world, 1);
    const without = await tick(world);
    const started = performance.now();
    await fill(world, shop);
    const seconds = Math.round((performance.now() - started) / 1000);
    const [size] = await query(
      world.url,
      `SELECT pg_size_pretty(pg_total_relation_size('leads')) AS leads,
        pg_size_pretty(pg_relation_size('leads_due_idx')) AS due_idx`,
    );
    say(
      `${MILLIONS},000,000 leads wait (made in ${seconds} s, ${size!.leads as string} with ` +
        `indexes, leads_due_idx ${size!.due_idx as string})`,
    );
    const waiting = await tick(world);
    const explained = await plans(world);
    for (const [name, plan] of Object.entries(explained)) say(`\n${name}:\n${plan}`);
    const partial = Object.values(explained).every(
      (plan) =>
        INDEXES.some((index) => plan.includes(index)) && !plan.includes('Seq Scan on leads'),
    );
    say(
      `\nA tick with nothing due: p50 ${waiting.p50_ms} ms, p99 ${waiting.p99_ms} ms; without ` +
        `any leads p50 ${without.p50_ms} ms, p99 ${without.p99_ms} ms (${TICKS} ticks)`,
    );
    say(`A partial index answers both claims: ${partial ? 'yes' : 'NO'}`);
    writeFileSync(
      '.bench/engine-tick.json',
      JSON.stringify({ millions: MILLIONS, waiting, without, partial, plans: explained }, null, 2),
    );
  } finally {
    await dropWorld(server, 'bench_tick');
  }
}
