import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config';
import type { Sql } from '../db/sql';
import { digestOf } from '../http/auth/credentials';
import { folderFault, StartError } from '../start-error';
import { writeNewFileSync } from '../storage/new-file';
import { CLAIM_PEPPER, COUNT_CREDENTIALS, PEPPER_STATE, REPLACE_PEPPER } from './queries/pepper';

// The pepper of an installation is not in its database, only its digest. A process whose pepper has
// another digest would refuse every credential, so it does not start.

type Source = Pick<Config, 'key_pepper' | 'data_dir'>;

const MIN_LENGTH = 32;

export class WrongPepper extends StartError {
  constructor(source: Source) {
    const file = fileOf(source);
    const found = source.key_pepper || existsSync(file);
    const given = source.key_pepper ? 'KEY_PEPPER' : file;
    super(
      (found
        ? `The credentials in this database were made with another pepper than that of ${given}`
        : `The credentials in this database were made with a pepper that is missing in ${file}`) +
        ': set KEY_PEPPER to the right one or put its file back; if it is lost for good, run ' +
        '"npx trunkline pepper replace" and make new credentials.',
    );
  }
}

/**
 * Returns the pepper of the installation. On a new database it is made if none is configured, and
 * its digest is recorded; an older database without a digest takes the configured one. Call it in
 * one process at a time, under the lock of migrations.
 */
export async function claimPepper(sql: Sql, source: Source): Promise<string> {
  const found = configuredPepper(source);
  const [state] = await sql(PEPPER_STATE, {});
  const { pepper_check, has_credentials } = state!;
  if (found === undefined && (pepper_check || has_credentials)) throw new WrongPepper(source);
  const pepper = found ?? makePepper(source.data_dir);
  const digest = checkOf(pepper);
  if (!pepper_check) await sql(CLAIM_PEPPER, { pepper_check: digest });
  else if (!digest.equals(pepper_check)) throw new WrongPepper(source);
  return pepper;
}

/** Compares the configured pepper with that of the database; undefined if nothing was made yet. */
export async function pepperMatches(sql: Sql, source: Source): Promise<boolean | undefined> {
  const pepper = configuredPepper(source);
  const [state] = await sql(PEPPER_STATE, {});
  const { pepper_check, has_credentials } = state!;
  if (pepper_check) return pepper !== undefined && checkOf(pepper).equals(pepper_check);
  return has_credentials ? pepper !== undefined : undefined;
}

/**
 * Makes the configured pepper, or a new one, that of the database. Returns how many credentials
 * become invalid.
 */
export async function replacePepper(sql: Sql, source: Source): Promise<{ invalid: number }> {
  const invalid = (await pepperMatches(sql, source)) ? 0 : await countCredentials(sql);
  const pepper = configuredPepper(source) ?? makePepper(source.data_dir);
  await sql(REPLACE_PEPPER, { pepper_check: checkOf(pepper) });
  return { invalid };
}

const countCredentials = async (sql: Sql) => (await sql(COUNT_CREDENTIALS, {}))[0]!.credentials;

const checkOf = (pepper: string): Buffer => digestOf(pepper, 'the pepper of this installation');

const fileOf = ({ data_dir }: Pick<Source, 'data_dir'>) => join(resolve(data_dir), 'key_pepper');

/** The pepper from KEY_PEPPER, or from its file in DATA_DIR. */
function configuredPepper({ key_pepper, data_dir }: Source): string | undefined {
  if (key_pepper !== undefined) return key_pepper;
  const file = fileOf({ data_dir });
  try {
    if (!existsSync(file)) return undefined;
    const pepper = readFileSync(file, 'utf8').trim();
    if (pepper.length >= MIN_LENGTH) return pepper;
  } catch (error) {
    throw folderFault('DATA_DIR', data_dir, error);
  }
  throw new StartError(`${file} is damaged: it must have at least ${MIN_LENGTH} characters.`);
}

/** Keeps the pepper of a backup for this installation. Throws if it has another one. */
export function keepPepper(pepper: string, source: Source): void {
  const found = configuredPepper(source) ?? makePepper(source.data_dir, pepper);
  if (found !== pepper)
    throw new StartError(
      `The backup was made with another pepper than that of ` +
        `${source.key_pepper ? 'KEY_PEPPER' : fileOf(source)}: remove that one, or give the right one.`,
    );
}

/** Makes the file of a pepper. It appears as a whole, because another process may look for it. */
function makePepper(data_dir: string, pepper = randomBytes(32).toString('hex')): string {
  const file = fileOf({ data_dir });
  const draft = `${file}.${randomUUID()}`;
  try {
    mkdirSync(data_dir, { recursive: true });
    writeNewFileSync(draft, pepper);
    linkSync(draft, file);
    return pepper;
  } catch (error) {
    // Another process was first, for another database: its pepper counts.
    if (existsSync(file)) return configuredPepper({ key_pepper: undefined, data_dir })!;
    throw folderFault('DATA_DIR', data_dir, error);
  } finally {
    rmSync(draft, { force: true });
  }
}
