import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { has, Missing, executeOrFail } from './execute';
import { goModules, javaLibraries, php, python, ruby } from './toolchains';

// How each client is compiled, or, where nothing is compiled, loaded to the last file.

const ROOT = join(__dirname, '../../..');
const SCRIPTS = join(__dirname, 'load');

/** The options of a strict project that is bundled. */
const TSC = [
  ...['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'],
  ...['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable', '--types', 'node'],
  ...['--typeRoots', join(ROOT, 'node_modules/@types')],
];

export function listFiles(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

async function typescript(folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  await executeOrFail('type-checking', tsc, [...TSC, ...listFiles(folder, '.ts')], { cwd: folder });
}

/** Imports every module of a Python package, and reads every example; a warning is an error. */
const importWith = (name: string) => async (folder: string) => {
  const args = ['-W', 'error', join(SCRIPTS, 'load.py'), name, join(folder, '../contract.json')];
  const env = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
  await executeOrFail('importing, or reading an example,', join(await python(), 'python'), args, {
    env,
  });
};

async function java(folder: string): Promise<void> {
  const libraries = await javaLibraries(folder);
  const sources = join(folder, 'sources.txt');
  writeFileSync(sources, listFiles(join(folder, 'src/main/java'), '.java').join('\n'));
  const classes = join(folder, 'classes');
  const args = [
    '-J-XX:TieredStopAtLevel=1',
    '-nowarn',
    '-proc:none',
    '-d',
    classes,
    '-cp',
    join(libraries, '*'),
  ];
  await executeOrFail('compiling', 'javac', [...args, `@${sources}`]);
}

/** Builds the client and its program, if any; without optimizing, which takes twice as long. */
async function go(folder: string): Promise<void> {
  await goModules(folder);
  const programs = existsSync(join(folder, 'cmd')) ? ['-o', `${folder}/`] : [];
  const args = ['build', '-gcflags=-N -l', ...programs, './...'];
  await executeOrFail('compiling', 'go', args, { cwd: folder });
}

/**
 * There is no compiler of C# in these registries: the syntax and the names of types are checked.
 */
async function csharp(folder: string): Promise<void> {
  const args = [join(SCRIPTS, 'check_csharp.py'), join(folder, 'src/Org.OpenAPITools')];
  await executeOrFail('checking', join(await python(), 'python'), args);
}

async function loadPhp(folder: string): Promise<void> {
  const guzzle = await php();
  await executeOrFail('loading', 'php', [join(SCRIPTS, 'load.php'), guzzle, join(folder, 'lib')]);
}

async function loadRuby(folder: string): Promise<void> {
  if (!(await has(await ruby(), '--version'))) throw new Missing('there is no ruby');
  const args = ['-I', join(folder, 'lib'), join(SCRIPTS, 'load.rb'), join(folder, 'lib')];
  await executeOrFail('loading', 'ruby', args);
}

export const compilers = {
  python: importWith('openapi_client'),
  'openapi-python-client': importWith('trunkline_client'),
  java,
  go,
  'oapi-codegen': go,
  'typescript-fetch': typescript,
  'openapi-fetch': typescript,
  'hey-api': typescript,
  orval: typescript,
  'openapi-zod-client': typescript,
  'swagger-typescript-api': typescript,
  kubb: typescript,
  'rtk-query': typescript,
  csharp,
  php: loadPhp,
  ruby: loadRuby,
} as const;
