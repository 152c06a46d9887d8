import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { StartError } from '../../platform/start-error';

/**
 * Makes the password of a database that does not exist yet. The file appears as a whole, so
 * parallel starts that make the database use the same password.
 */
export function makePassword(file: string): void {
  // An interrupted start leaves a blank file.
  if (readText(file) === '') rmSync(file, { force: true });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(24).toString('hex'), { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function readPassword(file: string): string {
  const text = readText(file);
  if (text) return text;
  throw new StartError(
    `${file} is missing or empty: put it back from a copy of its folder. It has the password of ` +
      'the database in the folder postgres beside it.',
  );
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
