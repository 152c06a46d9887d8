import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { builtProduct } from '../../support/build';
import { eventually } from '../../support/engine-process';
import { patient } from '../../support/patience';
import { freePort } from '../../support/process';
import { basic, freshDatabase } from '../../support/world';

// The files of a release serve without the source: the npm package, and the folder that runs with
// Node alone. CI makes them first (.ci/packages), with the packages from the registry.

const ROOT = join(__dirname, '../../..');
const COMMAND = 'dist/main/cli/index.js';
const LIMIT_MS = patient(120_000);
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'package-'));
/** PostgreSQL runs as another user there, who must be let in. */
const newOpenFolder = () => {
  const openFolder = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
  chmodSync(openFolder, 0o755);
  openFolders.push(openFolder);
  return openFolder;
};
const openFolders: string[] = [];
afterAll(() => openFolders.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** Starts the service in a folder, makes a call through it, and stops it. */
async function expectService(cwd: string, command: string[], more: Record<string, string>) {
  const PORT = String(await freePort());
  const [program, ...args] = [...command, 'start'];
  const env = { PATH: process.env.PATH, HOME: cwd, PORT, ...more };
  // With a group of its own, so that whatever it starts can be ended.
  const child = spawn(program!, args, { cwd, env, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  try {
    await Promise.race([
      eventually(() => output.includes('Trunkline is up'), 100),
      exited.then((code) => Promise.reject(new Error(`ended with ${code}: ${output}`))),
    ]);
    await expectCall(`http://127.0.0.1:${PORT}`, /curl -s -u (\S+)/.exec(output)![1]!);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  } finally {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  }
}

/** Asks for the pages and their scripts, and routes a call. */
async function expectCall(url: string, key: string): Promise<void> {
  for (const path of ['/livez', '/readyz', '/console/', '/api/docs/', '/api/reference/']) {
    const { status } = await fetch(url + path);
    expect([path, status]).toEqual([path, 200]);
  }
  for (const page of ['/console/', '/api/docs/', '/api/reference/']) {
    const text = await (await fetch(url + page)).text();
    const scripts = [...text.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, path]) => path!);
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts)
      expect([path, (await fetch(new URL(path, url + page))).status]).toEqual([path, 200]);
  }
  const res = await fetch(`${url}/api/v1/call_sessions`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json' },
    body: JSON.stringify({ offer_id: 1, caller_number: '2125550123', tokens: { state: 'NY' } }),
  });
  expect([res.status, await res.json()]).toMatchObject([
    201,
    { call_session: { instruction: { action: expect.any(String) } } },
  ]);
}

test(
  'the files that package.json names are enough to run',
  async () => {
    const built = builtProduct();
    const product = join(newFolder(), 'trunkline');
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      files: string[];
    };
    for (const file of [...files.filter((name) => !name.startsWith('!')), 'package.json']) {
      // As npm has it: this one is in the source alone.
      const source = readdirSync(built).includes(file.split('/')[0]!) ? built : ROOT;
      cpSync(join(source, file), join(product, file), { recursive: true, dereference: true });
    }
    symlinkSync(join(built, 'node_modules'), join(product, 'node_modules'));
    const environment = { DATABASE_URL: await freshDatabase() };
    await expectService(newFolder(), ['node', join(product, COMMAND)], environment);
  },
  LIMIT_MS,
);

test('a release makes the files after they were tried, and an image for each processor', () => {
  const { jobs } = load(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: Record<string, Job>;
  };
  const runs = (job: string) => jobs[job]!.steps.map(({ run = '' }) => run);
  const release = runs('release');
  const isTried = release.findIndex((run) => run.includes('.ci/packages packages'));
  const isReleased = release.findIndex((run) => run.includes('gh release create'));
  expect([isTried > 0, isTried < isReleased]).toEqual([true, true]);
  const cpus = jobs.image!.strategy!.matrix.include.map(({ cpu }) => cpu);
  expect(cpus).toEqual(['amd64', 'arm64']);
  for (const cpu of cpus) expect(runs('image-tags').join('\n')).toContain(`"$image-${cpu}"`);
  // Each is built on its own processor, by a Dockerfile that names none.
  expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).not.toMatch(/--platform|amd64|x64|arm64/);
});

interface Job {
  steps: { run?: string }[];
  strategy?: { matrix: { include: { cpu: string }[] } };
}

/** The result of `npm run package`; without it, such tests are skipped. */
const { PACKAGES_FOLDER: folder } = process.env;
const findPackage = (pattern: RegExp) =>
  join(
    folder!,
    readdirSync(folder!).find((name) => pattern.test(name))!,
  );
const testPackage = folder ? test : test.skip;

testPackage(
  'the npm package runs where nothing else is installed (needs PACKAGES_FOLDER)',
  async () => {
    const cwd = newOpenFolder();
    const options = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...options, findPackage(/^trunkline-[\d.]+\.tgz$/)], { cwd });
    // The packages are those of the lock, with its overrides.
    const own = join(cwd, 'node_modules/trunkline/node_modules');
    const manifest = require.resolve('@scarf/scarf/package.json', {
      paths: [join(own, 'swagger-ui-dist')],
    });
    expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ name: 'ms' });
    await expectService(cwd, [join(cwd, 'node_modules/.bin/trunkline')], {});
  },
  LIMIT_MS,
);

testPackage(
  'the folder of a platform runs with Node alone (needs PACKAGES_FOLDER)',
  async () => {
    const cwd = newOpenFolder();
    const file = findPackage(new RegExp(`-${process.platform}-${process.arch}[.]tar[.]gz$`));
    execFileSync('tar', ['-xzf', file], { cwd });
    const [top] = readdirSync(cwd);
    // npm is not there.
    const bin = join(cwd, 'bin');
    cpSync(process.execPath, join(bin, 'node'));
    const PATH = `${bin}:/usr/bin:/bin`;
    await expectService(cwd, [join(cwd, top!, 'trunkline')], { PATH });
  },
  LIMIT_MS,
);
