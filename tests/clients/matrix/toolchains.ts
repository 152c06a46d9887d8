import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute, has, Missing } from './execute';

// Toolchains that generate, compile and run the clients. Downloads from a registry are kept under
// the hash of the request, so a second run downloads nothing.

const REQUIREMENTS = join(__dirname, 'requirements.txt');

export const cache = process.env.TRUNKLINE_CLIENTS_CACHE ?? cacheFolder();

function cacheFolder(): string {
  for (const base of [join(homedir(), '.cache'), tmpdir()])
    try {
      const folder = join(base, 'trunkline-clients');
      mkdirSync(folder, { recursive: true });
      return folder;
    } catch {
      // The next one.
    }
  throw new Error('neither the home folder nor the temporary folder can be written');
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let promise: Promise<T> | undefined;
  return () => (promise ??= make());
};

/** A folder of the cache that is filled once for a key, and made again if that was broken off. */
async function fillCache(
  name: string,
  key: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 12);
  const folder = join(cache, `${name}-${hash}`);
  const complete = join(folder, '.complete');
  if (existsSync(complete)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await fill(folder);
  writeFileSync(complete, '');
  return folder;
}

const lastLine = (output: string): string => output.trim().split('\n').at(-1) ?? '';

/** The bin folder of a virtual environment with the generators and the clients' packages. */
export const python = once(async () => {
  if (!(await has('python3', '--version'))) throw new Missing('there is no python3');
  const { stdout: version } = await execute('python3', ['--version']);
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  const folder = await fillCache('python', version + requirements, async (venv) => {
    const created = await execute('python3', ['-m', 'venv', venv]);
    if (created.code !== 0)
      throw new Missing('python3 -m venv does not work: install python3-venv');
    const quietly = ['-q', '--disable-pip-version-check', '--retries', '1', '--timeout', '30'];
    const pip = ['-m', 'pip', 'install', ...quietly, '-r', REQUIREMENTS];
    const installed = await execute(join(venv, 'bin/python'), pip, { seconds: 180 });
    if (installed.code !== 0)
      throw new Missing(`pip cannot install the packages: ${lastLine(installed.output)}`);
  });
  return join(folder, 'bin');
});

/** The command line of openapi-generator. */
export const openapiGenerator = once(async () => {
  if (!(await has('java', '-version'))) throw new Missing('there is no java');
  const bin = await python();
  const where = 'import openapi_generator_cli as it; print(it.__path__[0])';
  const { stdout } = await execute(join(bin, 'python'), ['-c', where]);
  const jar = join(stdout.trim(), 'openapi-generator.jar');
  return ['java', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-jar', jar];
});

/** The folder of the jars that a generated Java client needs, as its own pom.xml names them. */
export async function javaLibraries(project: string): Promise<string> {
  if (!(await has('javac', '-version'))) throw new Missing('there is no javac');
  const pom = readFileSync(join(project, 'pom.xml'), 'utf8');
  const properties = /<properties>[\s\S]*?<\/properties>/.exec(pom)?.[0] ?? pom;
  return fillCache('java', properties, async (folder) => {
    if (!(await has('mvn', '--version'))) throw new Missing('there is no mvn');
    const copy = ['-B', '-q', 'dependency:copy-dependencies', '-DincludeScope=compile'];
    const copied = await execute('mvn', [...copy, `-DoutputDirectory=${folder}`], {
      cwd: project,
      seconds: 180,
    });
    if (copied.code !== 0)
      throw new Missing('Maven cannot fetch the libraries that the client needs');
  });
}

/** Fetches the modules that a generated Go client needs. */
export async function goModules(project: string): Promise<void> {
  if (!(await has('go', 'version'))) throw new Missing('there is no go');
  const tidied = await execute('go', ['mod', 'tidy', '-e'], { cwd: project, seconds: 180 });
  if (tidied.code !== 0 || /could not|dial tcp|no such host|timeout/i.test(tidied.output))
    throw new Missing(`the Go modules cannot be fetched: ${lastLine(tidied.output)}`);
}

export const OAPI_CODEGEN_VERSION = '2.8.2';

/** Debian has no package of it. */
export const oapiCodegen = once(async () => {
  const module = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
  if (!(await has('oapi-codegen', '--version')))
    throw new Missing(`there is no oapi-codegen: go install ${module}@v${OAPI_CODEGEN_VERSION}`);
  return 'oapi-codegen';
});

/** PHP, with the HTTP library that generated clients use. */
export const php = once(async () => {
  if (!(await has('php', '--version'))) throw new Missing('there is no php: install php-cli');
  const guzzle = '/usr/share/php/GuzzleHttp/autoload.php';
  if (!existsSync(guzzle)) throw new Missing('there is no Guzzle: install php-guzzlehttp-guzzle');
  for (const extension of ['curl', 'mbstring'])
    if (!(await has('php', '-r', `exit((int) !extension_loaded('${extension}'));`)))
      throw new Missing(`PHP has no ${extension}: install php-${extension}`);
  return guzzle;
});

/** Ruby, with the HTTP library that generated clients use. */
export const ruby = once(async () => {
  if (!(await has('ruby', '--version'))) throw new Missing('there is no ruby');
  if (!(await has('ruby', '-e', 'require "typhoeus"')))
    throw new Missing('there is no Typhoeus: install ruby-typhoeus');
  return 'ruby';
});
