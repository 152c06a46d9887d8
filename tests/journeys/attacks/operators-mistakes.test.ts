import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { backUp } from '../../../src/operate/backup/back-up';
import { restore } from '../../../src/operate/backup/restore';
import { HostsClient } from '../../../src/data/postgres/hosts-client';
import { withClient } from '../../../src/data/postgres/with-client';
import { openDirectory } from '../../../src/platform/storage/directory';
import { runCommand } from '../../support/cli';
import { useWorld } from '../../support/use-world';
import { emptyDatabase, PEPPER_OF_TESTS } from '../../support/world';

// Commands at the wrong time, twice at once, or into a folder that does not exist: each is refused
// in a sentence, and changes nothing.

const world = useWorld();

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'mistakes-'));
const run = (args: string[], KEY_PEPPER = PEPPER_OF_TESTS) =>
  runCommand(args, { ...world.database, DATA_DIR: newFolder(), KEY_PEPPER });

test('a pepper is not replaced while a server runs, which is named', async () => {
  await world.sql(
    `INSERT INTO processes (id, kind, host, pid)
    VALUES (gen_random_uuid(), 'server', 'elsewhere', 17)`,
  );
  const digest = () => world.sql('SELECT pepper_check FROM installations');
  const before = await digest();
  const { code, errors } = await run(['pepper', 'replace'], 'another pepper, which is long enough');
  expect([code, errors]).toEqual([1, expect.stringContaining('(running: server 17 on elsewhere)')]);
  expect(await digest()).toEqual(before);
  await world.sql('DELETE FROM processes');
});

test('a connection that is lost while nothing runs on it ends no process', async () => {
  const client = new HostsClient({ connectionString: world.url });
  const losing = withClient(client, async () => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const lost = new Promise((done) => client.once('end', done));
    await world.sql('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
    await lost;
    await client.query('SELECT 1');
  });
  await expect(losing).rejects.toThrow(/not queryable|Connection terminated/);
});

test('a backup into a folder that does not exist is refused in a sentence', async () => {
  const file = join(newFolder(), 'none/x.tar.gz');
  const { code, errors } = await run(['backup', file]);
  expect([code, errors]).toEqual([
    1,
    expect.stringContaining(`${file} cannot be written: its folder does not exist.`),
  ]);
});

test('of two that restore into one database at once, one succeeds, the other says why not', async () => {
  const file = join(newFolder(), 'trunkline.tar.gz');
  const { deps, url } = world;
  await backUp({ session_url: url, storage: deps.storage, pepper: deps.pepper }, file);
  const sessionUrl = await emptyDatabase();
  const storage = openDirectory({ folder: newFolder(), reserve_bytes: 0 });
  const target = { session_url: sessionUrl, storage, keepPepper: () => undefined };
  const ended = await Promise.allSettled([restore(file, target), restore(file, target)]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const reasons = ended.flatMap((result) => (result.status === 'rejected' ? result.reason : []));
  expect(String(reasons[0])).toMatch(/Another restore into this database runs|is not empty/);
});
