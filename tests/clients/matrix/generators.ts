import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { compilers } from './compilers';
import { executeOrFail } from './execute';
import { oapiCodegen, openapiGenerator, python } from './toolchains';

export const ROOT = join(__dirname, '../../..');
/** Packages of tests/clients/package.json, which `npm run test:clients` installs. */
const PACKAGES = join(__dirname, '../node_modules');
const DRIVERS = join(__dirname, '../drivers');
const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
export const clientsBin = (name: string): string => join(PACKAGES, '.bin', name);

export interface Generator {
  name: string;
  /**
   * Makes the client in the folder and returns the warnings. It runs in that folder, where no
   * configuration of this repository is found.
   */
  generate: (file: string, folder: string) => Promise<string[]>;
  /** Compiles or loads every file of the client. */
  compile: (folder: string) => Promise<void>;
  /** The folders, or the file, in which every operation must be found. */
  operations: string;
}

/** Where the driver finds the client: `./trunkline` in TypeScript, the root elsewhere. */
const target = (name: string, folder: string): string =>
  name === 'typescript-fetch' ? join(folder, 'trunkline') : folder;

/** Options that differ from the generators' defaults; docs/sdk.md says why. */
const OPTIONS: Record<string, string[]> = {
  java: ['--additional-properties', 'useSingleRequestParameter=true'],
};

/** Warnings of the generators although nothing is wrong; docs/sdk.md names each. */
const HARMLESS_WARNINGS = [
  /OpenAPI 3\.1 support is still in beta/,
  // Said of every component that is a list or a map of plain values.
  /Failed to get the schema name: null$/,
  // Java: of every body that has an example.
  /Ignoring complex example on request body$/,
  // C#: of the parameter `time_zone`, for which no model is made.
  /TimeZone \(reserved word\) cannot be used as model name\. Renamed to ModelTimeZone$/,
];

function openapi(language: keyof typeof compilers, operations: string): Generator {
  return {
    name: language,
    operations,
    compile: compilers[language],
    generate: async (file, folder) => {
      const [java = '', ...command] = await openapiGenerator();
      const where = ['-i', file, '-o', target(language, folder)];
      const options = OPTIONS[language] ?? [];
      const args = [...command, 'generate', '-g', language, ...where, ...options];
      const { output } = await executeOrFail('generating', java, args, { cwd: folder });
      return output
        .split('\n')
        .filter((line) => / (WARN|ERROR) /.test(line))
        .filter((line) => !HARMLESS_WARNINGS.some((pattern) => pattern.test(line)))
        .map((line) => line.replace(/^\[\w+\] /, ''));
    },
  };
}

const warningLines = (output: string): string[] =>
  output.split('\n').filter((line) => /\bwarn(ing)?\b|⚠/i.test(line));

/** A generator of npm. It finds the contract and the files that it is configured by in its folder. */
function npmPackage(
  name: keyof typeof compilers,
  operations: string,
  command: (file: string) => [program: string, ...args: string[]],
): Generator {
  return {
    name,
    operations,
    compile: compilers[name],
    generate: async (file, folder) => {
      // The client imports packages.
      if (name !== 'openapi-fetch') symlinkSync(PACKAGES, join(folder, 'node_modules'));
      copyFileSync(file, join(folder, 'openapi.yaml'));
      for (const source of readdirSync(join(DRIVERS, name)))
        copyFileSync(join(DRIVERS, name, source), join(folder, source));
      const [program, ...args] = command(file);
      const { output } = await executeOrFail('generating', program, args, { cwd: folder });
      return warningLines(output);
    },
  };
}

export const GENERATORS: Generator[] = [
  openapi('python', 'openapi_client/api'),
  openapi('java', 'src/main/java/org/openapitools/client/api'),
  openapi('go', '.'),
  openapi('typescript-fetch', 'trunkline/apis'),
  openapi('csharp', 'src/Org.OpenAPITools/Api'),
  openapi('php', 'lib/Api'),
  openapi('ruby', 'lib/openapi_client/api'),
  {
    name: 'openapi-python-client',
    operations: 'trunkline_client/api',
    compile: compilers['openapi-python-client'],
    generate: async (file, folder) => {
      const program = join(await python(), 'openapi-python-client');
      const args = ['generate', '--path', file, '--output-path', folder, '--overwrite'];
      const { output } = await executeOrFail('generating', program, args, {
        cwd: folder,
        // It runs ruff, which is in the same folder.
        env: { PATH: `${await python()}:${process.env.PATH}` },
      });
      return warningLines(output).filter((line) => !line.startsWith('Warning(s) encountered'));
    },
  },
  {
    name: 'oapi-codegen',
    operations: 'trunkline.go',
    compile: compilers['oapi-codegen'],
    generate: async (file, folder) => {
      writeFileSync(join(folder, 'go.mod'), 'module example.com/trunkline\n\ngo 1.24\n');
      const args = ['-o', 'trunkline.go', file];
      const { output } = await executeOrFail('generating', await oapiCodegen(), args, {
        cwd: folder,
      });
      return warningLines(output);
    },
  },
  npmPackage('openapi-fetch', 'trunkline.d.ts', (file) => [
    bin('openapi-typescript'),
    ...[file, '--output', 'trunkline.d.ts'],
  ]),
  npmPackage('hey-api', 'trunkline/sdk.gen.ts', (file) => [
    clientsBin('openapi-ts'),
    ...['-i', file, '-o', 'trunkline', '--no-log-file'],
  ]),
  npmPackage('orval', 'trunkline.ts', (file) => [
    clientsBin('orval'),
    ...['--input', file, '--output', 'trunkline.ts'],
  ]),
  npmPackage('openapi-zod-client', 'trunkline.ts', (file) => [
    clientsBin('openapi-zod-client'),
    ...[file, '-o', 'trunkline.ts', '--media-type-expr', 'mediaType.endsWith("json")'],
  ]),
  npmPackage('swagger-typescript-api', 'trunkline.ts', (file) => [
    clientsBin('swagger-typescript-api'),
    ...['generate', '-p', file, '-o', '.', '-n', 'trunkline.ts'],
  ]),
  npmPackage('kubb', 'trunkline/clients', () => [clientsBin('kubb'), 'generate']),
  npmPackage('rtk-query', 'trunkline.ts', () => [
    clientsBin('rtk-query-codegen-openapi'),
    'openapi-config.cjs',
  ]),
];

/** The operations of the contract that a client does not have, under a name of any casing. */
export function missingOperations(path: string, operations: string[]): string[] {
  const words = new Set(readTexts(path).flatMap((text) => text.match(/\w+/g) ?? []));
  return operations.filter((id) => {
    const snake = id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const pascal = id[0]!.toUpperCase() + id.slice(1);
    return ![id, snake, pascal, `${pascal}Async`].some((name) => words.has(name));
  });
}

/** Names and contents of the files below a folder. */
function readTexts(path: string): string[] {
  if (!statSync(path).isDirectory()) return [readFileSync(path, 'utf8')];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(md|ya?ml|json)$/.test(entry.name))
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`);
}

/** Generates one client into its folder; returns the warnings. */
export async function generate(
  generator: Generator,
  file: string,
  folder: string,
): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  return generator.generate(file, folder);
}
