import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../config';
import { type Config } from '../../platform/config';
import { openConfiguredStorage, storageSettings } from '../../operate/installation/deps';
import { StartError } from '../../platform/start-error';
import { copyFiles } from '../../platform/storage/copy';
import { openDirectory } from '../../platform/storage/directory';
import { describeStorage } from '../../platform/storage/open';
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
