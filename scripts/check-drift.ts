import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, schemaScript } from '../src/db/migrate';
import { run, withScratchServer } from './scratch-database';

// Fails when something that is made from something else no longer is: the types from openapi.yaml, the database from schema.prisma.

const COLUMNS = `SELECT table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' ' || coalesce(column_default, '') AS line FROM information_schema.columns WHERE table_schema = 'public'`;
const CONSTRAINTS = `SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS line FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'f', 'u')`;
const INDEXES = `SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public'`;

function generatedTypes(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-types-'));
  const file = join(folder, 'openapi.ts');
  execFileSync(
    'node_modules/.bin/openapi-typescript',
    ['openapi.yaml', '--output', file, '--default-non-nullable', 'false'],
    { stdio: 'pipe' },
  );
  const fresh = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return fresh === readFileSync('src/generated/openapi.ts', 'utf8')
    ? []
    : ['src/generated/openapi.ts is not what openapi.yaml makes: run npm run generate'];
}

async function migrations(): Promise<string[]> {
  return withScratchServer(async (create) => {
    const migrated = await create('migrated');
    const declared = await create('declared');
    await migrate(migrated);
    for (const statement of (await schemaScript(declared)).split(/;\n/).filter((sql) => sql.trim()))
      await run(declared, statement);
    const lines = async (url: string, sql: string) =>
      (await run<{ line: string }>(url, sql))
        .map(({ line }) => line)
        .filter((line) => !line.includes('_prisma_migrations'));
    const differences: string[] = [];
    for (const sql of [COLUMNS, CONSTRAINTS, INDEXES]) {
      const [is, should] = [
        new Set(await lines(migrated, sql)),
        new Set(await lines(declared, sql)),
      ];
      differences.push(
        ...[...should]
          .filter((line) => !is.has(line))
          .map((line) => `schema.prisma has, the migrations have not: ${line}`),
      );
      // Indexes of expressions are written by hand in the migrations: Prisma cannot say them.
      if (sql !== INDEXES)
        differences.push(
          ...[...is]
            .filter((line) => !should.has(line))
            .map((line) => `the migrations have, schema.prisma has not: ${line}`),
        );
    }
    return differences;
  });
}

async function main(): Promise<void> {
  const differences = [...generatedTypes(), ...(await migrations())];
  for (const difference of differences) process.stderr.write(`${difference}\n`);
  process.stdout.write(differences.length === 0 ? 'drift: none\n' : '');
  process.exit(differences.length === 0 ? 0 : 1);
}

void main();
