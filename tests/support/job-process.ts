import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { TYPESCRIPT } from './process';
import { PEPPER_OF_TESTS, type World } from './world';

const ROOT = join(__dirname, '../..');

/**
 * Starts a process that runs the jobs of a world, and that a test may kill. Its intervals are
 * short, so that a dead process is noticed soon.
 */
export async function startJobProcess(world: World): Promise<ChildProcess> {
  const { storage_dir, data_dir } = world.deps.config;
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, 'job-process.run.ts')], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...world.database,
      DATA_DIR: data_dir,
      STORAGE_DIR: storage_dir,
      LOG_LEVEL: 'silent',
      KEY_PEPPER: PEPPER_OF_TESTS,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  world.processes.push(child);
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    child.once('exit', (code) => fail(new Error(`the job process ended with ${code}`)));
  });
  return child;
}

export function kill(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.once('exit', () => done());
    child.kill('SIGKILL');
  });
}
