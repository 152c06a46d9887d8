import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { openDirectory } from '../../../src/platform/storage/directory';
import { StorageUnavailable } from '../../../src/platform/storage/storage';
import { acceptStorage, readMark } from '../../../src/operate/installation/storage-mark';
import { buildApp, caller, createWorld, type Api, type World } from '../../support/world';

// The disk of STORAGE_DIR is unmounted for a time, and an empty folder is in its place.

let world: World;
let api: Api;
let deps: World['deps'];
let folder: string;
let away: string;
beforeAll(async () => {
  world = await createWorld();
  const { settings } = world.deps.storage;
  const { sql } = world.deps.database;
  folder = settings.folder;
  away = `${folder}.away`;
  await acceptStorage(sql, world.deps.storage);
  const storage = openDirectory({ ...settings, mark: await readMark(world.deps.storage) });
  deps = Object.assign(world.deps, { storage });
  api = caller(buildApp(deps), world.company.auth);
});
afterAll(() => world.close());

const unmount = () => {
  renameSync(folder, away);
  mkdirSync(folder);
};
const mount = () => {
  rmSync(folder, { recursive: true });
  renameSync(away, folder);
};
const upload = (list: number) =>
  api('post', 'buyer_suppression_files', {
    form: { buyer_suppression_id: String(list), import_file: Buffer.from('phone\n3105550123\n') },
  });

test('uploads and downloads get 503, and nothing is made in its place', async () => {
  const { id: list } = (await api('post', 'buyer_suppressions', { body: { name: 'List' } })).body
    .buyer_suppression;
  const { id, import_file_url } = (await upload(list)).body.buyer_suppression_file;
  const [{ import_file_key }] = (await world.sql(
    'SELECT import_file_key FROM buyer_suppression_files WHERE id = $1',
    [id],
  )) as [{ import_file_key: string }];
  unmount();
  try {
    const answers = [await upload(list), await api('get', import_file_url)];
    const codes = answers.map(({ text, body }) => JSON.parse(text ?? String(body)).code as string);
    expect(answers.map(({ status }, at) => [status, codes[at]])).toEqual(
      Array(2).fill([503, 'storage_unavailable']),
    );
    await expect(deps.storage.remove(import_file_key)).rejects.toThrow(StorageUnavailable);
    // Another process that opens it makes nothing either.
    openDirectory(deps.storage.settings);
    expect(readdirSync(folder)).toEqual([]);
    mount();
    expect((await upload(list)).status).toBe(201);
    expect((await api('get', import_file_url)).status).toBe(200);
  } finally {
    if (existsSync(away)) mount();
  }
});
