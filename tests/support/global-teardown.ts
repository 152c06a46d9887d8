import { rmSync } from 'node:fs';
import { dropDatabasesOfRun, missingCluster } from './citus';

export default async function globalTeardown(): Promise<void> {
  if (!missingCluster()) await dropDatabasesOfRun();
  const { database, folder } = globalThis.started;
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}
