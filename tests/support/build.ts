import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SOURCES = ['package.json', 'openapi.yaml', 'assets', 'prisma', 'src', 'tsconfig.json'];

/**
 * A folder with what an installation has after `npm ci` and `npm prune --omit=dev`: the compiled
 * program, and only the packages that it needs at run time. Made once in a test run.
 */
export async function buildProduct(): Promise<string> {
  const folder = join(process.env.TRUNKLINE_TEST_FOLDER!, 'built');
  const ready = join(folder, 'ready');
  try {
    mkdirSync(folder);
  } catch {
    // Another test file is making it, or has.
    while (!existsSync(ready)) await new Promise((done) => setTimeout(done, 100));
    return folder;
  }
  for (const name of [...SOURCES, 'tsconfig.build.json'])
    symlinkSync(join(ROOT, name), join(folder, name));
  const packages = installedPackages();
  for (const { path } of packages) link(folder, path);
  link(folder, 'node_modules/.bin/tsc');
  // With the earlier build in place, only what has changed since is compiled.
  if (existsSync(join(ROOT, 'dist')))
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
  for (const { path, dev } of packages) if (dev) rmSync(join(folder, path));
  writeFileSync(ready, '');
  return folder;
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
