import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { withClient } from '../../../src/data/postgres/with-client';
import { backUp } from '../../../src/operate/backup/back-up';
import { builtProduct } from '../../support/build';
import { runProgram } from '../../support/process';
import { createWorld, emptyDatabase, PEPPER_OF_TESTS, type World } from '../../support/world';

// A backup that another version of the program restores.

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'backup-'));

const query = (url: string, text: string): Promise<unknown[]> =>
  withClient(
    new Client({ connectionString: url }),
    async (client) => (await client.query(text)).rows,
  );

/** A later version of the program: with one more migration. */
async function buildLaterVersion(migration: string, sql: string): Promise<string> {
  const product = builtProduct();
  const folder = newFolder();
  for (const name of ['dist', 'prisma', 'package.json', 'openapi.yaml'])
    cpSync(realpathSync(join(product, name)), join(folder, name), { recursive: true });
  for (const name of readdirSync(product))
    if (!existsSync(join(folder, name))) symlinkSync(join(product, name), join(folder, name));
  const added = join(folder, 'prisma/migrations', migration);
  mkdirSync(added);
  writeFileSync(join(added, 'migration.sql'), sql);
  return join(folder, 'dist/main/cli/index.js');
}

let world: World;
beforeAll(async () => void (world = await createWorld()));
afterAll(() => world.close());

test('a backup of an older version is brought up to a later one', async () => {
  const { storage, pepper } = world.deps;
  const file = join(newFolder(), 'trunkline.tar.gz');
  await backUp({ session_url: world.url, storage, pepper }, file);

  const later = '29990101000000_motto';
  const program = await buildLaterVersion(later, `ALTER TABLE companies ADD COLUMN motto text;`);
  const url = await emptyDatabase();
  const cli = (args: string[]) =>
    runProgram('node', [program, ...args], {
      cwd: newFolder(),
      env: { DATABASE_URL: url, DATA_DIR: newFolder(), KEY_PEPPER: PEPPER_OF_TESTS },
    });
  expect(cli(['restore', file])).toMatchObject({ code: 0 });
  expect(JSON.parse(cli(['migrate', '--json']).output)).toEqual({ applied: [] });
  expect(await query(url, 'SELECT id, motto FROM companies')).toEqual([
    { id: String(world.company.id), motto: null },
  ]);
});
