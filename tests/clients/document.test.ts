import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DOCUMENT, readRegion, listShownPrograms, replaceRegions } from './matrix/document';
import { drivers } from './matrix/drivers';
import { OAPI_CODEGEN_VERSION } from './matrix/toolchains';

// docs/sdk.md against the programs that npm run test:clients compiles and runs.

const ROOT = join(__dirname, '../..');
const markdown = readFileSync(DOCUMENT, 'utf8');
const programs = Object.values(drivers).map(({ source }) => `tests/clients/drivers/${source}`);
const files = readdirSync(join(ROOT, 'tests/clients/drivers'), {
  recursive: true,
  withFileTypes: true,
})
  .filter((entry) => entry.isFile())
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));

test('docs/sdk.md shows each program that is run, its configuration, and nothing that is not', () => {
  expect(files).toEqual(expect.arrayContaining(programs));
  expect(listShownPrograms(markdown).sort()).toEqual(files.sort());
  // `npm run test:clients -- --write-docs` copies them.
  expect(markdown).toBe(replaceRegions(markdown));
});

test('docs/sdk.md names the versions that are run', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
  const packages = {
    ...read('package.json').devDependencies,
    ...read('tests/clients/package.json').dependencies,
  };
  const names = [
    ...['openapi-typescript', 'openapi-fetch', '@hey-api/openapi-ts', 'orval', '@kubb/cli'],
    ...['openapi-zod-client', 'swagger-typescript-api', '@rtk-query/codegen-openapi'],
  ];
  const python = readFileSync(join(ROOT, 'tests/clients/matrix/requirements.txt'), 'utf8');
  const versions = [
    ...names.map((name) => packages[name]),
    OAPI_CODEGEN_VERSION,
    ...['openapi-generator-cli', 'openapi-python-client'].map(
      (name) => new RegExp(`^${name}==(.+)$`, 'm').exec(python)![1],
    ),
  ];
  const table = markdown.split('\n').filter((line) => line.startsWith('|'));
  const shownVersions = table.flatMap((line) => line.match(/\d+\.\d+\.\d+/g) ?? []);
  expect(new Set(shownVersions)).toEqual(new Set(versions));
});

test.each(programs)('%s is shown in at most fifteen lines', (program) => {
  const lines = readRegion(program).filter((line) => line.trim() !== '');
  expect(lines.length).toBeGreaterThan(8);
  expect(lines.length).toBeLessThanOrEqual(15);
});
