import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { findBuilt } from './build';
import { TYPESCRIPT } from './process';
import { PEPPER_OF_TESTS, type World } from './world';

const ROOT = join(__dirname, '../..');

type Environment = Record<string, string>;

/** The environment of a process, or a command, on the database and the files of a world. */
export const buildEnvironment = ({
  database,
  deps,
}: Pick<World, 'database' | 'deps'>): Environment => ({
  ...database,
  KEY_PEPPER: PEPPER_OF_TESTS,
  DATA_DIR: deps.config.data_dir,
  STORAGE_DIR: deps.config.storage_dir,
  LOG_LEVEL: 'silent',
});

/** Runs a file of this folder as a process that a test may kill, and waits until it is up. */
async function startFile(
  file: string,
  environment: Environment,
  processes: ChildProcess[] = [],
): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, file)], {
    cwd: ROOT,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    child.once('exit', (code) => fail(new Error(`${file} ended with ${code}`)));
  });
  return child;
}

/** Runs a file of this folder on a world, which ends it when it is closed. */
export const startWorldProcess = (world: World, file: string, environment: Environment = {}) =>
  startFile(file, { ...buildEnvironment(world), ...environment }, world.processes);

/**
 * Runs jobs, with the built program if there is one. Its intervals are short: a dead process is
 * noticed soon.
 */
export function startJobProcess(
  environment: Environment,
  processes?: ChildProcess[],
): Promise<ChildProcess> {
  const built = findBuilt();
  const PROGRAM = built ? join(built, 'dist') : join(ROOT, 'src');
  return startFile('job-process.run.ts', { PROGRAM, ...environment }, processes);
}

/** Ends a process, if it has not ended yet. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((done) => {
    child.once('exit', done);
    child.kill('SIGKILL');
  });
}
