import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { withSchemaEngine } from './schema-engine';

export const PRISMA_FOLDER = join(__dirname, '../../prisma');
const LOCK = 7_481_201;
const FILTERS = { externalTables: [], externalEnums: [] };

/** The migrations of this build, oldest first. */
export function migrationNames(): string[] {
  const folder = join(PRISMA_FOLDER, 'migrations');
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'migration.sql')))
    .sort();
}

export function prismaSchema(): { path: string; content: string } {
  const path = join(PRISMA_FOLDER, 'schema.prisma');
  return { path, content: readFileSync(path, 'utf8') };
}

/**
 * Applies the pending migrations and answers their names. An advisory lock makes parallel starts wait for each other; when nothing is
 * pending the schema engine is not even loaded.
 */
export async function migrate(connectionString: string): Promise<string[]> {
  const client = new Client({ connectionString, options: '-c timezone=UTC' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    return (await pendingMigrations(client)).length === 0 ? [] : await apply(connectionString);
  } finally {
    await client.end();
  }
}

/** Names of the migrations of this build that the database does not have yet. */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const { rows: found } = await client.query(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present",
  );
  if (!found[0].present) return migrationNames();
  const { rows } = await client.query(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  const applied = new Set(rows.map(({ migration_name }) => migration_name));
  return migrationNames().filter((name) => !applied.has(name));
}

function migrationsList() {
  const migrationDirectories = migrationNames().map((path) => ({
    path,
    migrationFile: {
      path: 'migration.sql',
      content: {
        tag: 'ok' as const,
        value: readFileSync(join(PRISMA_FOLDER, 'migrations', path, 'migration.sql'), 'utf8'),
      },
    },
  }));
  const lockfile = {
    path: 'migration_lock.toml',
    content: readFileSync(join(PRISMA_FOLDER, 'migrations/migration_lock.toml'), 'utf8'),
  };
  return {
    baseDir: join(PRISMA_FOLDER, 'migrations'),
    lockfile,
    shadowDbInitScript: '',
    migrationDirectories,
  };
}

async function apply(connectionString: string): Promise<string[]> {
  return withSchemaEngine(connectionString, prismaSchema(), async (engine) => {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: migrationsList(),
      filters: FILTERS,
    });
    return appliedMigrationNames;
  });
}

/** The SQL that makes an empty database match schema.prisma. Needs a database to connect to, and leaves it alone. */
export function schemaScript(connectionString: string): Promise<string> {
  const schema = prismaSchema();
  return withSchemaEngine(connectionString, schema, async (engine) => {
    const to = { tag: 'schemaDatamodel' as const, files: [schema] };
    const { stdout } = await engine.diff({
      from: { tag: 'empty' },
      to,
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: FILTERS,
    });
    return stdout;
  });
}
