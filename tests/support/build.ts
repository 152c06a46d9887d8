import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');
const SOURCES = ['package.json', 'openapi.yaml', 'assets', 'prisma', 'src', 'tsconfig.json'];

/** Where npm run test:system has built the product; undefined in npm test. */
export function findBuilt(): string | undefined {
  const { TRUNKLINE_TEST_FOLDER: runFolder } = process.env;
  const folder = runFolder && join(runFolder, 'built');
  return folder && existsSync(folder) ? folder : undefined;
}

/** The folder of the built product, for tests that need it. */
export function builtProduct(): string {
  const folder = findBuilt();
  if (!folder) throw new Error('this test runs with npm run test:system');
  return folder;
}

/**
 * Makes a folder with what an installation has after `npm ci` and `npm prune --omit=dev`: the
 * compiled program, and only the packages that it needs at run time.
 */
export async function buildProduct(runFolder: string): Promise<void> {
  const folder = join(runFolder, 'built');
  mkdirSync(folder);
  for (const name of [...SOURCES, 'tsconfig.build.json'])
    symlinkSync(join(ROOT, name), join(folder, name));
  const packages = installedPackages();
  for (const { path } of packages) link(folder, path);
  link(folder, 'node_modules/.bin/tsc');
  link(folder, 'node_modules/.bin/esbuild');
  // With the earlier build in place, only what has changed since is compiled.
  if (existsSync(join(ROOT, 'dist')))
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: folder });
  for (const { path, dev } of packages) if (dev) rmSync(join(folder, path));
}

function link(folder: string, path: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  symlinkSync(join(ROOT, path), join(folder, path));
}

/** The packages directly in node_modules, and which of them are only for development. */
function installedPackages(): { path: string; dev: boolean }[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(packages)
    .map(([path, { dev = false }]) => ({ path, dev }))
    .filter(({ path }) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path))
    .filter(({ path }) => existsSync(join(ROOT, path)));
}
