import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { TYPESCRIPT } from './process';
import { PEPPER_OF_TESTS, type World } from './world';

type Environment = Record<string, string>;

/** The environment of a process, or a command, on the database and the files of a world. */
export const buildEnvironment = ({ database, deps }: World): Environment => ({
  ...database,
  KEY_PEPPER: PEPPER_OF_TESTS,
  DATA_DIR: deps.config.data_dir,
  STORAGE_DIR: deps.config.storage_dir,
  LOG_LEVEL: 'silent',
});

/** Runs a file of this folder on a world, as a process that a test may kill. */
export async function startWorldProcess(
  world: World,
  file: string,
  environment: Environment = {},
): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, file)], {
    cwd: join(__dirname, '../..'),
    env: { PATH, HOME, ...buildEnvironment(world), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  world.processes.push(child);
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    child.once('exit', (code) => fail(new Error(`${file} ended with ${code}`)));
  });
  return child;
}

/** Runs the jobs of a world. Its intervals are short: a dead process is noticed soon. */
export const startJobProcess = (world: World) => startWorldProcess(world, 'job-process.run.ts');

export function kill(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.once('exit', () => done());
    child.kill('SIGKILL');
  });
}
