import { Client } from 'pg';
import { loadConfig } from '../../src/main/config';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { createDeps } from '../../src/operate/installation/deps';
import { findSuppressedBuyers } from '../../src/domain/suppression/suppressed-buyers';
import { percentile, round, say } from './tools';
import { PEPPER, prepareWorld } from './world';

// Looks up a caller in 50 lists of 200 buyers, 10,000,000 numbers in all.

const CALLERS = 3_000;
const UNLISTED = 13_105_550_123;

async function fillLists(client: Client, companyId: string): Promise<void> {
  process.stderr.write('making 50 lists of 200,000 numbers ...\n');
  await client.query('TRUNCATE buyer_suppression_numbers, buyer_suppression_buyers');
  await client.query('UPDATE buyer_suppressions SET deleted_at = now()');
  await client.query(
    `INSERT INTO buyer_suppressions (company_id, uuid, name, blocked)
      SELECT $1, gen_random_uuid(), 'Lookup ' || i, 200000
      FROM generate_series(1, 50) i`,
    [companyId],
  );
  await client.query(
    `INSERT INTO buyer_suppression_numbers
      SELECT $1, l.id, 12000000000 + (n * 7919 + l.id * 104729) % 7999999993
      FROM buyer_suppressions l, generate_series(1, 200000) n
      WHERE l.deleted_at IS NULL
      ORDER BY 2, 3`,
    [companyId],
  );
}

/** Applies every list to 200 buyers and returns their ids. */
async function assignBuyers(client: Client, companyId: string): Promise<number[]> {
  const { rows } = await client.query(
    'SELECT id::float8 FROM buyers WHERE company_id = $1 ORDER BY id LIMIT 200',
    [companyId],
  );
  const buyers = rows.map(({ id }) => id as number);
  await client.query(
    `INSERT INTO buyer_suppression_buyers
      SELECT $1, l.id, b
      FROM buyer_suppressions l, unnest($2::bigint[]) b
      WHERE l.deleted_at IS NULL`,
    [companyId, buyers],
  );
  await client.query(
    'VACUUM ANALYZE buyer_suppression_numbers, buyer_suppression_buyers, buyer_suppressions',
  );
  // Reads the whole index into memory, as in a busy router.
  await client.query('SET enable_seqscan = off');
  await client.query('SELECT count(*) FROM buyer_suppression_numbers WHERE company_id = $1', [
    companyId,
  ]);
  return buyers;
}

/** Finds a number of list `n` modulo 50; an unlisted one when the list has none so high. */
async function listedNumber(client: Client, companyId: string, n: number): Promise<number> {
  const { rows } = await client.query<{ number: number }>(
    `SELECT number::float8
      FROM buyer_suppression_numbers
      WHERE company_id = $1 AND buyer_suppression_id = (SELECT min(id) + $2 FROM
        buyer_suppressions WHERE deleted_at IS NULL) AND number >= $3 LIMIT 1`,
    [companyId, n % 50, 12_000_000_000 + n * 1_000],
  );
  return rows[0]?.number ?? UNLISTED;
}

async function measure(
  client: Client,
  { url, company_id, buyers }: { url: string; company_id: string; buyers: number[] },
): Promise<{ times: number[]; hits: number }> {
  const deps = createDeps({
    config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent', DATA_DIR: '.bench' }),
    database_url: url,
  });
  const db = deps.tenants.of(BigInt(company_id));
  const times: number[] = [];
  let hits = 0;
  for (let n = 0; n < CALLERS; n++) {
    // Every second caller is on a list.
    const number = n % 2 ? UNLISTED + n : await listedNumber(client, company_id, n);
    const started = performance.now();
    if ((await findSuppressedBuyers(db, number, buyers)).length > 0) hits++;
    times.push(performance.now() - started);
  }
  await deps.database.close();
  return { times, hits };
}

export async function benchLookup(server: EmbeddedDatabase): Promise<object> {
  const { url, company_id } = await prepareWorld(server, 10_000);
  const client = new Client({ connectionString: url });
  await client.connect();
  await fillLists(client, company_id);
  const buyers = await assignBuyers(client, company_id);
  const { times, hits } = await measure(client, { url, company_id, buyers });
  await client.end();
  const figures = {
    p50_ms: round(percentile(times, 0.5)),
    p99_ms: round(percentile(times, 0.99)),
    suppressed: hits,
    of: times.length,
  };
  say(
    `lookup, 50 lists on 200 buyers, 10,000,000 numbers: p50 ${figures.p50_ms} ms, p99 ` +
      `${figures.p99_ms} ms (${hits} of ${times.length} callers were suppressed)`,
  );
  return figures;
}
