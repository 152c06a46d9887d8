import { openDirectory } from './directory';
import { openS3 } from './s3';
import type { Storage, StorageSettings } from './storage';

/**
 * Opens the storage of files. Throws if this user may not write in its folder. Does not contact the
 * bucket: that is done by `check`.
 */
export const openStorage = (settings: StorageSettings): Storage =>
  settings.s3 ? openS3(settings, settings.s3) : openDirectory(settings);

export function describeStorage({ folder, s3 }: StorageSettings): string {
  if (!s3) return folder;
  return `s3://${s3.bucket}/${s3.prefix}${s3.endpoint === undefined ? '' : ` at ${s3.endpoint}`}`;
}
