import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../config';
import { type Config } from '../../platform/config';
import { openConfiguredStorage, storageSettings } from '../../operate/installation/deps';
import { StartError } from '../../platform/start-error';
import { openDirectory, type Directory } from '../../platform/storage/directory';
import { describeStorage } from '../../platform/storage/open';
import type { Storage } from '../../platform/storage/storage';
import { json, print } from './command';

export function addStorageCommands(program: Command): void {
  program
    .command('storage')
    .description('the storage of uploaded files')
    .command('copy')
    .description(
      'copy the files of a folder into the bucket that is configured; those that are there ' +
        'already are left out, and the folder stays as it is',
    )
    .option('--from <folder>', 'a folder that was STORAGE_DIR; without it, STORAGE_DIR')
    .addOption(json())
    .action(async ({ from, json: asJson }) =>
      print(await copyToBucket(loadConfig(), from), asJson),
    );
}

/** `from` is the given folder; without it, STORAGE_DIR. */
export async function copyToBucket(config: Config, from?: string): Promise<object> {
  if (!config.s3) throw new StartError('S3_BUCKET: it must be given, to say where to copy to.');
  const folder = resolve(from ?? config.storage_dir);
  if (!existsSync(join(folder, 'files')))
    throw new StartError(
      `${from === undefined ? 'STORAGE_DIR' : '--from'}: ${folder} is no folder of uploaded ` +
        'files: it has no folder "files".',
    );
  const to = openConfiguredStorage(config);
  await to.check();
  const directory = openDirectory({ folder, reserve_bytes: 0 });
  const { copied, copied_bytes, present } = await copyFiles(directory, to);
  return {
    from: folder,
    to: describeStorage(storageSettings(config)),
    copied,
    copied_bytes,
    present,
  };
}

const MAX_CONCURRENT = 4;

interface CopyCounts {
  /** Files copied by this call, and their bytes. */
  copied: number;
  copied_bytes: number;
  present: number;
}

/**
 * Copies the files of a folder that another storage does not have, or has with another size, and
 * compares the sizes afterwards. Deletes nothing. Throws when a size differs.
 */
async function copyFiles(from: Directory, to: Storage): Promise<CopyCounts> {
  const done: CopyCounts = { copied: 0, copied_bytes: 0, present: 0 };
  // Negative, to include a file that is being stored now.
  for await (const keys of from.keysOlderThan(-60_000))
    for (let at = 0; at < keys.length; at += MAX_CONCURRENT)
      await Promise.all(
        keys.slice(at, at + MAX_CONCURRENT).map((key) => copyFile(from, to, key, done)),
      );
  return done;
}

async function copyFile(
  from: Directory,
  to: Storage,
  key: string,
  done: CopyCounts,
): Promise<void> {
  const bytes = await from.readSize(key);
  // The file was removed in the meantime.
  if (bytes === undefined) return;
  if ((await to.readSize(key)) === bytes) return void done.present++;
  await to.keep(from.path(key), key);
  const storedBytes = await to.readSize(key);
  if (storedBytes !== bytes)
    throw new Error(
      `${key} has ${storedBytes ?? 'no'} bytes after it was copied, instead of ${bytes}.`,
    );
  done.copied++;
  done.copied_bytes += bytes;
}
