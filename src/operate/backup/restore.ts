import type { Client } from 'pg';
import { HostsClient } from '../../data/postgres/hosts-client';
import { migrateTo, migrationNames } from '../../data/postgres/migrate';
import { sqlOn } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import { prepareQueue } from '../../data/jobs/queue';
import { StartError } from '../../platform/start-error';
import { readArchive, type Entry } from './archive';
import { listMigrations } from './list-migrations';
import { loadAll, type Target } from './load-entries';
import type { Manifest } from './manifest';
import { matchSchema } from './match-schema';
import { HAS_TABLES, IS_USED, LOCK_RESTORE } from './queries/load';
import { readManifest } from './read-manifest';

/** Advisory lock of the session that restores. */
const LOCK = 7_481_204;

export interface RestoreResult {
  taken_at: string;
  /** Version of Trunkline that made the backup. */
  version: string;
  rows: number;
  files: number;
}

/**
 * Restores a backup into an empty database, with the migrations that it had, all or nothing. The
 * caller applies newer migrations. May be repeated until it succeeds.
 */
export async function restore(file: string, target: Target): Promise<RestoreResult> {
  const entries = readArchive(file);
  try {
    return await restoreEntries(file, target, entries);
  } finally {
    await entries.return(undefined);
  }
}

async function restoreEntries(
  file: string,
  target: Target,
  entries: AsyncGenerator<Entry>,
): Promise<RestoreResult> {
  const manifest = await readManifest((await entries.next()).value as Entry | undefined, file);
  const newer = manifest.migrations.filter((name) => !migrationNames().includes(name));
  if (newer.length > 0)
    throw new StartError(
      `${file} was made by another version of Trunkline, ${manifest.version}: restore it with ` +
        'that one.',
    );
  const client = new HostsClient({
    connectionString: target.session_url,
    options: '-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
  });
  return withClient(client, async () => {
    await requireEmpty(client, manifest);
    const { migrations } = manifest;
    await migrateTo(
      target.session_url,
      migrationNames().filter((name) => migrations.includes(name)),
    );
    await prepareQueue(target.session_url);
    const schema = await matchSchema(sqlOn(client), manifest, file);
    await client.query('BEGIN');
    const totals = await loadAll({ client, schema, target, file }, entries);
    await client.query('COMMIT');
    const rows = Object.values(totals.rows).reduce((sum, count) => sum + count, 0);
    const { taken_at, version } = manifest;
    return { taken_at, version, rows, files: totals.files };
  });
}

/**
 * Throws unless the database has no tables, or only those of an earlier attempt to restore the
 * backup.
 */
async function requireEmpty(client: Client, { migrations }: Manifest): Promise<void> {
  const sql = sqlOn(client);
  const [{ is_first } = { is_first: false }] = await sql(LOCK_RESTORE, { lock: LOCK });
  if (!is_first)
    throw new StartError('Another restore into this database runs: wait until it has ended.');
  const [tables] = await sql(HAS_TABLES, {});
  if (!tables!.has_any) return;
  if (tables!.has_ours) {
    const [{ is_used } = { is_used: true }] = await sql(IS_USED, {});
    const otherMigrations = (await listMigrations(sql)).filter(
      (name) => !migrations.includes(name),
    );
    if (!is_used && otherMigrations.length === 0) return;
  }
  throw new StartError(
    'The database is not empty: restore into another one, by DATABASE_URL or DATA_DIR.',
  );
}
