import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { deleteOrphanedUploads } from '../../../src/main/background/delete-expired';
import { eventually } from '../../support/engine-process';
import { finished, loadNumbers, buildSuppressionRequests } from '../../support/imports';
import { startS3, type S3Server } from '../../support/s3-server';
import { createWorld, type World } from '../../support/world';

// The service with its files in a bucket. tests/system/crash/imports.test.ts takes it from imports.

let s3: S3Server;
let world: World;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'trunkline' });
  world = await createWorld({ environment: s3.environment });
});
beforeEach(() => {
  s3.hook = () => false;
  s3.forget();
});
afterAll(async () => {
  await world.close();
  await s3.close();
});

const { api, create, upload } = buildSuppressionRequests(() => world);
const CSV = 'phone\n3105550123\n2125550145\n';
const incoming = () => readdirSync(join(world.deps.config.storage_dir, 'incoming'));
const newFile = async (content: string, list?: number) => {
  const fields: Record<string, string> = list ? { buyer_suppression_id: String(list) } : {};
  const res = await upload('buyer_suppression_files', content, fields);
  expect(res.status).toBe(201);
  return res.body.buyer_suppression_file as { id: number; import_file_url: string };
};
const path = (file: { id: number }) => `buyer_suppression_files/${file.id}`;
/** The next request with this method is held until `go`; then the client has to try again. */
function hold(method: string) {
  let go!: () => void;
  const came = new Promise<void>((arrived) => {
    s3.hook = (req, res) => {
      if (req.method !== method) return false;
      s3.hook = () => false;
      go = () => res.destroy();
      arrived();
      return true;
    };
  });
  return { came, go: () => go() };
}

test('a file is uploaded, downloaded, imported, replaced, and gone with its list', async () => {
  const list = await create();
  const file = await newFile(CSV, list.id);
  expect(await s3.objects()).toHaveLength(1);
  const download = await api('get', file.import_file_url);
  expect([download.status, download.headers['content-length'], String(download.body)]).toEqual([
    200,
    String(CSV.length),
    CSV,
  ]);
  const head = await api('head', file.import_file_url);
  expect([head.status, head.headers['content-length']]).toEqual([200, String(CSV.length)]);
  const working = await world.work();
  expect(await finished(api, path(file))).toMatchObject({ status: 'succeeded', added_count: 2 });
  expect(await loadNumbers(api, list.id)).toHaveLength(2);

  const replaced = await api('put', path(file), {
    form: { import_file: Buffer.from('phone\n6175550144\n') },
  });
  expect(replaced.status).toBe(200);
  expect(await finished(api, path(file))).toMatchObject({ status: 'succeeded', added_count: 1 });
  expect(await s3.objects()).toHaveLength(2);
  await deleteOrphanedUploads(world.deps, -60_000);
  expect(await s3.objects()).toHaveLength(1);
  expect(String((await api('get', file.import_file_url)).body)).toBe('phone\n6175550144\n');

  expect((await api('delete', `buyer_suppressions/${list.id}`)).status).toBe(200);
  await eventually(async () => (await s3.objects()).length === 0);
  await working.stop();
  expect(incoming()).toEqual([]);
});

test('a request that is refused, or was answered before, leaves nothing in the bucket', async () => {
  const before = await s3.objects();
  expect(
    (await upload('buyer_suppression_files', CSV, { buyer_suppression_id: '999999' })).status,
  ).toBe(422);
  expect(await s3.objects()).toEqual(before);
  const file = await newFile('phone\n');
  const stale = await api('put', path(file), {
    form: { import_file: Buffer.from(CSV) },
    headers: { 'If-Match': '"0"' },
  });
  expect(stale.status).toBe(412);
  const send = () =>
    api('post', 'buyer_suppression_files', {
      form: { import_file: Buffer.from(CSV) },
      headers: { 'Idempotency-Key': 'one' },
    });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.headers['idempotent-replayed']]).toEqual([201, 'true']);
  await eventually(async () => (await s3.objects()).length === before.length + 2);
});

test('no transaction is open while a file is sent to the bucket', async () => {
  const { came, go } = hold('PUT');
  const sending = api('post', 'buyer_suppression_files', {
    form: { import_file: Buffer.from(CSV) },
    headers: { 'Idempotency-Key': 'held' },
  });
  await came;
  const open = await world.sql(
    `SELECT state, query FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
  );
  go();
  expect(open).toEqual([]);
  expect((await sending).status).toBe(201);
});

describe('while the bucket is down', () => {
  let file: { id: number; import_file_url: string };
  beforeAll(async () => {
    file = await newFile(CSV);
    await s3.stop();
  });
  afterAll(() => s3.start());

  test('uploads get 503 with Retry-After, and leave no record and no file', async () => {
    const count = async () =>
      (await api('get', 'buyer_suppression_files')).body.metadata.total_count as number;
    const before = await count();
    const res = await upload('buyer_suppression_files', CSV);
    expect([res.status, res.body.code, res.headers['retry-after']]).toEqual([
      503,
      'storage_unavailable',
      '5',
    ]);
    expect([await count(), incoming()]).toEqual([before, []]);
  });

  test('downloads get 503 with Retry-After, and everything else goes on', async () => {
    const res = await api('get', file.import_file_url);
    const { code } = JSON.parse(res.text ?? String(res.body)) as { code: string };
    expect([res.status, code, res.headers['retry-after']]).toEqual([
      503,
      'storage_unavailable',
      '5',
    ]);
    expect((await api('get', path(file))).status).toBe(200);
  });
});

test('a file that is gone from the bucket fails its import with a message', async () => {
  const list = await create();
  const file = await newFile(CSV, list.id);
  const [{ import_file_key }] = (await world.sql(
    'SELECT import_file_key FROM buyer_suppression_files WHERE id = $1',
    [file.id],
  )) as [{ import_file_key: string }];
  await world.deps.storage.remove(import_file_key);
  const working = await world.work();
  const record = await finished(api, path(file));
  expect([record.status, record.error_message]).toEqual([
    'failed',
    'The uploaded file is not in the storage of this server any more. Send it again.',
  ]);
  await working.stop();
});
