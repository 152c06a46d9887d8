import { createWriteStream, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import type { Header } from 'tar-stream';
import { backUp } from '../../../src/operate/backup/back-up';
import { restore } from '../../../src/operate/backup/restore';
import { withClient } from '../../../src/data/postgres/with-client';
import { openDirectory } from '../../../src/platform/storage/directory';
import { STORAGE_MARK } from '../../../src/platform/storage/storage';
import { readItems, writeItems, type Item } from '../../support/archives';
import { createWorld, emptyDatabase, PEPPER_OF_TESTS, type World } from '../../support/world';

// An archive may come from an attacker. Restore writes rows of the tables of the schema, and files
// inside the storage that these rows refer to. It writes nothing of an archive with an entry that a
// backup does not have at that position.

const makeFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'archives-'));
const makeStorage = () => openDirectory({ folder: makeFolder(), reserve_bytes: 0 });

let world: World;
/** The entries of an honest archive with an uploaded file. */
let honest: Item[];
let database: string;
/** A folder outside the storage, which an attacker would like to write to. */
const outside = makeFolder();

beforeAll(async () => {
  world = await createWorld();
  const { api } = world.company;
  const { body } = await api('post', 'buyer_suppressions', { body: { name: 'Do not call' } });
  await api('post', 'buyer_suppression_files', {
    form: {
      buyer_suppression_id: String(body.buyer_suppression.id),
      apply_block_or_unblock: 'block',
      import_file: Buffer.from('number\n+12135550101\n'),
    },
    file_name: 'numbers.csv',
  });
  const file = join(makeFolder(), 'honest.tar.gz');
  const { deps, url } = world;
  await backUp({ session_url: url, storage: deps.storage, pepper: deps.pepper }, file);
  honest = await readItems(file);
  database = await emptyDatabase();
});
afterAll(() => world.close());

async function writeHostile(items: readonly Item[]): Promise<string> {
  const file = join(makeFolder(), 'hostile.tar.gz');
  await writeItems(file, items);
  return file;
}

const findItem = (start: string) => honest.findIndex(({ name }) => name.startsWith(start));

/** The honest archive with more entries before the first whose name begins with `start`. */
const addItem = (start: string, ...items: Item[]): Item[] =>
  honest.toSpliced(findItem(start), 0, ...items);

/** The honest archive with another entry in place of the first whose name begins with `start`. */
const replaceItem = (start: string, change: (item: Item) => Partial<Item>): Item[] => {
  const index = findItem(start);
  return honest.with(index, { ...honest[index]!, ...change(honest[index]!) });
};

interface ManifestJson {
  columns: Record<string, string>;
  sequences: Record<string, unknown>;
  migrations: unknown[];
  version: unknown;
}

const changeManifest = (change: (manifest: ManifestJson) => void): Item[] =>
  replaceItem('backup.json', ({ content }) => {
    const manifest = JSON.parse(String(content)) as ManifestJson;
    change(manifest);
    return { content: JSON.stringify(manifest) };
  });

const query = (statement: string) =>
  withClient(new Client({ connectionString: database }), async (client) => {
    const { rows } = await client.query(statement);
    return rows as Record<string, unknown>[];
  });

/** The error message of a restore. Checks that nothing of the archive was written anywhere. */
async function findRefusal(items: readonly Item[] | string): Promise<string> {
  const file = typeof items === 'string' ? items : await writeHostile(items);
  const storage = makeStorage();
  const peppers: string[] = [];
  const keepPepper = (pepper: string) => void peppers.push(pepper);
  const error = await restore(file, { session_url: database, storage, keepPepper }).then(
    () => new Error('it was restored'),
    (thrown: Error) => thrown,
  );
  const isMigrated = (await query(`SELECT to_regclass('public.companies') AS t`))[0]!.t !== null;
  expect({
    rows: isMigrated ? await query('SELECT id FROM companies') : [],
    files: listFiles(storage.settings.folder),
    outside: readdirSync(outside),
    peppers,
  }).toEqual({ rows: [], files: [], outside: [], peppers: [] });
  return error.message;
}

/** Files of a storage, but for those that the honest part of the archive has. */
const listFiles = (folder: string) =>
  ['files', 'incoming', '.'].flatMap((name) =>
    readdirSync(join(folder, name)).filter(
      (file) => !['files', 'incoming'].includes(file) && findItem(`files/${file}`) < 0,
    ),
  );

const UP = '../'.repeat(12);

describe('files', () => {
  test.each<[string, string]>([
    ['a path out of the storage', `files/../../../x`],
    ['a path to a folder of others', `files/${UP}${outside.slice(1)}/x`],
    ['an absolute path', `files/${outside}/x`],
    ['the mark of the storage', `files/${STORAGE_MARK}`],
    ['a folder within', 'files/a/b'],
    ['no name', 'files/.'],
    ['a backslash', 'files/..\\x'],
    ['a key and more', `files/00000000-0000-4000-8000-000000000001/../x`],
    ['a line break', `files/00000000-0000-4000-8000-000000000001\n`],
  ])('whose name is %s are refused', async (_, name) => {
    expect(await findRefusal(addItem('files/', { name, content: 'x' }))).toMatch(
      /has no name of an uploaded file/,
    );
  });

  test('whose name has a NUL are refused', async () => {
    const name = 'files/00000000-0000-4000-8000-000000000001\0.csv';
    const header = { pax: { path: name } };
    expect(await findRefusal(addItem('files/', { name: 'files/x', content: 'x', header }))).toMatch(
      /has no name of an uploaded file/,
    );
  });

  test('that no row refers to, or that come twice, are refused', async () => {
    const stray = { name: 'files/00000000-0000-4000-8000-000000000001', content: 'x' };
    expect(await findRefusal(addItem('end.json', stray))).toMatch(
      /is of no record, or there twice/,
    );
    const repeatedItem = honest[findItem('files/')]!;
    expect(await findRefusal(addItem('end.json', repeatedItem))).toMatch(
      /is of no record, or there twice/,
    );
  });

  test.each<Header['type']>(['symlink', 'link', 'directory', 'fifo', 'character-device'])(
    'that are a %s are refused',
    async (type) => {
      const { name } = honest[findItem('files/')]!;
      const header = { type, linkname: join(outside, 'x') };
      expect(await findRefusal(addItem('files/', { name, content: '', header }))).toMatch(
        /is no file/,
      );
    },
  );

  test('of a size that no disk has are refused before they are written', async () => {
    const file = await writeHostile(honest);
    const tar = gunzipSync(readFileSync(file));
    const { name } = honest[findItem('files/')]!;
    const at = tar.indexOf(name);
    // The size in base 256: 2^60 bytes.
    tar.fill(0, at + 124, at + 136);
    tar[at + 124] = 0x80;
    tar[at + 128] = 0x10;
    writeChecksum(tar, at);
    const huge = join(makeFolder(), 'huge.tar.gz');
    await pipeline([tar], createGzip(), createWriteStream(huge));
    expect(await findRefusal(huge)).toMatch(/has no room for \d{16,} bytes/);
  });
});

function writeChecksum(tar: Buffer, at: number): void {
  tar.fill(' ', at + 148, at + 156);
  const sum = tar.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
}

describe('names of the database', () => {
  const program = `) FROM PROGRAM 'touch ${outside}/ran' --`;

  test.each<[string, (manifest: ManifestJson) => void]>([
    ['a list of columns with a program', ({ columns }) => (columns['public.buyers'] = program)],
    ['a program after a column', ({ columns }) => (columns['public.companies'] += program)],
    ['columns of jobs with a program', ({ columns }) => (columns['jobs.job'] = `id${program}`)],
    ['an unknown column', ({ columns }) => (columns['public.companies'] += ', more')],
    ['a column twice', ({ columns }) => (columns['public.companies'] += ', name')],
    ['a column less', ({ columns }) => (columns['public.companies'] = 'id, uuid, name')],
    ['a table of the system', ({ columns }) => (columns['pg_catalog.pg_authid'] = 'rolname')],
    ['the table of migrations', ({ columns }) => (columns['public._prisma_migrations'] = 'id')],
    ['a table with a program', ({ columns }) => (columns[`public.buyers (id${program}`] = 'id')],
    ['a member of objects', ({ columns }) => (columns['public.constructor'] = 'id')],
    ['a sequence of SQL', ({ sequences }) => (sequences['x; DROP TABLE buyers'] = '1')],
    ['a sequence of another schema', ({ sequences }) => (sequences['a"."b'] = '1')],
  ])('%s: refused', async (_, change) => {
    expect(await findRefusal(changeManifest(change))).toMatch(
      /is no backup of Trunkline: there is no (table|table with the columns of|sequence) "/,
    );
  });

  test('a table that the manifest does not name, or that comes twice, is refused', async () => {
    const content = '1\n';
    for (const name of ['tables/public.pg_class/00000000', 'tables/constructor.x/00000000'])
      expect(await findRefusal(addItem('files/', { name, content }))).toMatch(
        /not one that a backup/,
      );
    const repeatedItem = honest[findItem('tables/')]!;
    expect(await findRefusal(addItem('files/', repeatedItem))).toMatch(/not one that a backup/);
    const name = repeatedItem.name.replace(/\d$/, '7');
    expect(await findRefusal(replaceItem('tables/', () => ({ name })))).toMatch(/is out of order/);
  });
});

describe('the manifest', () => {
  test.each<[string, (manifest: ManifestJson) => void]>([
    ['a value of a sequence', ({ sequences }) => (sequences.buyers_id_seq = '1); --')],
    [
      'the largest value of a sequence',
      ({ sequences }) => (sequences.buyers_id_seq = '9'.repeat(19)),
    ],
    ['a version with control characters', (manifest) => (manifest.version = '1.0\u001b[31m')],
    ['a version that is an object', (manifest) => (manifest.version = { a: 1 })],
    ['a migration that is a path', ({ migrations }) => migrations.push('../../../../etc/passwd')],
    ['a migration that is no text', ({ migrations }) => migrations.push({})],
    ['columns that are a list', (manifest) => (manifest.columns = ['id'] as never)],
  ])('with %s is refused', async (_, change) => {
    expect(await findRefusal(changeManifest(change))).toMatch(/is not what a backup writes there/);
  });

  test('that is no JSON, or is none at all, is refused', async () => {
    const refused = (content: string) =>
      findRefusal(replaceItem('backup.json', () => ({ content })));
    expect(await refused('[')).toMatch(/is no JSON/);
    expect(await refused('null')).toMatch(/is not what a backup writes there/);
    expect(await refused('[1]')).toMatch(/is not what a backup writes there/);
    expect(await findRefusal(honest.slice(1))).toMatch(/is no backup of Trunkline/);
  });

  test.each(['backup.json', 'key_pepper', 'end.json'])(
    '%s of more bytes than any has is not read into memory',
    async (name) => {
      const content = Buffer.alloc(17 * 1_048_576, ' ');
      expect(await findRefusal(replaceItem(name, () => ({ content })))).toMatch(
        /has 17825792 bytes/,
      );
    },
  );
});

describe('the order of entries', () => {
  const pepper: Item = { name: 'key_pepper', content: 'p'.repeat(32) };

  test.each<[string, () => Item[], RegExp]>([
    ['a second pepper', () => addItem('tables/', pepper), /not one that a backup/],
    ['no pepper', () => honest.toSpliced(findItem('key_pepper'), 1), /no complete backup/],
    ['a short pepper', () => replaceItem('key_pepper', () => ({ content: 'p' })), /is no pepper/],
    ['a second end', () => [...honest, honest.at(-1)!], /comes after the end/],
    ['a file after the end', () => [...honest, honest[findItem('files/')]!], /after the end/],
    ['an entry of no kind', () => addItem('files/', { name: 'x', content: '' }), /not one that/],
    ['another manifest', () => addItem('tables/', honest[0]!), /not one that a backup/],
    ['rows less than the end says', () => honest.filter((_, n) => n !== 2), /no complete backup/],
  ])('with %s: refused', async (_, items, sentence) => {
    expect(await findRefusal(items())).toMatch(sentence);
  });

  test('the honest archive is restored all the same', async () => {
    const storage = makeStorage();
    const peppers: string[] = [];
    const keepPepper = (pepper: string) => void peppers.push(pepper);
    const file = await writeHostile(honest);
    const target = { session_url: await emptyDatabase(), storage, keepPepper };
    const { files } = await restore(file, target);
    expect([files, peppers]).toEqual([1, [PEPPER_OF_TESTS]]);
  });
});
