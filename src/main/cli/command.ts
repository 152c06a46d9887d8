import { InvalidArgumentError, Option } from 'commander';
import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import { collectFromParts } from '../../operate/installation/all-parts';
import { cleanNumberText } from '../../data/phone/number-text';
import { internationalReader } from '../../data/phone/parse-number';
import { loadConfig } from '../config';
import { type Config } from '../../platform/config';
import {
  describeDatabase,
  openDatabaseServer,
  openInstallation,
  type DatabaseServer,
  type Installation,
} from '../../operate/installation/open';

export const json = () => new Option('--json', 'print JSON').default(false);

interface Access {
  /** Makes the database if it is missing, and brings it up to date. */
  makes_database?: boolean;
}

/** Reads the configuration for a command, and prints which database it uses. */
export function commandConfig(): Config {
  const config = { ...loadConfig(), log_level: 'silent' };
  process.stderr.write(`Database: ${describeDatabase(config)}\n`);
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
  asJson: boolean,
  work: (installation: Installation) => Promise<object>,
  access?: Access,
): Promise<void> {
  print(await withInstallation(work, access), asJson);
}

/**
 * Runs a command on the database alone and prints its result: without a pepper, and thus without
 * anything that needs credentials.
 */
export async function runOnDatabase(
  asJson: boolean,
  work: (database: DatabaseServer, config: Config) => Promise<object>,
  { makes_database = false }: Access = {},
): Promise<void> {
  const config = commandConfig();
  const database = await openDatabaseServer(config, { existing: !makes_database });
  try {
    print(await work(database, config), asJson);
  } finally {
    await database.stop();
  }
}

/**
 * Prints a result: as one JSON document, or for people, a record as one line per value and a list
 * as a table.
 */
export function print(result: object, asJson: boolean): void {
  process.stdout.write(asJson ? `${JSON.stringify(result)}\n` : formatLines(result));
}

const COLUMN_WIDTH = 14;

const formatValue = (value: unknown): string => {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
};

function formatLines(result: object): string {
  if (Array.isArray(result)) return formatTable(result as object[]);
  return Object.entries(result)
    .map(([key, value]) => `${key.padEnd(COLUMN_WIDTH)} ${formatValue(value)}\n`)
    .join('');
}

function formatTable([...records]: object[]): string {
  if (records.length === 0) return 'none\n';
  const names = Object.keys(records[0]!);
  const rows = [names, ...records.map((record) => Object.values(record).map(formatValue))];
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
export async function requireCompany(
  { deps }: Installation,
  id: number | undefined,
): Promise<bigint> {
  // Two: enough to see whether there is exactly one.
  const companies = await collectFromParts(deps, ({ prisma }) =>
    prisma.company.findMany({
      where: id === undefined ? {} : { id },
      orderBy: { id: 'asc' },
      take: 2,
      select: { id: true },
    }),
  );
  if (companies.length === 1) return companies[0]!.id;
  if (companies.length > 1)
    throw new Error('There are several companies: name one with --company ID.');
  throw new Error(
    id === undefined
      ? 'There is no company yet. Make one: npx trunkline company create --name NAME'
      : `There is no company ${id}.`,
  );
}

export function parseCountry(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text))
    throw new InvalidArgumentError('must be the two letters of a country, such as US');
  return text.toUpperCase();
}

export function parseCompanyId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('must be the id of a company, such as 1');
  return Number(text);
}

export function parsePhoneNumber(text: string): PhoneNumber {
  const number = internationalReader(cleanNumberText(text))?.(text);
  const parsed = number === undefined ? undefined : parsePhoneNumberFromString(`+${number}`);
  if (!parsed) throw new InvalidArgumentError('must be a telephone number, such as +12135550123');
  return parsed;
}
