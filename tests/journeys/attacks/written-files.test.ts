import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { backUp } from '../../../src/operate/backup/back-up';
import { exportCompany } from '../../../src/operate/backup/export-company';
import { openReport } from '../../../src/operate/migration/report';
import { openDirectory } from '../../../src/platform/storage/directory';
import { openStorage } from '../../../src/platform/storage/open';
import { startS3 } from '../../support/s3-server';
import { useWorld } from '../../support/use-world';

// For every caller, a storage uses only keys that the service makes as paths and names. A file that
// a command writes is a new one, which only its owner may read.

const makeFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'written-'));
const makeStorage = () => openDirectory({ folder: makeFolder(), reserve_bytes: 0 });

const world = useWorld();
beforeAll(async () => {
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
});

describe('a storage', () => {
  test('of a folder or a bucket refuses keys that the service does not make', async () => {
    const s3 = await startS3();
    const storages = [
      makeStorage(),
      openStorage({ folder: makeFolder(), reserve_bytes: 0, s3: s3.settings }),
    ];
    const file = join(makeFolder(), 'x');
    writeFileSync(file, 'x');
    for (const storage of storages)
      for (const key of [
        '../x',
        `${'../'.repeat(12)}etc/passwd`,
        '/etc/passwd',
        'a/b',
        '',
        '.',
        'x\0',
        'KEY',
      ])
        for (const refused of [
          () => storage.keep(file, key),
          () => storage.open(key),
          () => storage.readSize(key),
          () => storage.remove(key),
        ])
          await expect(refused()).rejects.toThrow('is no key of a stored file');
    await s3.close();
  });

  test('neither follows links in the place of files, nor touches what is none of its own', async () => {
    const storage = makeStorage();
    const key = '00000000-0000-4000-8000-000000000001';
    const secret = join(makeFolder(), 'secret');
    writeFileSync(secret, 'secret');
    symlinkSync(secret, storage.path(key));
    expect([await storage.open(key), await storage.readSize(key)]).toEqual([undefined, undefined]);
    writeFileSync(join(storage.settings.folder, 'files', 'of an operator'), 'x');
    const keys: string[] = [];
    for await (const some of storage.keysOlderThan(-60_000)) keys.push(...some);
    expect(keys).toEqual([key]);
  });
});

describe('a file that a command writes', () => {
  const commands: [string, (file: string) => Promise<unknown>][] = [
    [
      'backup',
      (file) =>
        backUp(
          { session_url: world.url, storage: world.deps.storage, pepper: world.deps.pepper },
          file,
        ),
    ],
    ['export-company', (file) => exportCompany(world.deps, world.company.id, file)],
    ['migrate --report', async (file) => openReport(file, { is_resumed: false }).close()],
  ];

  test.each(commands)('%s: is new, and nobody else may read it', async (_, write) => {
    const folder = makeFolder();
    const file = join(folder, 'new');
    await write(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['new']);
  });

  test.each(commands)('%s: never goes into a file or through a link', async (_, write) => {
    const folder = makeFolder();
    const [file, link, dangling] = ['file', 'link', 'dangling'].map((name) => join(folder, name));
    writeFileSync(file!, 'mine');
    symlinkSync(file!, link!);
    symlinkSync(join(folder, 'nowhere'), dangling!);
    for (const path of [file!, link!, dangling!])
      await expect(write(path)).rejects.toThrow('is there already');
    expect(readFileSync(file!, 'utf8')).toBe('mine');
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  test('backup: a file that comes while it is written stays as it is', async () => {
    const file = join(makeFolder(), 'late');
    const { url, deps } = world;
    const storage = {
      ...deps.storage,
      open: async (key: string) => {
        writeFileSync(file, 'mine');
        return deps.storage.open(key);
      },
    };
    await expect(backUp({ session_url: url, storage, pepper: deps.pepper }, file)).rejects.toThrow(
      'is there already',
    );
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('migrate: the report of an earlier run is replaced, and that of a broken one goes on', async () => {
    const file = join(makeFolder(), 'report.csv');
    const write = async (oldId: string, isResumed: boolean) => {
      const report = openReport(file, { is_resumed: isResumed });
      report.add({ resource: 'leads', old_id: oldId, field: 'x', done: 'y' });
      await report.close();
    };
    await write('1', false);
    await write('2', false);
    await write('3', true);
    expect(readFileSync(file, 'utf8')).toBe(
      'resource,old_id,field,done\nleads,2,x,y\nleads,3,x,y\n',
    );
  });
});
