import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import autocannon from 'autocannon';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { loadConfig } from '../../src/config';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { suppressedBuyers } from '../../src/suppression/suppressed-buyers';
import { createDeps } from '../../src/deps';
import { median, memory, option, percentile, ready, round, say, startService } from './tools';
import { PEPPER, prepareWorld, type BenchWorld } from './world';

// Imports beside the floor, which is \copy of the clean numbers into a table of the same primary
// key.

const PORT = '4104';
const ROUNDS = Number(option('rounds', '3'));
const MILLION = 1_000_000;
const MILLIONS = Number(option('millions', '10'));
const HAS_PSQL = spawnSync('psql', ['--version']).status === 0;

/**
 * Two columns, random order, 1% duplicates, 1% bad rows; and beside it the numbers alone, each
 * once, as a table of three columns.
 */
async function makeFile(rows: number): Promise<{ csv: string; clean: string }> {
  const [csv, clean] = [`.bench/import-${rows}.csv`, `.bench/import-${rows}.clean`];
  if (existsSync(csv) && existsSync(clean)) return { csv, clean };
  process.stderr.write(`making a file of ${rows} numbers ...\n`);
  const outputs = [createWriteStream(csv), createWriteStream(clean)] as const;
  outputs[0].write('phone,name\n');
  let [texts, cleans] = [[] as string[], [] as string[]];
  for (let i = 0; i < rows; i++) {
    // A walk through all ten-digit numbers in an order that looks random: i times a unit modulo a
    // prime.
    const fresh = 2_000_000_000 + (((i % 100 === 50 ? i - 1 : i) * 2_654_435_761) % 7_999_999_993);
    const number = Math.floor(fresh / 1_000_000) % 10 < 2 ? fresh + 2_000_000 : fresh;
    if (i % 100 === 7) texts.push(`no number ${i},Somebody ${i}`);
    else {
      texts.push(`${number},Somebody ${i}`);
      if (i % 100 !== 50) cleans.push(`1\t1\t1${number}`);
    }
    if (texts.length === 100_000 || i === rows - 1) {
      for (const [n, lines] of [texts, cleans].entries())
        if (!outputs[n]!.write(`${lines.join('\n')}\n`)) await once(outputs[n]!, 'drain');
      [texts, cleans] = [[], []];
    }
  }
  for (const output of outputs) await new Promise((done) => output.end(done));
  return { csv, clean };
}

class Bench {
  constructor(
    private readonly world: BenchWorld,
    readonly client: Client,
  ) {}

  private headers(): Record<string, string> {
    return { Authorization: `Basic ${Buffer.from(this.world.auth).toString('base64')}` };
  }

  async quiet(): Promise<void> {
    await this.client.query('TRUNCATE buyer_suppression_numbers');
    await this.client.query('UPDATE buyer_suppressions SET blocked = 0');
    await this.settle();
  }

  async settle(): Promise<void> {
    await this.client.query('CHECKPOINT');
  }

  async createList(): Promise<number> {
    const headers = { ...this.headers(), 'Content-Type': 'application/json' };
    const res = await fetch(`http://127.0.0.1:${PORT}/api/v1/buyer_suppressions`, {
      method: 'POST',
      headers,
      body: '{"name":"Bench"}',
    });
    return ((await res.json()) as { buyer_suppression: { id: number } }).buyer_suppression.id;
  }

  /** Seconds of a \copy into an empty table with the same primary key. */
  async floor(clean: string): Promise<number> {
    await this.client.query(
      `DROP TABLE IF EXISTS bench_floor; CREATE TABLE bench_floor (company_id bigint NOT NULL, ` +
        `buyer_suppression_id bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (company_id, ` +
        `buyer_suppression_id, number))`,
    );
    await this.settle();
    const started = performance.now();
    if (HAS_PSQL) {
      const { status, stderr } = spawnSync('psql', [
        this.world.url,
        '-q',
        '-c',
        `\\copy bench_floor from '${clean}'`,
      ]);
      if (status !== 0) throw new Error(String(stderr));
    } else
      await pipeline(
        createReadStream(clean),
        this.client.query(copyFrom('COPY bench_floor FROM STDIN')),
      );
    return (performance.now() - started) / 1000;
  }

  /** Uploads a file; answers when its last byte was sent, and its record's id. */
  async upload(list: number, csv: string, verb: string): Promise<{ sent_at: number; id: number }> {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const head =
      part('buyer_suppression_id', String(list)) +
      part('apply_block_or_unblock', verb) +
      '--b\r\nContent-Disposition: ' +
      `form-data; name="import_file"; filename="a.csv"\r\n\r\n`;
    const tail = '\r\n--b--\r\n';
    const headers = {
      ...this.headers(),
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': head.length + statSync(csv).size + tail.length,
    };
    const req = request(`http://127.0.0.1:${PORT}/api/v1/buyer_suppression_files`, {
      method: 'POST',
      headers,
    });
    const answered = once(req, 'response');
    let sent_at = 0;
    await pipeline(async function* () {
      yield head;
      yield* createReadStream(csv, { highWaterMark: 1 << 20 });
      sent_at = performance.now();
      yield tail;
    }, req);
    const [res] = await answered;
    let text = '';
    for await (const piece of res) text += piece;
    return { sent_at, id: JSON.parse(text).buyer_suppression_file.id };
  }

  async wait(id: number): Promise<void> {
    for (;;) {
      const { rows } = await this.client.query(
        'SELECT status, error_message FROM buyer_suppression_files WHERE id = $1',
        [id],
      );
      if (rows[0].status === 'succeeded') return;
      if (rows[0].status === 'failed') throw new Error(rows[0].error_message);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  /** Seconds from the upload's last byte to `succeeded`. */
  async import(list: number, csv: string, verb = 'block'): Promise<number> {
    await this.settle();
    const { sent_at, id } = await this.upload(list, csv, verb);
    await this.wait(id);
    return (performance.now() - sent_at) / 1000;
  }

  /** p99 in ms of a usual request, 100 of them a second. */
  async p99(seconds: number): Promise<{ p50: number; p99: number; errors: number }> {
    const paths = [
      `/api/v1/buyers?columns=id,name,number,paused`,
      `/api/v1/buyers/${this.world.first_id}`,
    ];
    const requests = paths.map((path) => ({
      method: 'GET' as const,
      path,
      headers: this.headers(),
    }));
    const result = await autocannon({
      url: `http://127.0.0.1:${PORT}`,
      connections: 4,
      overallRate: 100,
      duration: seconds,
      requests,
    });
    return {
      p50: result.latency.p50,
      p99: result.latency.p99,
      errors: result.errors + result.non2xx,
    };
  }
}

export async function benchImports(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareWorld(server, 10_000);
  const client = new Client({ connectionString: world.url });
  await client.connect();
  const bench = new Bench(world, client);
  await client.query(
    "UPDATE buyer_suppression_files SET status = 'stopped' WHERE status IN ('pending', 'running')",
  );
  const small = await makeFile(MILLION);
  const report: Record<string, unknown> = {
    floor: HAS_PSQL ? 'psql \\copy' : 'COPY of the driver',
  };
  let service = startService(world.url, PORT);
  await ready(PORT);
  await bench.quiet();
  await bench.import(await bench.createList(), small.csv);

  const runs: Record<string, number[]> = { floor: [], first: [], again: [], unblock: [] };
  for (let round = 0; round < ROUNDS; round++) {
    runs.floor!.push(await bench.floor(small.clean));
    await bench.quiet();
    const list = await bench.createList();
    runs.first!.push(await bench.import(list, small.csv));
    runs.again!.push(await bench.import(list, small.csv));
    runs.unblock!.push(await bench.import(list, small.csv, 'unblock'));
  }
  const floor = median(runs.floor!);
  for (const [name, seconds] of Object.entries(runs)) {
    report[name] = {
      seconds: round(median(seconds)),
      of_floor: round(median(seconds.map((s, i) => s / runs.floor![i]!))),
      all: seconds.map((s) => round(s)),
    };
    say(
      `import of 1,000,000: ${name.padEnd(8)} ${median(seconds).toFixed(2)} s   ` +
        `${(median(seconds) / floor).toFixed(2)} x floor   ` +
        `(${seconds.map((s) => s.toFixed(2)).join(', ')})`,
    );
  }
  const one = memory(service.pid!).peak_mb;

  service.kill('SIGTERM');
  await once(service, 'exit');
  service = startService(world.url, PORT);
  await ready(PORT);
  const idle = memory(service.pid!).now_mb;
  const large = await makeFile(MILLIONS * MILLION);
  await bench.quiet();
  const seconds = await bench.import(await bench.createList(), large.csv);
  const per_row = seconds / MILLIONS / median(runs.first!);
  const { peak_mb } = memory(service.pid!);
  report.large = {
    millions: MILLIONS,
    seconds: round(seconds),
    per_row: round(per_row),
    idle_mb: idle,
    peak_mb,
    peak_of_a_million_mb: one,
  };
  say(
    `import of ${MILLIONS},000,000: ${seconds.toFixed(1)} s, ${per_row.toFixed(2)} x per row; ` +
      `memory of the process ${idle} MB idle, ${peak_mb} MB at most`,
  );

  await bench.quiet();
  await bench.p99(2);
  const without: number[] = [];
  const during: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    without.push((await bench.p99(5)).p99);
    const list = await bench.createList();
    const { id } = await bench.upload(list, large.csv, 'block');
    await new Promise((done) => setTimeout(done, turn * 4_000));
    during.push((await bench.p99(5)).p99);
    await fetch(`http://127.0.0.1:${PORT}/api/v1/buyer_suppression_files/${id}/stop`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}` },
    });
    await bench.quiet();
  }
  report.api = {
    p99_without: without,
    p99_during: during,
    ratio: round(median(during) / median(without)),
  };
  say(
    `API p99 at 100 req/s: ${median(without)} ms without an import, ${median(during)} ms ` +
      `during one: ${(median(during) / median(without)).toFixed(2)} x   (${without.join(', ')}; ` +
      `${during.join(', ')})`,
  );
  service.kill('SIGTERM');
  await once(service, 'exit');

  report.lookup = await benchLookup(server);
  writeFileSync('.bench/imports.json', JSON.stringify(report, null, 2));
  await client.end();
}

/** One caller against 50 lists on 200 buyers, 10,000,000 numbers in all. */
export async function benchLookup(server: EmbeddedDatabase): Promise<object> {
  const { url, company_id } = await prepareWorld(server, 10_000);
  const client = new Client({ connectionString: url });
  await client.connect();
  process.stderr.write('making 50 lists of 200,000 numbers ...\n');
  await client.query('TRUNCATE buyer_suppression_numbers, buyer_suppression_buyers');
  await client.query('UPDATE buyer_suppressions SET deleted_at = now()');
  await client.query(
    `INSERT INTO buyer_suppressions (company_id, uuid, name, blocked)
      SELECT $1, gen_random_uuid(), 'Lookup ' || i, 200000
      FROM generate_series(1, 50) i`,
    [company_id],
  );
  await client.query(
    `INSERT INTO buyer_suppression_numbers
      SELECT $1, l.id, 12000000000 + (n * 7919 + l.id * 104729) % 7999999993
      FROM buyer_suppressions l, generate_series(1, 200000) n
      WHERE l.deleted_at IS NULL
      ORDER BY 2, 3`,
    [company_id],
  );
  const { rows } = await client.query(
    'SELECT id::float8 FROM buyers WHERE company_id = $1 ORDER BY id LIMIT 200',
    [company_id],
  );
  const buyers = rows.map(({ id }) => id as number);
  await client.query(
    `INSERT INTO buyer_suppression_buyers
      SELECT $1, l.id, b
      FROM buyer_suppressions l, unnest($2::bigint[]) b
      WHERE l.deleted_at IS NULL`,
    [company_id, buyers],
  );
  await client.query(
    'VACUUM ANALYZE buyer_suppression_numbers, buyer_suppression_buyers, buyer_suppressions',
  );
  // A router that is at work has the index in memory.
  await client.query('SET enable_seqscan = off');
  await client.query('SELECT count(*) FROM buyer_suppression_numbers WHERE company_id = $1', [
    company_id,
  ]);
  const deps = createDeps({
    config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent', DATA_DIR: '.bench' }),
    database_url: url,
  });
  const db = deps.tenants.of(BigInt(company_id));
  const times: number[] = [];
  let found = 0;
  for (let i = 0; i < 3_000; i++) {
    // Every second caller is on some list.
    const { rows: some } =
      i % 2
        ? { rows: [{ number: 13_105_550_123 + i }] }
        : await client.query(
            `SELECT number::float8
              FROM buyer_suppression_numbers
              WHERE company_id = $1 AND buyer_suppression_id = (SELECT min(id) + $2 FROM
                buyer_suppressions WHERE deleted_at IS NULL) AND number >= $3 LIMIT 1`,
            [company_id, i % 50, 12_000_000_000 + i * 1_000],
          );
    const started = performance.now();
    found +=
      (await suppressedBuyers(db, some[0]?.number ?? 13_105_550_123, buyers)).length > 0 ? 1 : 0;
    times.push(performance.now() - started);
  }
  await deps.database.close();
  await client.end();
  const figures = {
    p50_ms: round(percentile(times, 0.5)),
    p99_ms: round(percentile(times, 0.99)),
    suppressed: found,
    of: times.length,
  };
  say(
    `lookup, 50 lists on 200 buyers, 10,000,000 numbers: p50 ${figures.p50_ms} ms, p99 ` +
      `${figures.p99_ms} ms (${found} of ${times.length} callers were suppressed)`,
  );
  return figures;
}
