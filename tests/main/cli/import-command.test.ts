import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Express } from 'express';
import { runCommand, type Printed } from '../../support/cli';
import { buildSuppressionRequests, loadNumbers } from '../../support/imports';
import { createWorld, PEPPER_OF_TESTS, type World } from '../../support/world';

// The import command, against a service that listens in this process and imports what it gets.

const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'import-command-'));
const csv = join(folder, 'numbers.csv');
writeFileSync(csv, 'phone,name\n3105550123,Ann\nnone,Bob\n');

let world: World;
let environment: Record<string, string>;
const server = createServer((req, res) => (world.app as Express)(req, res));
beforeAll(async () => {
  world = await createWorld();
  await world.work();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  environment = {
    ...world.database,
    KEY_PEPPER: PEPPER_OF_TESTS,
    DATA_DIR: world.deps.config.data_dir,
    STORAGE_DIR: world.deps.config.storage_dir,
    PORT: String((server.address() as AddressInfo).port),
  };
});
afterAll(async () => {
  server.close();
  await world.close();
});

const { api, create } = buildSuppressionRequests(() => world);
const run = (...args: string[]): Promise<Printed> => runCommand(['import', ...args], environment);

test('it uploads a file, shows the progress, and prints the result', async () => {
  const list = (await create()).id as number;
  const { code, output, errors } = await run(String(list), csv);
  expect([code, errors]).toEqual([
    0,
    expect.stringMatching(/upload \[=+\] 100 %[^]*import \[=+\] 100 % {2}2 of 2 rows/),
  ]);
  expect(output).toMatch(
    /status +succeeded\ntotal_count +2\nimport_count +1\nrejected_count +1\nadded_count +1/,
  );
  expect(await loadNumbers(api, list)).toEqual(['+13105550123']);
});

test('with a key pair of its own it takes numbers off a list, and prints JSON', async () => {
  const list = (await create()).id as number;
  const options = ['--json', '--key', world.company.auth];
  await run(String(list), csv, ...options);
  const { output } = await run(String(list), csv, '--unblock', ...options);
  expect(JSON.parse(output)).toMatchObject({ status: 'succeeded', removed_count: 1 });
  expect(await loadNumbers(api, list)).toEqual([]);
});

test('the key that it makes for itself is revoked', async () => {
  const list = (await create()).id as number;
  expect((await run(String(list), csv)).code).toBe(0);
  const { body } = await api('get', 'access_tokens');
  const names = body.access_tokens.map(({ name }: { name: string }) => name) as string[];
  expect(names.filter((name) => name.startsWith('Import'))).toEqual([]);
});

test('it explains what failed', async () => {
  const list = String((await create()).id);
  const failed = await run(list, csv, '--column', 'nix');
  expect([failed.code, failed.output]).toEqual([
    1,
    expect.stringContaining('No column is called nix. The columns are phone, name.'),
  ]);
  expect(await run('999999', csv)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('There is no suppression list 999999'),
  });
  expect(await run(list, csv, '--url', 'http://127.0.0.1:1')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('No service answers at http://127.0.0.1:1'),
  });
  expect(await run(list, join(folder, 'nothing.csv'))).toMatchObject({
    code: 1,
    errors: expect.stringContaining('nothing.csv'),
  });
});
