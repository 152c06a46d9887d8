import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createDeps, type DepsOptions } from '../../src/operate/installation/deps';
import { type Deps } from '../../src/domain/deps';
import { withSettings } from '../../src/operate/cells/address';
import { TEMPLATE } from './global-setup';

// Where worlds have their data: each has a database of its own, in the PostgreSQL of the run or,
// where a suite wants that, behind a pooler or distributed over a cluster.

type Environment = Record<string, string>;

export interface WorldDatabase {
  /** The database, as the environment of a process names it. */
  environment: Environment;
  open(options: DepsOptions): Promise<OpenDatabase>;
  drop(): Promise<void>;
}

export interface OpenDatabase {
  /** Dependencies of the service. */
  deps: Deps;
  /** Where the tables of a company are. */
  locateCompany(companyId: bigint): Promise<CompanyDatabase>;
  close(): Promise<void>;
}

export interface CompanyDatabase {
  /** Dependencies of work without a request there. */
  deps: Deps;
  /** Tables are found there by their names. */
  url: string;
}

/** The URL of a fresh, migrated, empty database. */
export async function freshDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
  return process.env.TRUNKLINE_TEST_DATABASE!.replace(/\/postgres$/, `/${name}`);
}

/** The URL of a database without any tables. */
export async function emptyDatabase(): Promise<string> {
  const name = `empty_${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name}`);
  return process.env.TRUNKLINE_TEST_DATABASE!.replace(/\/postgres$/, `/${name}`);
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: process.env.TRUNKLINE_TEST_DATABASE! });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

type Through = (url: string, environment: Environment) => Promise<Environment>;

async function oneDatabase(environment: Environment, through: Through): Promise<WorldDatabase> {
  const url = await freshDatabase();
  return {
    environment: await through(url, environment),
    open: async (options) => {
      const deps = createDeps(options);
      return {
        deps,
        locateCompany: async () => ({ deps, url }),
        close: async () => {
          deps.live.close();
          await deps.database.close();
        },
      };
    },
    // A process that was killed may still be connected to it.
    drop: () => onServer(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`),
  };
}

type Make = (environment: Environment) => Promise<WorldDatabase>;
let make: Make = (environment) => oneDatabase(environment, async (url) => ({ DATABASE_URL: url }));

/** The database of a new world, which has these settings. */
export const worldDatabase: Make = (environment) => make(environment);

/** Sets how worlds get their databases from now on. */
export const makeDatabases = (replacement: Make): void => void (make = replacement);

/** From now on worlds reach their databases in this way, such as through a pooler. */
export const reachDatabases = (through: Through): void =>
  makeDatabases((environment) => oneDatabase(environment, through));

/**
 * Runs statements of tests, without any of our code between. A statement that names one of the
 * companies runs where that company is, any other where the first is.
 */
export function rawSql({ locateCompany }: OpenDatabase, companies: readonly bigint[]) {
  const clients = new Map<string, Promise<Client>>();
  const connected = async (url: string) => {
    const client = new Client({ connectionString: withSettings(url, { timezone: 'UTC' }) });
    // Tests break connections, and then need others.
    client.on('error', () => clients.delete(url));
    await client.connect();
    return client;
  };
  return {
    sql: async <Row>(text: string, values: unknown[] = []): Promise<Row[]> => {
      const { url } = await locateCompany(
        companies.find((id) => values.includes(id)) ?? companies[0]!,
      );
      const client = clients.get(url) ?? connected(url);
      clients.set(url, client);
      return (await (await client).query(text, values)).rows as Row[];
    },
    end: async () => {
      for (const client of clients.values()) await (await client).end();
    },
  };
}
