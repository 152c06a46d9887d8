import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../../platform/start-error';
import { accessHint, type Account } from './embedded-account';
import { findBinaries } from './embedded-binaries';

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
