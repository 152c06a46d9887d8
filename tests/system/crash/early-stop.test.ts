import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../../support/engine-process';
import { freePort, TYPESCRIPT } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// A server that is ready is stopped before its start has come to an end.

const ROOT = join(__dirname, '../../..');
/** The lock of the first start, which creates the demo company (src/main/demo/demo.ts). */
const LOCK = 7_481_203;

test('SIGTERM between the first answer and the banner is a graceful stop', async () => {
  const [DATABASE_URL, port] = [await freshDatabase(), await freePort()];
  const holder = new Client({ connectionString: DATABASE_URL });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
  const settings = { DATABASE_URL, PORT: String(port), KEY_PEPPER: PEPPER_OF_TESTS, DEMO: 'false' };
  const DATA_DIR = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'early-stop-'));
  const { PATH, HOME } = process.env;
  const child = spawn('node', [...TYPESCRIPT, 'src/main/server.ts'], {
    cwd: ROOT,
    env: { PATH, HOME, DATA_DIR, ...settings } as NodeJS.ProcessEnv,
    stdio: 'ignore',
  });
  const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
  try {
    await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      100,
    );
    child.kill('SIGTERM');
    await new Promise((done) => setTimeout(done, 100));
    await holder.end();
    expect(await ended).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await holder.end().catch(() => undefined);
  }
});
