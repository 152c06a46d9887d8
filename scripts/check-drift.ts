import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  functionsSource,
  migrate,
  migrationNames,
  PRISMA_FOLDER,
} from '../src/data/postgres/migrate';
import { toFullContract } from './full-contract';
import { samplesSource } from './samples';
import {
  compareCatalogs,
  compareChecks,
  futureMigrations,
  readCatalog,
  selectSchemaItems,
} from './catalog';
import { schemaSource } from './schema-tables';
import { describeStatements } from './sql-types';
import { buildSchemaScript } from './schema-script';
import { runSql, withConnection, withScratchServer } from './scratch-database';

// Fails when something generated or migrated does not match its source: the types and code samples
// of openapi.yaml; the tables of schema.prisma; the types of the SQL statements; a migrated database and the declarations of
// schema.prisma, prisma/sql/ and the CHECKs of the migrations. A migration must not be dated in the
// future: one that is made today would be applied before it.

function checkGeneratedTypes(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-types-'));
  const [contract, file] = [join(folder, 'openapi.yaml'), join(folder, 'openapi.ts')];
  writeFileSync(contract, toFullContract(readFileSync('openapi.yaml', 'utf8')));
  const options = [contract, '--output', file, '--default-non-nullable', 'false'];
  execFileSync('node_modules/.bin/openapi-typescript', options, { stdio: 'pipe' });
  const fresh = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  if (fresh === readFileSync('src/generated/openapi.ts', 'utf8')) return [];
  return ['src/generated/openapi.ts is not what openapi.yaml makes: run npm run generate'];
}

async function checkCodeSamples(): Promise<string[]> {
  const file = 'src/generated/samples.ts';
  if ((await samplesSource()) === readFileSync(file, 'utf8')) return [];
  return [`${file} is not what openapi.yaml makes: run npm run generate:samples`];
}

function checkSchema(): string[] {
  const file = 'src/generated/schema.ts';
  if (schemaSource() === readFileSync(file, 'utf8')) return [];
  return [`${file} is not what schema.prisma makes: run npm run generate:schema`];
}

async function checkStatementTypes(): Promise<string[]> {
  const { source, errors } = await describeStatements();
  if (errors.length > 0 || source === readFileSync('src/generated/sql.ts', 'utf8')) return errors;
  return ['src/generated/sql.ts does not match the statements: run npm run generate:sql'];
}

/** Creates the declarations of schema.prisma and prisma/sql/, without the migrations. */
async function declare(url: string): Promise<void> {
  await runSql(url, await buildSchemaScript(url));
  // Twice, because an installation runs it again after every change.
  for (let time = 1; time <= 2; time++) await runSql(url, functionsSource());
}

function checkMigrations(): Promise<string[]> {
  return withScratchServer(async (create) => {
    const url = await create('migrated');
    const declared = await create('declared');
    await migrate(url);
    await declare(declared);
    const migrated = await withConnection(url, readCatalog);
    return [
      ...compareCatalogs({
        migrated: selectSchemaItems(migrated),
        declared: selectSchemaItems(await withConnection(declared, readCatalog)),
      }),
      ...compareChecks(migrated, migrationSources()),
    ];
  });
}

const migrationSources = () =>
  migrationNames().map((name) =>
    readFileSync(join(PRISMA_FOLDER, 'migrations', name, 'migration.sql'), 'utf8'),
  );

async function main(): Promise<void> {
  const differences = [
    ...checkGeneratedTypes(),
    ...(await checkCodeSamples()),
    ...checkSchema(),
    ...(await checkStatementTypes()),
    ...futureMigrations(migrationNames(), new Date()),
    ...(await checkMigrations()),
  ];
  for (const difference of differences) process.stderr.write(`${difference}\n`);
  process.stdout.write(differences.length === 0 ? 'drift: none\n' : '');
  process.exit(differences.length === 0 ? 0 : 1);
}

void main();
