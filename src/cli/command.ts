import { InvalidArgumentError, Option } from 'commander';
import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import { fromAllParts } from '../installation/all-parts';
import { loadConfig, type Config } from '../config';
import {
  databaseOf,
  openDatabaseServer,
  openInstallation,
  type DatabaseServer,
  type Installation,
} from '../installation/open';
import { FIND_COMPANIES } from './queries/operator';

export const json = () => new Option('--json', 'print JSON').default(false);

interface Access {
  /** Makes the database if it is missing, and brings it up to date. */
  makes_database?: boolean;
}

/** Reads the configuration for a command, and prints which database it uses. */
export function commandConfig(): Config {
  const config = { ...loadConfig(), log_level: 'silent' };
  process.stderr.write(`Database: ${databaseOf(config)}\n`);
  return config;
}

export async function withInstallation<T>(
  work: (installation: Installation) => Promise<T>,
  { makes_database = false }: Access = {},
): Promise<T> {
  const installation = await openInstallation(commandConfig(), { existing: !makes_database });
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

export async function run(
  as_json: boolean,
  work: (installation: Installation) => Promise<object>,
  access?: Access,
): Promise<void> {
  print(await withInstallation(work, access), as_json);
}

/**
 * Runs a command on the database alone and prints its result: without a pepper, and thus without
 * anything that needs credentials.
 */
export async function runOnDatabase(
  as_json: boolean,
  work: (database: DatabaseServer, config: Config) => Promise<object>,
  { makes_database = false }: Access = {},
): Promise<void> {
  const config = commandConfig();
  const database = await openDatabaseServer(config, { existing: !makes_database });
  try {
    print(await work(database, config), as_json);
  } finally {
    await database.stop();
  }
}

/**
 * Prints a result: as one JSON document, or for people, a record as one line per value and a list
 * as a table.
 */
export function print(result: object, as_json: boolean): void {
  process.stdout.write(as_json ? `${JSON.stringify(result)}\n` : linesOf(result));
}

const COLUMN_WIDTH = 14;

const textOf = (value: unknown): string => {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
};

function linesOf(result: object): string {
  if (Array.isArray(result)) return tableOf(result as object[]);
  return Object.entries(result)
    .map(([key, value]) => `${key.padEnd(COLUMN_WIDTH)} ${textOf(value)}\n`)
    .join('');
}

function tableOf([...records]: object[]): string {
  if (records.length === 0) return 'none\n';
  const names = Object.keys(records[0]!);
  const rows = [names, ...records.map((record) => Object.values(record).map(textOf))];
  const widths = names.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n');
}

/**
 * Returns the company of a command: the given one, or the only one. Throws if there is none, or
 * several.
 */
export async function companyOf({ deps }: Installation, id: number | undefined): Promise<bigint> {
  const companies = await fromAllParts(deps, ({ sql }) => sql(FIND_COMPANIES, { id: id ?? null }));
  if (companies.length === 1) return BigInt(companies[0]!.id);
  if (companies.length > 1)
    throw new Error('There are several companies: name one with --company ID.');
  throw new Error(
    id === undefined
      ? 'There is no company yet. Make one: npx trunkline company create --name NAME'
      : `There is no company ${id}.`,
  );
}

export function country(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text))
    throw new InvalidArgumentError('must be the two letters of a country, such as US');
  return text.toUpperCase();
}

export function companyId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('must be the id of a company, such as 1');
  return Number(text);
}

export function phoneNumber(text: string): PhoneNumber {
  const parsed = parsePhoneNumberFromString(text);
  if (!parsed?.isPossible())
    throw new InvalidArgumentError('must be a telephone number, such as +12135550123');
  return parsed;
}
