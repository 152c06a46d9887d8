import { rmSync } from 'node:fs';

export default async function globalTeardown(): Promise<void> {
  const { database, folder } = globalThis.started;
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
}
