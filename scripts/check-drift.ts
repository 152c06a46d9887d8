import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, PRISMA_FOLDER, functionsSource } from '../src/db/migrate';
import { samplesSource } from './samples';
import { compareCatalogs, readCatalog } from './catalog';
import { describeStatements } from './sql-types';
import { schemaScript } from './schema-script';
import { run, withConnection, withScratchServer } from './scratch-database';

// Fails when something generated or migrated no longer matches its source: the types and code
// samples of openapi.yaml; the types of the SQL statements; the migrations and what schema.prisma,
// supplement.sql and functions.sql declare.

function generatedTypes(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-types-'));
  const file = join(folder, 'openapi.ts');
  const options = ['openapi.yaml', '--output', file, '--default-non-nullable', 'false'];
  execFileSync('node_modules/.bin/openapi-typescript', options, { stdio: 'pipe' });
  const fresh = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  if (fresh === readFileSync('src/generated/openapi.ts', 'utf8')) return [];
  return ['src/generated/openapi.ts is not what openapi.yaml makes: run npm run generate'];
}

async function codeSamples(): Promise<string[]> {
  const file = 'src/generated/samples.ts';
  if ((await samplesSource()) === readFileSync(file, 'utf8')) return [];
  return [`${file} is not what openapi.yaml makes: run npm run generate:samples`];
}

async function statementTypes(): Promise<string[]> {
  const { source, errors } = await describeStatements();
  if (errors.length > 0 || source === readFileSync('src/generated/sql.ts', 'utf8')) return errors;
  return ['src/generated/sql.ts does not match the statements: run npm run generate:sql'];
}

/** Applies the files in prisma/ to an empty database, without the migrations. */
async function declare(url: string): Promise<void> {
  const declared = (file: string) => readFileSync(join(PRISMA_FOLDER, file), 'utf8');
  await run(url, await schemaScript(url));
  await run(url, declared('supplement.sql'));
  // Twice, because an installation runs it again after every change.
  for (let time = 1; time <= 2; time++) await run(url, functionsSource());
}

function migrations(): Promise<string[]> {
  return withScratchServer(async (create) => {
    const migrated = await create('migrated');
    const declared = await create('declared');
    await migrate(migrated);
    await declare(declared);
    return compareCatalogs({
      migrated: await withConnection(migrated, readCatalog),
      declared: await withConnection(declared, readCatalog),
    });
  });
}

async function main(): Promise<void> {
  const differences = [
    ...generatedTypes(),
    ...(await codeSamples()),
    ...(await statementTypes()),
    ...(await migrations()),
  ];
  for (const difference of differences) process.stderr.write(`${difference}\n`);
  process.stdout.write(differences.length === 0 ? 'drift: none\n' : '');
  process.exit(differences.length === 0 ? 0 : 1);
}

void main();
