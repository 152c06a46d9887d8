import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished, numberAt, loadNumbers } from '../../support/imports';
import {
  pgCtl,
  postmasterOptions,
  runScript,
  startServer,
  startWorker,
  type Running,
} from '../../support/process';
import { caller, type Api } from '../../support/world';
import { patient } from '../../support/patience';

// Imports with the command, against a server that may be killed and a database that may restart.

const dataDir = join(process.env.TRUNKLINE_TEST_FOLDER!, 'import-data');
const environment = { DATA_DIR: dataDir, LOG_LEVEL: 'error' };
mkdirSync(dataDir);
const ROWS = 80_000;
const csv = join(dataDir, 'numbers.csv');
const rows = Array.from({ length: ROWS }, (_, i) => `${numberAt(i)},Person ${i}`);
writeFileSync(csv, `phone,name\n${rows.join('\n')}\n`);

let server: Running;
let auth: string;
let api: Api;

beforeAll(async () => {
  server = await startServer(environment);
  const text = server.output();
  auth = `${/public key\s+(\S+)/.exec(text)![1]}:${/private key\s+(\S+)/.exec(text)![1]}`;
  api = caller(server.url, auth);
});
afterAll(async () => {
  await server.end('SIGTERM');
});

const createList = async (): Promise<number> =>
  (await api('post', 'buyer_suppressions', { body: { name: 'List' } })).body.buyer_suppression.id;
const cli = (...args: string[]) =>
  runScript('src/main/cli/index.ts', args, { ...environment, PORT: new URL(server.url).port });

async function upload(list: number): Promise<number> {
  const res = await api('post', 'buyer_suppression_files', {
    form: { buyer_suppression_id: String(list), import_file: readFileSync(csv) },
  });
  return res.body.buyer_suppression_file.id;
}

/** Starts an import and waits until a fifth of it is done. */
async function startImport(): Promise<{ list: number; file: number }> {
  const list = await createList();
  const file = await upload(list);
  for (;;) {
    const { import_percent, status } = (await api('get', `buyer_suppression_files/${file}`)).body
      .buyer_suppression_file;
    if (status === 'running' && import_percent >= 20) return { list, file };
    // A busy machine may look again only when it is over.
    if (status === 'succeeded') return startImport();
    expect(['pending', 'running']).toContain(status);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function expectComplete(list: number, file: number): Promise<void> {
  expect(await finished(api, `buyer_suppression_files/${file}`)).toMatchObject({
    status: 'succeeded',
    total_count: ROWS,
    import_count: ROWS,
    added_count: ROWS,
  });
  expect((await api('get', `buyer_suppressions/${list}`)).body.buyer_suppression.blocked).toBe(
    ROWS,
  );
}

test('the import command uploads a file, shows the progress, and prints the result', async () => {
  const list = await createList();
  const small = join(dataDir, 'small.csv');
  writeFileSync(small, 'phone\n3105550123\nnone\n');
  const { code, output, errors } = cli('import', String(list), small);
  expect([code, errors]).toEqual([
    0,
    expect.stringMatching(/upload \[=+\] 100 %[^]*import \[=+\] 100 % {2}2 of 2 rows/),
  ]);
  expect(output).toMatch(
    /status +succeeded\ntotal_count +2\nimport_count +1\nrejected_count +1\nadded_count +1/,
  );
  expect(await loadNumbers(api, list)).toEqual(['+13105550123']);
  expect(
    JSON.parse(cli('import', String(list), small, '--unblock', '--json', '--key', auth).output),
  ).toMatchObject({ status: 'succeeded', removed_count: 1 });
  const tokens = await api('get', 'access_tokens');
  expect(
    tokens.body.access_tokens.filter(({ name }: { name: string }) => name.startsWith('Import')),
  ).toEqual([]);
});

test('the import command explains what failed', async () => {
  const list = await createList();
  const failed = cli('import', String(list), csv, '--column', 'nix');
  expect([failed.code, failed.output]).toEqual([
    1,
    expect.stringContaining('No column is called nix. The columns are phone, name.'),
  ]);
  expect(cli('import', '999999', csv)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('There is no suppression list 999999'),
  });
  expect(cli('import', String(list), csv, '--url', 'http://127.0.0.1:1')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('No service answers at http://127.0.0.1:1'),
  });
  expect(cli('import', String(list), join(dataDir, 'nothing.csv'))).toMatchObject({
    code: 1,
    errors: expect.stringContaining('nothing.csv'),
  });
});

test('an import continues by itself after a restart of the database, and is complete', async () => {
  const { list, file } = await startImport();
  const options = postmasterOptions(dataDir);
  pgCtl(dataDir, 'stop', '-m', 'immediate');
  pgCtl(dataDir, 'start', '-o', options);
  await expectComplete(list, file);
});

test('an import continues by itself after the server is killed and started again', async () => {
  const { list, file } = await startImport();
  const killed = Date.now();
  await server.end('SIGKILL');
  server = await startServer({ ...environment, PORT: new URL(server.url).port });
  const before = (await api('get', `buyer_suppression_files/${file}`)).body.buyer_suppression_file
    .import_count;
  expect(before).toBeGreaterThan(0);
  for (;;) {
    const { import_count } = (await api('get', `buyer_suppression_files/${file}`)).body
      .buyer_suppression_file;
    if (import_count > before) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  expect(Date.now() - killed).toBeLessThan(patient(10_000));
  await expectComplete(list, file);
});

test('a server ends within ten seconds of SIGTERM; a worker takes over its import', async () => {
  const { list, file } = await startImport();
  // A server that needs longer than ten seconds exits with 1.
  expect(await server.end('SIGTERM')).toBe(0);
  server = await startServer({ ...environment, RUN_JOBS: 'false' });
  api = caller(server.url, auth);
  expect(server.output()).toContain('npm run worker');
  const worker = await startWorker(environment);
  await expectComplete(list, file);
  expect(await worker.end('SIGTERM')).toBe(0);
});
