import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A source tree whose benches run, with the Node version of its service. */
export interface SourceTree {
  name: string;
  folder: string;
  /** Folder of another `node` than the running one. */
  node_folder?: string;
}

export type Options = Record<string, string>;

export const toArguments = (options: Options): string[] =>
  Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);

/** Returns the options of this command except `without`, with defaults for absent ones. */
export function readOptions(defaults: Options, without: readonly string[]): Options {
  const userOptions: Options = {};
  for (const [at, arg] of process.argv.entries()) {
    const value = process.argv[at + 1];
    if (!arg.startsWith('--') || value === undefined || value.startsWith('--')) continue;
    if (!without.includes(arg.slice(2))) userOptions[arg.slice(2)] = value;
  }
  return { ...defaults, ...userOptions };
}

/** Runs a bench in its own process. The build must be up to date. */
export async function runBench(
  { name, folder, node_folder }: SourceTree,
  bench: string,
  { options, show }: { options: Options; show: boolean },
): Promise<void> {
  const args = ['--only', bench, '--no-build', ...toArguments(options)];
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/bench/index.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', show ? 'inherit' : 'ignore', 'inherit'],
    env: { ...process.env, ...(node_folder && { BENCH_NODE_FOLDER: node_folder }) },
  });
  const end = () => void child.kill();
  process.once('exit', end);
  const [code] = await once(child, 'exit');
  process.off('exit', end);
  if (code !== 0) throw new Error(`the bench ${bench} of ${name} ended with code ${code}`);
}
