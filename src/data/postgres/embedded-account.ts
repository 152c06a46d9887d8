import { execFileSync } from 'node:child_process';

/** The user that runs PostgreSQL; empty for the user of this process. */
export interface Account {
  uid?: number;
  gid?: number;
}

/**
 * PostgreSQL refuses to run as root: then the system account "postgres" runs it, created if
 * missing.
 */
export function serviceAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
    return { uid: id('-u'), gid: id('-g') };
  }
}

export function accessHint({ uid }: Account): string {
  if (uid === undefined) return '';
  return (
    'Started as root, PostgreSQL runs as the user "postgres", who must be able to reach this ' +
    'folder and DATA_DIR: move the project out of a private home folder, or start it as ' +
    'another user.'
  );
}
