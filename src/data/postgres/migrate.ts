import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { StartError } from '../../platform/start-error';
import { HostsClient } from './hosts-client';
import { withClient } from './with-client';

export const PRISMA_FOLDER = join(__dirname, '../../../prisma');
/** Advisory lock of work that must run alone. */
export const LOCK = 7_481_201;
const CONNECT_TIMEOUT_MS = 10_000;
/** Stands for the database functions in lists of pending migrations, and in their mark. */
const FUNCTIONS = 'functions';
/** Files of functions refer to each other: PostgreSQL checks their bodies when they are called. */
const UNCHECKED = 'SET LOCAL check_function_bodies = off;';

/** The database was made by a version of Trunkline that is not compatible with this one. */
export class OtherVersion extends StartError {}

export class UnknownMigrations extends OtherVersion {
  constructor(unknown: string[]) {
    super(
      `This database was made by another version of Trunkline: it has ${unknown.join(', ')}, and ` +
        `the newest that this version knows is ${migrationNames().at(-1)}; start the version ` +
        'that made it, or restore a backup of this one.',
    );
  }
}

export class FailedMigration extends StartError {
  constructor(name: string, cause: Error) {
    super(
      `The migration ${name} was not applied, and nothing of it was kept: ${cause.message}. The ` +
        'next start tries it again, and so does: npx trunkline migrate',
      { cause },
    );
  }
}

export class UnmigratedDatabase extends StartError {
  constructor(pending: string[]) {
    const lack =
      pending[0] === migrationNames()[0]
        ? 'This database is empty: is it the right one?'
        : `This database lacks ${pending.join(', ')} of this version.`;
    super(`${lack} A start of the server brings it up to date, and so does: npx trunkline migrate`);
  }
}

/** The migrations of this build, oldest first. */
export function migrationNames(): string[] {
  const folder = join(PRISMA_FOLDER, 'migrations');
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'migration.sql')))
    .sort();
}

/** Runs a script completely or not at all. */
export type RunScript = (client: Pick<Client, 'query'>, script: string) => Promise<unknown>;

/** PostgreSQL runs several statements of one query as one transaction. */
const runAsOneQuery: RunScript = (client, script) => client.query(script);

/**
 * Applies pending migrations, runs `afterwards` and returns the names of what was pending. Each
 * migration is committed with its mark, the last one also with the functions, so the next run
 * continues an interrupted one.
 */
export const migrate = (
  connectionString: string,
  afterwards?: (client: Client) => Promise<void>,
  run = runAsOneQuery,
): Promise<string[]> =>
  withMigrationLock(connectionString, async (client) => {
    const pending = await pendingMigrations(client);
    if (pending[0] === FUNCTIONS) await run(client, functionsScript());
    else await applyMigrations(client, pending, { run, and_functions: true });
    await afterwards?.(client);
    return pending;
  });

/**
 * Brings an empty database to the state that some migrations of this build make, for rows from a
 * database in that state. Migrations that are already applied count.
 */
export const migrateTo = (connectionString: string, names: string[]): Promise<void> =>
  withMigrationLock(connectionString, async (client) => {
    const pending = await pendingMigrations(client);
    const targetMigrations = pending.filter((name) => names.includes(name));
    await applyMigrations(client, targetMigrations, { run: runAsOneQuery, and_functions: false });
  });

/** Runs the work on a database that is up to date; refuses any other and leaves it unchanged. */
export const runOnMigrated = <T>(
  connectionString: string,
  work: (client: Client) => Promise<T>,
): Promise<T> =>
  withMigrationLock(connectionString, async (client) => {
    const pending = await pendingMigrations(client);
    if (pending.length > 0) throw new UnmigratedDatabase(pending);
    return work(client);
  });

/** Runs the work under an advisory lock, which makes parallel starts wait for each other. */
async function withMigrationLock<T>(
  connectionString: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new HostsClient({
    connectionString,
    options: '-c timezone=UTC',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  return withClient(client, async () => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    return work(client);
  });
}

/**
 * Names of the migrations that the database lacks, or "functions" if only these have changed.
 * Throws if the database has migrations that this build lacks.
 */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const names = migrationNames();
  const { rows: stateRows } = await client.query(
    `SELECT obj_description(to_regclass('_prisma_migrations'), 'pg_class') AS functions,
      to_regclass('_prisma_migrations') IS NOT NULL AS present`,
  );
  if (!stateRows[0].present) return names;
  const { rows } = await client.query<{ name: string; applied: boolean }>(
    `SELECT migration_name AS name,
      finished_at IS NOT NULL AND rolled_back_at IS NULL AS applied
    FROM _prisma_migrations`,
  );
  const unknown = rows.map(({ name }) => name).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new UnknownMigrations(unknown);
  const applied = new Set(rows.filter((row) => row.applied).map(({ name }) => name));
  const pending = names.filter((name) => !applied.has(name));
  return pending.length === 0 && stateRows[0].functions !== functionsMark() ? [FUNCTIONS] : pending;
}

const read = (path: string) => readFileSync(join(PRISMA_FOLDER, path), 'utf8');

/** All functions and procedures of the database: the files in `prisma/sql/`. */
export function functionsSource(): string {
  const files = readdirSync(join(PRISMA_FOLDER, 'sql'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.sql')).sort();
  return [UNCHECKED, ...sources.map((file) => read(join('sql', file)))].join('\n');
}

/** Identifies the functions of a database; stored as the comment of the table of migrations. */
function functionsMark(): string {
  const digest = createHash('sha256').update(functionsSource()).digest('hex');
  return `${FUNCTIONS} sha256:${digest}`;
}

/**
 * PostgreSQL does not replace a function whose arguments have other names, and keeps one that no
 * file has any more. Indexes and the like keep theirs. On Citus every node has the functions, and
 * drops them for itself.
 */
const DROP_FUNCTIONS = `
  DO $drop$
  DECLARE
    old_function regprocedure;
  BEGIN
    FOR old_function IN
      SELECT p.oid
      FROM pg_proc p
      WHERE p.pronamespace = current_schema()::regnamespace
        AND p.prokind IN ('f', 'p')
        AND NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus')
        AND NOT EXISTS (
          SELECT FROM pg_depend d
          WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid
            OR d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        )
    LOOP
      EXECUTE format('DROP ROUTINE %s', old_function);
    END LOOP;
  END $drop$;
`;

function functionsScript(): string {
  return `${DROP_FUNCTIONS}${functionsSource()}\nCOMMENT ON TABLE _prisma_migrations IS '${functionsMark()}';\n`;
}

const migrationScript = (name: string) => read(join('migrations', name, 'migration.sql'));

/** Defined like in Prisma's own tools, which can then read it. */
export const MIGRATIONS_TABLE = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

/** SQL that marks a migration as applied. Its name is that of a folder of this build. */
function markScript(name: string): string {
  const checksum = createHash('sha256').update(migrationScript(name)).digest('hex');
  return `
    DELETE FROM _prisma_migrations WHERE migration_name = '${name}';
    INSERT INTO _prisma_migrations
      (id, checksum, finished_at, migration_name, applied_steps_count)
    VALUES ('${randomUUID()}', '${checksum}', clock_timestamp(), '${name}', 1);
`;
}

/**
 * The functions come with the last migration, so that no connection sees new tables with old
 * functions.
 */
async function applyMigrations(
  client: Client,
  names: readonly string[],
  { run, and_functions }: { run: RunScript; and_functions: boolean },
): Promise<void> {
  if (names.length > 0) await client.query(MIGRATIONS_TABLE);
  for (const name of names) {
    const script = `${migrationScript(name)}\n${markScript(name)}`;
    const isLast = name === names.at(-1);
    const whole = and_functions && isLast ? `${script}\n${functionsScript()}` : script;
    await run(client, whole).catch((error: Error) => {
      throw new FailedMigration(name, error);
    });
  }
}
