import { spawn } from 'node:child_process';

export interface Options {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  seconds?: number;
}

export interface Result {
  code: number | null;
  /** Both streams, in the order in which they came. */
  output: string;
  stdout: string;
}

/** A step of a client that failed, with what its program printed. */
export class StepFailed extends Error {
  constructor(
    message: string,
    readonly output: string,
  ) {
    super(message);
  }
}

/** A toolchain or registry that is not available here: the client is skipped, not failed. */
export class Missing extends Error {}

/** Runs a program to its end; one that takes longer than it may is ended. */
export function execute(program: string, args: string[], options: Options = {}): Promise<Result> {
  const { cwd, env, seconds = 900 } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => {
    output += `\nended after ${seconds} seconds`;
    child.kill('SIGKILL');
  }, seconds * 1_000);
  return new Promise((done) => {
    const end = (code: number | null) => {
      clearTimeout(timer);
      done({ code, output: stripColors(output), stdout });
    };
    child.once('error', (error) => {
      output += error.message;
      end(null);
    });
    child.once('close', end);
  });
}

export async function executeOrFail(
  step: string,
  program: string,
  args: string[],
  options?: Options,
): Promise<Result> {
  const result = await execute(program, args, options);
  if (result.code !== 0) throw new StepFailed(`${step} failed`, result.output);
  return result;
}

/** True if the program runs with these arguments. */
export async function has(program: string, ...args: string[]): Promise<boolean> {
  return (await execute(program, args, { seconds: 30 })).code === 0;
}

const stripColors = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, '');
