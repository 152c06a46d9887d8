import { runCommandLine } from '../../src/main/cli/index';
import { StartError } from '../../src/platform/start-error';

export interface Printed {
  code: number;
  output: string;
  errors: string;
}

type Environment = Record<string, string>;

/** Runs a command of the program in this process, with an environment of its own. */
export async function runCommand(args: string[], environment: Environment): Promise<Printed> {
  const { env, exitCode } = process;
  const forget = rememberListeners();
  process.env = { ...env, ...environment };
  process.exitCode = undefined;
  try {
    return await capture(() => runCommandLine(args));
  } finally {
    process.env = env;
    process.exitCode = exitCode;
    forget();
  }
}

/** Commands listen until their process ends. Returns what removes the listeners added since. */
function rememberListeners(): () => void {
  const names = ['SIGINT', 'exit'];
  const before = names.map((name) => new Set(process.rawListeners(name)));
  return () => {
    for (const [at, name] of names.entries())
      for (const listener of process.rawListeners(name) as (() => void)[])
        if (!before[at]!.has(listener)) process.off(name, listener);
  };
}

/** Runs a start of the server or of a worker that must be refused, in this process. */
export const runRefused = (
  start: (environment: NodeJS.ProcessEnv) => Promise<void>,
  environment: Environment,
): Promise<Printed> =>
  capture(async () => {
    try {
      await start(environment);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      process.stderr.write(error.message);
      return 1;
    }
    throw new Error('the start was not refused');
  });

/** Runs the work, which returns an exit code, and collects what it prints. */
async function capture(work: () => Promise<number>): Promise<Printed> {
  const printed = { output: '', errors: '' };
  const record = (stream: NodeJS.WriteStream, name: keyof typeof printed) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    });
  const writes = [record(process.stdout, 'output'), record(process.stderr, 'errors')];
  try {
    const code = await work();
    return { code, ...printed };
  } finally {
    writes.forEach((write) => write.mockRestore());
  }
}
