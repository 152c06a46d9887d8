import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { withSchemaEngine, type MigrationsList } from './schema-engine';

export const PRISMA_FOLDER = join(__dirname, '../../prisma');
const LOCK = 7_481_201;
const FILTERS = { externalTables: [], externalEnums: [] };
const FUNCTIONS = 'functions.sql';

/** The database has migrations from before the first release. */
export class PreReleaseDatabase extends Error {
  constructor() {
    super(
      'This database was made by a pre-release of Trunkline and cannot be upgraded: export what ' +
        'you need with that pre-release, as CSV lists of its API (for example GET ' +
        '/api/v1/buyers.csv), then start this version with a new database (another DATABASE_URL ' +
        'or DATA_DIR) and create the records there through the API.',
    );
  }
}

/** The migrations of this build, oldest first. */
export function migrationNames(): string[] {
  const folder = join(PRISMA_FOLDER, 'migrations');
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'migration.sql')))
    .sort();
}

export function prismaSchema(): { path: string; content: string } {
  return { path: join(PRISMA_FOLDER, 'schema.prisma'), content: read('schema.prisma') };
}

/**
 * Applies what is pending, runs `afterwards` and returns the names of what was pending. An advisory
 * lock makes parallel starts wait for each other; when nothing is pending, the schema engine is not
 * even loaded.
 */
export async function migrate(
  connectionString: string,
  afterwards?: () => Promise<void>,
): Promise<string[]> {
  const client = new Client({ connectionString, options: '-c timezone=UTC' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const pending = await pendingMigrations(client);
    if (pending[0] === FUNCTIONS) {
      // Sent as one query, several statements are one transaction.
      await client.query(functionsScript());
    } else if (pending.length > 0) {
      await applyMigrations(connectionString, pending);
    }
    await afterwards?.();
    return pending;
  } finally {
    await client.end();
  }
}

/**
 * What this build has and the database does not: the names of migrations, or "functions.sql" when
 * only that file has changed.
 */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const names = migrationNames();
  const { rows: found } = await client.query(
    `SELECT obj_description(to_regclass('_prisma_migrations'), 'pg_class') AS functions,
      to_regclass('_prisma_migrations') IS NOT NULL AS present`,
  );
  if (!found[0].present) return names;
  const { rows } = await client.query<{ name: string; applied: boolean }>(
    `SELECT migration_name AS name,
      finished_at IS NOT NULL AND rolled_back_at IS NULL AS applied
    FROM _prisma_migrations`,
  );
  if (rows.some(({ name }) => name < names[0]!)) throw new PreReleaseDatabase();
  const applied = new Set(rows.filter((row) => row.applied).map(({ name }) => name));
  const pending = names.filter((name) => !applied.has(name));
  return pending.length === 0 && found[0].functions !== functionsMark() ? [FUNCTIONS] : pending;
}

const read = (path: string) => readFileSync(join(PRISMA_FOLDER, path), 'utf8');

/** Which functions.sql a database has, kept as the comment of the table of migrations. */
function functionsMark(): string {
  return `${FUNCTIONS} sha256:${createHash('sha256').update(read(FUNCTIONS)).digest('hex')}`;
}

function functionsScript(): string {
  return `${read(FUNCTIONS)}\nCOMMENT ON TABLE _prisma_migrations IS '${functionsMark()}';\n`;
}

const migrationScript = (name: string) => read(join('migrations', name, 'migration.sql'));

function migrationsList(): MigrationsList {
  const migrationDirectories = migrationNames().map((path) => ({
    path,
    migrationFile: {
      path: 'migration.sql',
      content: { tag: 'ok' as const, value: migrationScript(path) },
    },
  }));
  const lockfile = {
    path: 'migration_lock.toml',
    content: read('migrations/migration_lock.toml'),
  };
  const baseDir = join(PRISMA_FOLDER, 'migrations');
  return { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories };
}

/**
 * functions.sql runs in the transaction of the last migration, so that no connection ever sees the
 * new tables with the old functions.
 */
async function applyMigrations(connectionString: string, pending: string[]): Promise<void> {
  const schema = prismaSchema();
  const last = migrationScript(pending.at(-1)!);
  const complete = (script: string) =>
    script === last ? `${script}\n${functionsScript()}` : script;
  await withSchemaEngine({ connectionString, schema, complete }, (engine) =>
    engine.applyMigrations({ migrationsList: migrationsList(), filters: FILTERS }),
  );
}

/**
 * The SQL that makes an empty database match schema.prisma. Needs a database to connect to, and
 * leaves it alone.
 */
export function schemaScript(connectionString: string): Promise<string> {
  const schema = prismaSchema();
  return withSchemaEngine({ connectionString, schema }, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: FILTERS,
    });
    return stdout;
  });
}
