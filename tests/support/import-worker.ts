import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { findBuilt } from './build';
import { TYPESCRIPT } from './process';

const ROOT = join(__dirname, '../..');

export interface ImportWorker {
  child: ChildProcess;
  kill(): Promise<void>;
}

/**
 * Starts a process that runs jobs, and that a test may kill: the built program if there is one.
 * Its intervals are short, so that a dead process is noticed soon.
 */
export async function startImportWorker(
  environment: Record<string, string>,
): Promise<ImportWorker> {
  const built = findBuilt();
  const program = built ? join(built, 'dist') : join(ROOT, 'src');
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, 'import-worker.run.ts'), program], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    void exited.then((code) => fail(new Error(`the worker ended with ${code}`)));
  });
  return {
    child,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
