import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { contract, facets } from '../../../src/platform/contract/contract';
import { openDirectory } from '../../../src/platform/storage/directory';
import { deleteOrphanedUploads } from '../../../src/main/background/delete-expired';
import { useWorld } from '../../support/use-world';
import { buildApp, basic, caller } from '../../support/world';
import { toStorageKey } from '../../support/storage-keys';
import { eventually } from '../../support/engine-process';

const world = useWorld({ environment: { MAX_UPLOAD_BYTES: '2000000' } });
const { api } = world;

const folder = (name: 'incoming' | 'files') => join(world.deps.config.storage_dir, name);
const incoming = () => readdirSync(folder('incoming'));
const listStoredFiles = () => readdirSync(folder('files'));
const CSV = Buffer.from('phone\n3105550123\n');
const ZIPS = Buffer.from('zip\n90001\n');
const pickFile = (id: string) => (id.endsWith('ZipList') ? ZIPS : CSV);
const uploads = contract.operations
  .filter(({ multipart }) => multipart && 'import_file' in facets(multipart).properties)
  .map((operation) => [operation.id, operation] as const);
let lists = 0;
const buildFields = (id: string): Record<string, string> => {
  if (/^create(Value|Zip)List$/.test(id)) return { name: `list ${(lists += 1)}` };
  return id === 'createBuyerSuppression' ? { name: 'x' } : {};
};
/** Files of numbers, value lists and ZIP lists are read at once, and not kept. */
const isKept = (id: string) => !/(Value|Zip)List$|^importPhoneNumbers$/.test(id);

/** The record that an operation changes with its file. */
function pickOwner(id: string): { resource: string; body: object } {
  if (isKept(id)) return { resource: 'buyer_suppression_files', body: {} };
  return id.endsWith('ZipList')
    ? { resource: 'zip_lists', body: { name: id, values: ['90002'] } }
    : { resource: 'value_lists', body: { name: id, values: ['3105550124'] } };
}

test('twelve operations take a file', () => {
  expect(uploads.map(([id]) => id).sort()).toEqual([
    'addToValueList',
    'addToZipList',
    'createBuyerSuppression',
    'createBuyerSuppressionFile',
    'createValueList',
    'createZipList',
    'importPhoneNumbers',
    'removeFromValueList',
    'removeFromZipList',
    'updateBuyerSuppressionFile',
    'updateValueList',
    'updateZipList',
  ]);
});

describe.each(uploads)('an upload to %s', (id, operation) => {
  let path: string;
  beforeAll(async () => {
    const { resource, body } = pickOwner(id);
    const response = await api('post', resource, { body });
    const record = response.body[response.body.metadata.root] as { id: number };
    path = operation.path.replace('{id}', String(record.id));
  });
  const send = (importFile: Buffer, more: object = {}, api = world.company.api) =>
    api(operation.method, path, { form: { ...buildFields(id), import_file: importFile }, ...more });

  test('is stored once if it is kept, and nothing stays in the folder for incoming files', async () => {
    const before = listStoredFiles().length;
    expect((await send(pickFile(id))).status).toBe(operation.status);
    await eventually(() => incoming().length === 0);
    expect(listStoredFiles()).toHaveLength(before + (isKept(id) ? 1 : 0));
  });

  test.each<[string, number, () => Promise<{ status: number; text: string }>]>([
    ['without credentials', 401, () => send(CSV, { auth: null })],
    [
      'without its permission',
      403,
      async () => send(CSV, { auth: await world.credentials(world.company, ['buyers:read']) }),
    ],
    [
      'with a field there is not',
      422,
      () => send(CSV, { form: { ...buildFields(id), nonsense: '1', import_file: CSV } }),
    ],
    [
      'with a list whose index is huge',
      413,
      () => send(CSV, { form: { ...buildFields(id), 'headers[99999999]': 'x', import_file: CSV } }),
    ],
    [
      'as a text instead of a file',
      422,
      () => send(CSV, { form: { ...buildFields(id), import_file: 'phone' } }),
    ],
    [
      'with a second file',
      422,
      () => send(CSV, { form: { ...buildFields(id), import_file: CSV, second: CSV } }),
    ],
    ['that is empty', 422, () => send(Buffer.alloc(0))],
    [
      'that is a ZIP archive',
      422,
      () => send(Buffer.from('504b0304aaaaaaaa', 'hex'), { file_name: 'numbers.csv' }),
    ],
    ['that is an image', 422, () => send(Buffer.from('89504e470d0a1a0a', 'hex'))],
    ['that is too large', 413, () => send(Buffer.alloc(2_000_001, 'x'))],
    [
      'of a form that is cut off',
      400,
      () =>
        send(CSV, {
          form: undefined,
          body:
            '--x\r\nContent-Disposition: form-data; name="import_file"; filename="a.csv"' +
            '\r\n\r\nphone',
          headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        }),
    ],
    [
      'without a boundary',
      400,
      () =>
        send(CSV, {
          form: undefined,
          body: 'x',
          headers: { 'Content-Type': 'multipart/form-data' },
        }),
    ],
    [
      'where there is no room',
      507,
      () =>
        send(
          CSV,
          {},
          caller(
            buildApp({
              ...world.deps,
              storage: openDirectory({
                folder: world.deps.config.storage_dir,
                reserve_bytes: 1e15,
              }),
            }),
            world.company.auth,
          ),
        ),
    ],
  ])('%s is refused with %i, and leaves no file', async (_, status, attempt) => {
    const before = listStoredFiles().length;
    const res = await attempt();
    expect([res.status, incoming(), listStoredFiles().length]).toEqual([status, [], before]);
    if (status === 422) expect(Object.keys(JSON.parse(res.text).errors)).toHaveLength(1);
  });

  test('whose handler fails gets 500, and leaves no incoming file', async () => {
    const fail = () => {
      throw new Error('fault');
    };
    const tenants = { of: fail, ofRequest: fail };
    expect(
      (await send(CSV, {}, caller(buildApp({ ...world.deps, tenants }), world.company.auth)))
        .status,
    ).toBe(500);
    expect(incoming()).toEqual([]);
  });
});

test('a file in a JSON body is refused with how to send it', async () => {
  const res = await api('post', 'buyer_suppression_files', {
    body: { import_file: 'phone' },
  });
  expect(res.body.errors).toEqual({
    import_file: ['must be sent as a file, in a body of multipart/form-data'],
  });
});

test('an operation without files refuses a form that has one', async () => {
  const res = await api('post', 'buyers', { form: { name: 'x', import_file: CSV } });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['import_file']]);
  expect(incoming()).toEqual([]);
});

test('a form without a chosen file, as browsers send it, is accepted', async () => {
  const res = await api('post', 'buyer_suppression_files', {
    form: { name: 'x', import_file: '' },
  });
  expect([res.status, res.body.buyer_suppression_file.import_file_url]).toEqual([201, null]);
});

test('a repeated upload has one effect; another file with its key is refused', async () => {
  const send = (importFile: Buffer) =>
    api('post', 'buyer_suppression_files', {
      form: { import_file: importFile },
      headers: { 'Idempotency-Key': 'upload' },
    });
  const before = listStoredFiles().length;
  const [first, second, third] = [
    await send(CSV),
    await send(CSV),
    await send(Buffer.from('phone\n2125550145\n')),
  ];
  expect([second.status, second.headers['idempotent-replayed'], second.body]).toEqual([
    201,
    'true',
    first.body,
  ]);
  expect([third.status, Object.keys(third.body.errors)]).toEqual([422, ['Idempotency-Key']]);
  await eventually(() => incoming().length === 0);
  expect(listStoredFiles()).toHaveLength(before + 1);
});

test('an upload that the client aborts leaves nothing', async () => {
  const server = buildApp(world.deps).listen(0) as Server;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    [
      'POST /api/v1/buyer_suppression_files HTTP/1.1',
      'Host: x',
      `Authorization: ${basic(world.company.auth)}`,
      'Content-Length: 1000000',
      'Content-Type: multipart/form-data; boundary=x',
      '',
      '--x',
      'Content-Disposition: form-data; name="import_file"; filename="a.csv"',
      '',
      'phone',
      '3105550123',
      '',
    ].join('\r\n'),
  );
  await eventually(() => incoming().length > 0);
  socket.destroy();
  await eventually(() => incoming().length === 0);
  server.close();
});

test('housekeeping removes the files that no record refers to, and no others', async () => {
  const res = await api('post', 'buyer_suppression_files', {
    form: { import_file: CSV },
  });
  const orphan = toStorageKey(1);
  writeFileSync(join(folder('files'), orphan), 'x');
  writeFileSync(join(folder('incoming'), 'left'), 'x');
  await deleteOrphanedUploads(world.deps);
  expect([listStoredFiles().includes(orphan), incoming()]).toEqual([true, ['left']]);
  await deleteOrphanedUploads(world.deps, -1_000);
  expect([listStoredFiles().includes(orphan), incoming()]).toEqual([false, []]);
  expect(
    (await api('get', res.body.buyer_suppression_file.import_file_url)).text ?? '',
  ).toBeDefined();
  expect((await api('get', res.body.buyer_suppression_file.import_file_url)).status).toBe(200);
});

const SMALL_DISK = join(process.env.TRUNKLINE_TEST_FOLDER!, 'small-disk');
mkdirSync(SMALL_DISK, { recursive: true });
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', SMALL_DISK]).status === 0;
if (!mounted)
  process.stdout.write(
    '\nSKIPPED: the test of a full disk mounts a small one, and this account may not\n',
  );
afterAll(() => void (mounted && spawnSync('umount', [SMALL_DISK])));

(mounted ? test : test.skip)(
  'a disk that fills up while a file arrives: 507, nothing stored, and the service continues',
  async () => {
    const storage = {
      ...openDirectory({ folder: SMALL_DISK, reserve_bytes: 0 }),
      hasRoomFor: () => Promise.resolve(true),
    };
    const full = caller(buildApp({ ...world.deps, storage }), world.company.auth);
    for (let round = 0; round < 3; round++) {
      const res = await full('post', 'buyer_suppression_files', {
        form: { import_file: Buffer.alloc(1_000_000, 'x') },
      });
      expect([res.status, readdirSync(join(SMALL_DISK, 'incoming'))]).toEqual([507, []]);
    }
    const small = await full('post', 'buyer_suppression_files', { form: { import_file: CSV } });
    expect([
      small.status,
      (await full('get', small.body.buyer_suppression_file.import_file_url)).status,
    ]).toEqual([201, 200]);
  },
);
