import { mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand, type Printed } from '../../support/cli';
import { buildSuppressionRequests, loadNumbers } from '../../support/imports';
import { buildEnvironment } from '../../support/job-process';
import { serverFor } from '../../support/worker/servers';
import { createWorld, type World } from '../../support/world';

// The import command, against a service that listens in this process and imports what it gets.

const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'import-command-'));
const csv = join(folder, 'numbers.csv');
writeFileSync(csv, 'phone,name\n3105550123,Ann\nnone,Bob\n');

let world: World;
let environment: Record<string, string>;
beforeAll(async () => {
  world = await createWorld();
  await world.work();
  environment = {
    ...buildEnvironment(world),
    PORT: String((serverFor(world.app).address() as AddressInfo).port),
  };
});
afterAll(() => world.close());

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
