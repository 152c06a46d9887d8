import { sql, statement } from '../../../data/sql';

export const READ_SHARED = statement(
  'installation.read_shared',
  sql`SELECT storage_id, settings FROM installations`,
  { prepared: false },
);

export const SAVE_SETTINGS = statement(
  'installation.save_settings',
  sql`UPDATE installations SET settings = {settings}`,
  { prepared: false },
);

export const SAVE_STORAGE = statement(
  'installation.save_storage',
  sql`UPDATE installations SET storage_id = {storage_id}`,
  { prepared: false },
);
