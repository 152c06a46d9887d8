import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../platform/config';
import type { Sql } from '../../data/sql';
import { digestSecret } from '../../api/auth/credentials';
import { folderFault, StartError } from '../../platform/start-error';
import { writeNewFileSync } from '../../platform/storage/new-file';
import { CLAIM_PEPPER, COUNT_CREDENTIALS, PEPPER_STATE, REPLACE_PEPPER } from './queries/pepper';

// The pepper of an installation is not in its database, only its digest. A process whose pepper has
// another digest would refuse every credential, so it does not start.

type Source = Pick<Config, 'key_pepper' | 'data_dir'>;

const MIN_LENGTH = 32;

export class WrongPepper extends StartError {
  constructor(source: Source) {
    const file = buildPepperPath(source);
    const isConfigured = source.key_pepper || existsSync(file);
    const sourceName = source.key_pepper ? 'KEY_PEPPER' : file;
    super(
      (isConfigured
        ? 'The credentials in this database were made with another pepper than that of ' +
          sourceName
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
  const existingPepper = configuredPepper(source);
  const [state] = await sql(PEPPER_STATE, {});
  const { pepper_check, has_credentials } = state!;
  if (existingPepper === undefined && (pepper_check || has_credentials))
    throw new WrongPepper(source);
  const pepper = existingPepper ?? makePepper(source.data_dir);
  const digest = digestPepper(pepper);
  if (!pepper_check) await sql(CLAIM_PEPPER, { pepper_check: digest });
  else if (!digest.equals(pepper_check)) throw new WrongPepper(source);
  return pepper;
}

/** Compares the configured pepper with that of the database; undefined if nothing was made yet. */
export async function pepperMatches(sql: Sql, source: Source): Promise<boolean | undefined> {
  const pepper = configuredPepper(source);
  const [state] = await sql(PEPPER_STATE, {});
  const { pepper_check, has_credentials } = state!;
  if (pepper_check) return pepper !== undefined && digestPepper(pepper).equals(pepper_check);
  return has_credentials ? pepper !== undefined : undefined;
}

/**
 * Makes the configured pepper, or a new one, that of the database. Returns how many credentials
 * become invalid.
 */
export async function replacePepper(sql: Sql, source: Source): Promise<{ invalid: number }> {
  const invalid = (await pepperMatches(sql, source)) ? 0 : await countCredentials(sql);
  const pepper = configuredPepper(source) ?? makePepper(source.data_dir);
  await sql(REPLACE_PEPPER, { pepper_check: digestPepper(pepper) });
  return { invalid };
}

const countCredentials = async (sql: Sql) => (await sql(COUNT_CREDENTIALS, {}))[0]!.credentials;

const digestPepper = (pepper: string): Buffer =>
  digestSecret(pepper, 'the pepper of this installation');

const buildPepperPath = ({ data_dir }: Pick<Source, 'data_dir'>) =>
  join(resolve(data_dir), 'key_pepper');

/** The pepper from KEY_PEPPER, or from its file in DATA_DIR. */
function configuredPepper({ key_pepper, data_dir }: Source): string | undefined {
  if (key_pepper !== undefined) return key_pepper;
  const file = buildPepperPath({ data_dir });
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
  const ownPepper = configuredPepper(source) ?? makePepper(source.data_dir, pepper);
  if (ownPepper !== pepper)
    throw new StartError(
      `The backup was made with another pepper than that of ` +
        `${source.key_pepper ? 'KEY_PEPPER' : buildPepperPath(source)}: ` +
        'remove that one, or give the right one.',
    );
}

/** Makes the file of a pepper. It appears as a whole, because another process may look for it. */
function makePepper(dataDir: string, pepper = randomBytes(32).toString('hex')): string {
  const file = buildPepperPath({ data_dir: dataDir });
  const draft = `${file}.${randomUUID()}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    writeNewFileSync(draft, pepper);
    linkSync(draft, file);
    return pepper;
  } catch (error) {
    // Another process was first, for another database: its pepper counts.
    if (existsSync(file)) return configuredPepper({ key_pepper: undefined, data_dir: dataDir })!;
    throw folderFault('DATA_DIR', dataDir, error);
  } finally {
    rmSync(draft, { force: true });
  }
}
