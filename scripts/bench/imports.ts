import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { ImportClient, PORT } from './import-client';
import { makeFile } from './import-file';
import { benchLookup } from './import-lookup';
import { median, memory, option, waitUntilReady, round, say, startService } from './tools';
import { prepareWorld, type BenchWorld } from './world';

// Compares imports with a floor: \copy of the valid numbers into a table with the same primary key.

const ROUNDS = Number(option('rounds', '3'));
const MILLION = 1_000_000;
const MILLIONS = Number(option('millions', '10'));

const WITH_LOOKUP = option('lookup', 'yes') !== 'no';

type Report = Record<string, unknown>;

async function start(world: BenchWorld): Promise<ChildProcess> {
  const service = startService(world.url, PORT);
  await waitUntilReady(PORT);
  return service;
}

async function stop(service: ChildProcess): Promise<void> {
  service.kill('SIGTERM');
  await once(service, 'exit');
}

/** Imports a million rows three ways, and returns the seconds of a first import. */
async function measureMillion(bench: ImportClient, report: Report): Promise<number> {
  const { csv, clean } = await makeFile(MILLION);
  await bench.clearNumbers();
  await bench.import(await bench.createList(), csv);

  const runs: Record<string, number[]> = { floor: [], first: [], again: [], unblock: [] };
  for (let turn = 0; turn < ROUNDS; turn++) {
    runs.floor!.push(await bench.floor(clean));
    await bench.clearNumbers();
    const list = await bench.createList();
    runs.first!.push(await bench.import(list, csv));
    runs.again!.push(await bench.import(list, csv));
    runs.unblock!.push(await bench.import(list, csv, 'unblock'));
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
  return median(runs.first!);
}

interface Large {
  pid: number;
  seconds_of_a_million: number;
  peak_of_a_million_mb: number;
}

/** Imports one large file into a service that was just started, and returns its path. */
async function measureLarge(
  bench: ImportClient,
  report: Report,
  { pid, seconds_of_a_million, peak_of_a_million_mb }: Large,
): Promise<string> {
  const idleMb = memory(pid).now_mb;
  const { csv } = await makeFile(MILLIONS * MILLION);
  await bench.clearNumbers();
  const seconds = await bench.import(await bench.createList(), csv);
  const perRow = seconds / MILLIONS / seconds_of_a_million;
  const { peak_mb } = memory(pid);
  report.large = {
    millions: MILLIONS,
    seconds: round(seconds),
    per_row: round(perRow),
    idle_mb: idleMb,
    peak_mb,
    peak_of_a_million_mb,
  };
  say(
    `import of ${MILLIONS},000,000: ${seconds.toFixed(1)} s, ${perRow.toFixed(2)} x per row; ` +
      `memory of the process ${idleMb} MB idle, ${peak_mb} MB at most`,
  );
  return csv;
}

async function measureRequests(bench: ImportClient, report: Report, csv: string): Promise<void> {
  await bench.clearNumbers();
  await bench.p99(2);
  const without: number[] = [];
  const during: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    without.push((await bench.p99(5)).p99);
    const list = await bench.createList();
    const { id } = await bench.upload(list, csv, 'block');
    await new Promise((done) => setTimeout(done, turn * 4_000));
    during.push((await bench.p99(5)).p99);
    await bench.stop(id);
    await bench.clearNumbers();
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
}

export async function benchImports(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareWorld(server, 10_000);
  const client = new Client({ connectionString: world.url });
  await client.connect();
  const bench = new ImportClient(world, client);
  await client.query(
    "UPDATE buyer_suppression_files SET status = 'stopped' WHERE status IN ('pending', 'running')",
  );
  const report: Report = {};
  await makeFile(MILLION);
  let service = await start(world);
  const secondsOfAMillion = await measureMillion(bench, report);
  const peakOfAMillionMb = memory(service.pid!).peak_mb;
  await stop(service);

  service = await start(world);
  const csv = await measureLarge(bench, report, {
    pid: service.pid!,
    seconds_of_a_million: secondsOfAMillion,
    peak_of_a_million_mb: peakOfAMillionMb,
  });
  await measureRequests(bench, report, csv);
  await stop(service);

  if (WITH_LOOKUP) report.lookup = await benchLookup(server);
  writeFileSync('.bench/imports.json', JSON.stringify(report, null, 2));
  await client.end();
}
