import type { Config } from '../config';
import { startEmbedded, type EmbeddedDatabase } from '../db/embedded-postgres';
import { migrate } from '../db/migrate';
import { createDeps, type Deps, type DepsOptions } from '../deps';
import { prepareQueue } from '../jobs/queue';

/** A database that is up and migrated, and everything that stands on it. */
export interface Installation {
  deps: Deps;
  /** Names of the migrations that were applied just now. */
  migrated: string[];
  /** The PostgreSQL this product runs itself; absent when DATABASE_URL names another. */
  embedded: EmbeddedDatabase | undefined;
  close(): Promise<void>;
}

/** Brings the installation up: its own PostgreSQL unless DATABASE_URL is set, migrations, dependencies. */
export async function openInstallation(
  config: Config,
  role: 'server' | 'command',
  options: Partial<DepsOptions> = {},
): Promise<Installation> {
  const embedded = config.database_url
    ? undefined
    : await startEmbedded({ dataDir: config.data_dir, role });
  const database_url = config.database_url ?? embedded!.url;
  // Parallel starts take turns with the queue too: it would be made twice at the same time.
  const migrated = await migrate(database_url, () => prepareQueue(database_url)).catch(
    async (error: unknown) => {
      await embedded?.stop();
      throw error;
    },
  );
  const deps = createDeps({ config, database_url, ...options });
  return {
    deps,
    migrated,
    embedded,
    close: async () => {
      deps.mailer.close();
      await deps.request.close();
      await deps.limits.close();
      await deps.database.close();
      await embedded?.stop();
    },
  };
}
