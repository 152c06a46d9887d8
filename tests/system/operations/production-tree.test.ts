import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { loadConfig } from '../../../src/main/config';
import { builtProduct } from '../../support/build';
import { eventually } from '../../support/engine-process';
import { patient } from '../../support/patience';
import { freePort } from '../../support/process';
import { basic, freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// The program of the image without a container engine: built, without development packages, started
// by the command of the Dockerfile, as a user who may write to the data folder and nowhere else.

const ROOT = join(__dirname, '../../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const dockerfile = read('Dockerfile');
const [, commandText] = /^CMD (\[.*\])$/m.exec(dockerfile)!;
const command = JSON.parse(commandText!) as string[];
const [, healthText] = /^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(dockerfile)!;
const healthCheck = JSON.parse(healthText!) as string[];

const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };
let folder: string;
beforeAll(() => void (folder = builtProduct()));

interface Started {
  child: ChildProcess;
  url: string;
  environment: NodeJS.ProcessEnv;
  output: () => string;
  exited: Promise<number | null>;
}

/** Runs the command of the image in the tree, and waits until it serves. */
async function start(more: Record<string, string>, wrapper: string[] = []): Promise<Started> {
  const DATA_DIR = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'image-data-'));
  if (isRoot) chownSync(DATA_DIR, NOBODY.uid, NOBODY.gid);
  const port = String(await freePort());
  const environment = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    ...{ DATA_DIR, PORT: port, KEY_PEPPER: PEPPER_OF_TESTS, DATABASE_URL: await freshDatabase() },
    ...more,
  };
  const [program, ...args] = [...wrapper, ...command];
  const account = isRoot && wrapper.length === 0 ? NOBODY : {};
  const child = spawn(program!, args, { cwd: folder, env: environment, ...account });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  await Promise.race([
    eventually(() => output.includes('Trunkline is up'), 100),
    exited.then((code) => Promise.reject(new Error(`ended with ${code}: ${output}`))),
  ]);
  return { child, url: `http://127.0.0.1:${port}`, environment, output: () => output, exited };
}

/** The files of the tree and their times; links lead to the packages. */
const contents = () =>
  ['.', 'dist', 'node_modules'].flatMap((name) =>
    readdirSync(join(folder, name)).map((file) => {
      const { mtimeMs, size } = statSync(join(folder, name, file));
      return `${name}/${file} ${mtimeMs} ${size}`;
    }),
  );

const readKey = (output: string) => /curl -s -u (\S+)/.exec(output)![1]!;

test(
  'it serves, checks its health and stops with 0, and writes to the data folder alone',
  async () => {
    const before = contents();
    const { child, url, environment, output, exited } = await start({});
    const status = async (path: string, headers = {}) =>
      (await fetch(url + path, { headers })).status;
    expect(await status('/livez')).toBe(200);
    expect(await status('/readyz')).toBe(200);
    expect(await status('/api/docs/')).toBe(200);
    const authorization = basic(readKey(output()));
    expect(await status('/api/v1/me', { authorization })).toBe(200);
    expect(await status('/api/v1/me')).toBe(401);
    const [program, ...args] = healthCheck;
    execFileSync(program!, args, { env: environment });
    if (isRoot) {
      const uids = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
      expect(uids![1]).toBe(String(NOBODY.uid));
    }
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(() => execFileSync(program!, args, { env: environment, stdio: 'ignore' })).toThrow();
    expect(contents()).toEqual(before);
  },
  patient(60_000),
);

const canUnshare = () => {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', 'setpriv', '--version'], {
      stdio: 'ignore',
    });
    return isRoot;
  } catch {
    return false;
  }
};

/** Processes in the namespace of a process, by their ids outside. */
const listChildren = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
const readState = (pid: number) =>
  /^State:\t(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];

(canUnshare() ? test : test.skip)(
  'as the first process of a container it starts, reaps and stops its processes without an init ' +
    '(needs root and unshare)',
  async () => {
    const { uid, gid } = NOBODY;
    const started = await start({ WEB_CONCURRENCY: '2' }, [
      ...['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
      ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--'],
    ]);
    const { child, url, output, exited } = started;
    const [first] = listChildren(child.pid!);
    expect(readFileSync(`/proc/${first}/status`, 'utf8')).toMatch(/^NSpid:\t\d+\t1$/m);
    const before = listChildren(first!);
    expect(before).toHaveLength(3);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    const isReplaced = () => {
      const now = listChildren(first!);
      return now.length === 3 && now.every((pid) => !before.includes(pid));
    };
    // None of those that died is left as a zombie.
    await eventually(isReplaced, 100);
    expect(listChildren(first!).map(readState)).not.toContain('Z');
    await eventually(
      () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      100,
    );
    const headers = { authorization: basic(readKey(output())) };
    expect((await fetch(`${url}/api/v1/me`, { headers })).status).toBe(200);
    process.kill(first!, 'SIGTERM');
    expect(await exited).toBe(0);
  },
  patient(60_000),
);

test('the image and the unit start node with the options of npm start, the worker with its own', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const [, settings, options] = /exec env (.*) node (.*) dist\/main\/server\.js$/.exec(
    scripts.start!,
  )!;
  expect(command).toEqual(['node', ...options!.split(' '), 'dist/main/server.js']);
  for (const setting of settings!.split(' ')) expect(dockerfile).toContain(setting);
  const [, ofUnit] = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(read('docs/install.md'))!;
  expect(ofUnit!.split(' ')).toEqual(command);
  const [, ofWorker] = / (node .* dist\/main\/worker\.js)$/.exec(scripts.worker!)!;
  const { services } = load(read('compose.yaml')) as Compose;
  expect(services.worker!.command!.join(' ')).toBe(ofWorker);
});

test('what the image calls of the built program is there', () => {
  const calls = [...dockerfile.matchAll(/require\('\.\/dist\/([\w/-]+)'\)\.(\w+)\(/g)];
  expect(calls).toHaveLength(1);
  for (const [, file, name] of calls)
    expect(read(`src/${file}.ts`)).toMatch(new RegExp(`^export function ${name}\\(`, 'm'));
});

interface Service {
  '<<'?: Service;
  command?: string[];
  environment?: Record<string, string>;
  env_file?: { path: string; required: boolean }[];
}
interface Compose {
  services: Record<string, Service>;
}

/** A service with what it takes from the one that it is merged from. */
const mergeService = ({ '<<': base, ...own }: Service): Service =>
  base ? { ...mergeService(base), ...own } : own;

/** A value of compose.yaml: `${A}`, `${A:-default}`, `${A:?message}`, from the inside out. */
function fillIn(text: string, values: Record<string, string>): string {
  const filled = text.replace(
    /\$\{([A-Z_]+)(?::([-?])([^${}]*))?\}/,
    (_, name: string, kind: string | undefined, rest: string | undefined) => {
      if (values[name]) return values[name];
      if (kind === '?') throw new Error(`${name}: ${rest}`);
      return rest ?? '';
    },
  );
  return filled === text ? text : fillIn(filled, values);
}

describe('compose.yaml', () => {
  const { services } = load(read('compose.yaml')) as Compose;
  const [first, ...others] = ['api-1', 'api-2', 'worker'].map((name) =>
    mergeService(services[name]!),
  );
  const declared = Object.fromEntries(
    [...read('.env.example').matchAll(/^([A-Z\d_]+)=(.*)$/gm)].map(([, name, value]) => [
      name!,
      value!.replace(/^'(.*)'$/, '$1'),
    ]),
  );
  /** The environment of the containers with these lines at the end of a copy of .env.example. */
  const passOn = (lines: Record<string, string>): Record<string, string> => {
    const file = { ...declared, ...lines };
    const entries = Object.entries(first!.environment!);
    return {
      ...file,
      ...Object.fromEntries(entries.map(([name, value]) => [name, fillIn(value, file)])),
    };
  };
  const SECRETS = { KEY_PEPPER: 'p'.repeat(64), POSTGRES_PASSWORD: 'secret' };

  test('gives all processes the same settings, which there are', () => {
    for (const { environment, env_file } of others)
      expect({ environment, env_file }).toEqual({
        environment: first!.environment,
        env_file: first!.env_file,
      });
    expect(Object.keys(declared)).toEqual(expect.arrayContaining(Object.keys(first!.environment!)));
  });

  test('passes every setting on, but for those that its containers decide', () => {
    expect(first!.env_file).toEqual([{ path: '.env', required: false }]);
    const fixed = ['DATABASE_URL', 'HOST', 'PORT', 'DATA_DIR', 'STORAGE_DIR', 'RUN_JOBS'];
    const lines = Object.fromEntries(
      Object.keys(declared).map((name) => [name, `value-of-${name}`]),
    );
    const environment = passOn({ ...lines, ...SECRETS });
    const changed = Object.keys(lines).filter((name) => environment[name] !== lines[name]);
    const ofSetup = ['KEY_PEPPER', 'TRUST_PROXY', 'WORKER_METRICS_PORT'];
    expect(changed.toSorted()).toEqual([...fixed, ...ofSetup].toSorted());
  });

  test('serves under the name of the site, through TLS', () => {
    const { public_url, host, port, demo } = loadConfig(
      passOn({ ...SECRETS, SITE: 'calls.example.com', DEMO: 'false' }),
    );
    expect({ public_url, host, port, demo }).toEqual({
      ...{ public_url: 'https://calls.example.com', host: '0.0.0.0', port: 3000, demo: false },
    });
    expect(loadConfig(passOn(SECRETS)).public_url).toBe('https://localhost');
    const url = { PUBLIC_URL: 'https://other.example.com' };
    expect(loadConfig(passOn({ ...SECRETS, ...url })).public_url).toBe(url.PUBLIC_URL);
    expect(() => passOn({ POSTGRES_PASSWORD: 'secret' })).toThrow('KEY_PEPPER: make one');
    expect(read('compose.yaml')).toMatch(/^ +\{\$\$SITE\} \{$/m);
  });
});

test('the image has what the program reads: everything else stays out', () => {
  const includedPaths = read('.dockerignore')
    .match(/^!(\S+)$/gm)!
    .map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names!.split(' '),
  );
  expect(includedPaths.toSorted()).toEqual([...new Set(copied)].toSorted());
});
