import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyToBucket } from '../../../src/main/cli/storage';
import { loadConfig } from '../../../src/main/config';
import { runCommand } from '../../support/cli';
import { freePort } from '../../support/process';
import { startS3, type S3Server } from '../../support/s3-server';
import { toStorageKey } from '../../support/storage-keys';

// A bucket, as the commands of operators meet it.

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'storage-'));
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'live' });
});
afterAll(() => s3.close());

describe('doctor', () => {
  const readStorageCheck = async (environment: Record<string, string>) => {
    const settings = { DATA_DIR: newFolder(), PORT: String(await freePort()) };
    const { output } = await runCommand(['doctor', '--json'], { ...settings, ...environment });
    return (JSON.parse(output) as { check: string }[]).find(({ check }) => check === 'storage');
  };

  test('says that the bucket can be used', async () => {
    expect(await readStorageCheck(s3.environment)).toEqual({
      check: 'storage',
      ok: true,
      finding: `s3://files-of-tests/live/ at ${s3.url} can be written`,
    });
  });

  test('says what is wrong', async () => {
    expect(await readStorageCheck({ ...s3.environment, S3_BUCKET: 'nowhere' })).toEqual({
      check: 'storage',
      ok: false,
      finding: `S3_BUCKET: ${s3.url} has no bucket "nowhere"; make it, or correct S3_BUCKET.`,
    });
  });
});

describe('storage copy', () => {
  const STORAGE_DIR = newFolder();
  const files = join(STORAGE_DIR, 'files');
  const buildConfig = (folder = STORAGE_DIR, environment = s3.environment) =>
    loadConfig({ STORAGE_DIR: folder, ...environment });
  const names = [1, 2, 3].map(toStorageKey);
  const fourth = toStorageKey(4);
  beforeAll(() => {
    mkdirSync(files);
    names.forEach((name, n) => writeFileSync(join(files, name), 'x'.repeat(n + 1)));
  });

  test('copies each file once, and again when its size differs', async () => {
    const environment = { ...s3.environment, DATA_DIR: newFolder(), STORAGE_DIR };
    const first = await runCommand(['storage', 'copy', '--json'], environment);
    expect({ ...first, output: JSON.parse(first.output) as unknown }).toEqual({
      code: 0,
      errors: '',
      output: {
        from: STORAGE_DIR,
        to: `s3://files-of-tests/live/ at ${s3.url}`,
        copied: 3,
        copied_bytes: 6,
        present: 0,
      },
    });
    expect(await s3.objects()).toEqual(names.map((key) => `live/files/${key}`));
    writeFileSync(join(files, names[2]!), 'longer');
    const oneCopied = { copied: 1, copied_bytes: 6, present: 2 };
    expect(await copyToBucket(buildConfig())).toMatchObject(oneCopied);
    const nothing = { copied: 0, copied_bytes: 0, present: 3 };
    expect(await copyToBucket(buildConfig(newFolder()), STORAGE_DIR)).toMatchObject(nothing);
    expect(readdirSync(files).toSorted()).toEqual(names);
  });

  test('ends with an error when less arrived than was sent', async () => {
    writeFileSync(join(files, fourth), 'four');
    s3.hook = (req, res) => {
      if (req.method !== 'PUT' || !req.url!.includes(fourth)) return false;
      req.resume();
      res.writeHead(200, { ETag: '"x"' }).end();
      return true;
    };
    const copying = copyToBucket(buildConfig());
    await expect(copying).rejects.toThrow(
      `${fourth} has no bytes after it was copied, instead of 4.`,
    );
    s3.hook = () => false;
    rmSync(join(files, fourth));
  });

  test('says what is missing', async () => {
    await expect(copyToBucket(buildConfig(STORAGE_DIR, {}))).rejects.toThrow(
      'S3_BUCKET: it must be given, to say where to copy to.',
    );
    const empty = newFolder();
    await expect(copyToBucket(buildConfig(), empty)).rejects.toThrow(
      `--from: ${empty} is no folder of uploaded files: it has no folder "files".`,
    );
  });
});
