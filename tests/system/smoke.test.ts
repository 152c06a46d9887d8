import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { finished, numberAt } from '../support/imports';
import { runScript, startServer, startWorker, type Running } from '../support/process';
import { caller, freshDatabase, PEPPER_OF_TESTS, type Api } from '../support/world';

// One test for each kind of process, within npm test. npm run test:system has the others.

let environment: Record<string, string>;
let first: Running;
let second: Running;
let auth: string;
let api: Api;

beforeAll(async () => {
  environment = {
    DATABASE_URL: await freshDatabase(),
    DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'smoke-')),
    KEY_PEPPER: PEPPER_OF_TESTS,
    LOG_LEVEL: 'error',
  };
});
afterAll(async () => {
  await Promise.all([first, second].map((server) => server.end('SIGKILL')));
});

test('a start makes a demo company, and prints a curl line that works', async () => {
  first = await startServer(environment);
  second = await startServer({ ...environment, RUN_JOBS: 'false' });
  const text = first.output();
  auth = `${/public key\s+(\S+)/.exec(text)![1]}:${/private key\s+(\S+)/.exec(text)![1]}`;
  api = caller(first.url, auth);
  const answer = execFileSync('bash', ['-c', /curl .*/.exec(text)![0]], { encoding: 'utf8' });
  expect(JSON.parse(answer).buyers.length).toBeGreaterThanOrEqual(5);
});

test('a cap of 10 lets through 10 of 40 calls at once, over two processes', async () => {
  const create = async (path: string, body: object): Promise<number> => {
    const res = await api('post', path, { body });
    return res.body[res.body.metadata.root].id;
  };
  const buyer = { number: '+12125550101', attempt_daily_limit: 10 };
  const offer = { name: 'Capped', buyer_ids: [await create('buyers', buyer)] };
  const offerId = await create('offers', offer);
  const both = [api, caller(second.url, auth)];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const body = { offer_id: offerId, caller_number: `+13105550${100 + n}` };
      return both[n % 2]!('post', 'call_sessions', { body });
    }),
  );
  const actions = answers.map(({ body }) => body.call_session.instruction.action as string);
  expect(actions.filter((action) => action === 'dial')).toHaveLength(10);
});

test('a command works on the database of a running server', () => {
  const args = ['company', 'create', '--name', 'Second', '--json'];
  const { code, output } = runScript('src/main/cli/index.ts', args, environment);
  expect([code, JSON.parse(output)]).toMatchObject([0, { company_id: expect.any(Number) }]);
});

test('a worker completes the import of a server that was killed', async () => {
  const list = (await api('post', 'buyer_suppressions', { body: { name: 'List' } })).body
    .buyer_suppression.id as number;
  const rows = Array.from({ length: 60_000 }, (_, n) => numberAt(n));
  const form = {
    buyer_suppression_id: String(list),
    import_file: Buffer.from(`phone\n${rows.join('\n')}\n`),
  };
  const file = (await api('post', 'buyer_suppression_files', { form })).body.buyer_suppression_file
    .id as number;
  const path = `buyer_suppression_files/${file}`;
  const elsewhere = caller(second.url, auth);
  for (;;) {
    const { status } = (await elsewhere('get', path)).body.buyer_suppression_file;
    if (status !== 'pending') break;
  }
  await first.end('SIGKILL');
  const worker = await startWorker(environment);
  expect(await finished(elsewhere, path)).toMatchObject({
    status: 'succeeded',
    added_count: rows.length,
  });
  expect(await worker.end('SIGTERM')).toBe(0);
});

test('SIGTERM ends a server, with exit code 0', async () => {
  expect(await second.end('SIGTERM')).toBe(0);
});
