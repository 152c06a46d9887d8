import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { executeOrFail, StepFailed } from './execute';
import type { Company } from './server';
import { javaLibraries, php, python, ruby } from './toolchains';

// Each client has a program, as a user of it would write it. All of them do the same and print the
// same, so what they print is compared with one expectation.

const DRIVERS = join(__dirname, '../drivers');
const LOADER = join(__dirname, '../../../node_modules/tsx/dist/loader.mjs');

export interface Driver {
  /** The program's source below tests/clients/drivers. */
  source: string;
  /** Where it is put among the generated files, and is compiled with them. */
  path: string;
  command: (folder: string) => Promise<[program: string, ...args: string[]]>;
}

const typescript = (name: string): Driver => ({
  source: `${name}/driver.ts`,
  path: 'driver.ts',
  command: async () => ['node', '--import', LOADER, 'driver.ts'],
});

const script = (source: string, command: Driver['command']): Driver => ({
  source,
  path: source.split('/').at(-1)!,
  command,
});

const pythonScript = (name: string): Driver =>
  script(`${name}/driver.py`, async () => [
    join(await python(), 'python'),
    ...['-W', 'error', 'driver.py'],
  ]);

const goProgram = (name: string): Driver => ({
  source: `${name}/main.go`,
  path: 'cmd/driver/main.go',
  command: async (folder) => [join(folder, 'driver')],
});

/** C# has none: there is no way to run it here. */
export const drivers: Record<string, Driver> = {
  python: pythonScript('python'),
  'openapi-python-client': pythonScript('openapi-python-client'),
  'typescript-fetch': typescript('typescript-fetch'),
  'openapi-fetch': typescript('openapi-fetch'),
  'hey-api': typescript('hey-api'),
  orval: typescript('orval'),
  'openapi-zod-client': typescript('openapi-zod-client'),
  'swagger-typescript-api': typescript('swagger-typescript-api'),
  kubb: typescript('kubb'),
  'rtk-query': typescript('rtk-query'),
  java: {
    source: 'java/Driver.java',
    path: 'src/main/java/Driver.java',
    command: async (folder) => [
      ...(['java', '-XX:TieredStopAtLevel=1', '-cp'] as const),
      `${join(folder, 'classes')}:${join(await javaLibraries(folder), '*')}`,
      'Driver',
    ],
  },
  go: goProgram('go'),
  'oapi-codegen': goProgram('oapi-codegen'),
  php: script('php/driver.php', async () => ['php', 'driver.php', await php()]),
  ruby: script('ruby/driver.rb', async () => [await ruby(), '-I', 'lib', 'driver.rb']),
};

export function copyDriver(driver: Driver, folder: string): void {
  const file = join(folder, driver.path);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(join(DRIVERS, driver.source), file);
}

const EXPECTED = {
  // Two requests with one Idempotency-Key create one buyer.
  created: ['Coast', true],
  shown: 'Coast Legal',
  pages: [['Acme', 'Bayline'], ['Coast Legal']],
  lead: ['+13105550177', { first_name: 'Ann' }],
  imported: ['succeeded', 1, 1],
  call: ['dial', ['Acme']],
  decision: [['Acme', true]],
  problem: [422, ['number']],
};

/** An update that sends a name changes the name, and nothing else. */
const UPDATES = [
  ['Buyer', ['name']],
  ['Schedule', ['name']],
];

/** Runs the program of a client, and compares its output and its changes with the expected. */
export async function drive(driver: Driver, folder: string, company: Company): Promise<void> {
  const [program, ...args] = await driver.command(folder);
  const { stdout, output } = await executeOrFail('running', program, args, {
    cwd: folder,
    env: { ...company.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
  compare('the program prints something else', lastJson(stdout, output), EXPECTED);
  compare('the updates change something else', await company.updates(), UPDATES);
}

function lastJson(stdout: string, output: string): unknown {
  try {
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } catch {
    throw new StepFailed('the program prints no JSON', output);
  }
}

function compare(title: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const text = [`expected ${JSON.stringify(expected)}`, `actual   ${JSON.stringify(actual)}`];
  throw new StepFailed(title, text.join('\n'));
}
