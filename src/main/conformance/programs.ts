import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { extendEnvironment } from '../config';
import type { CallPlan, PlacedCall } from './stage';

// Two programs of an adapter's author: the adapter itself, and one that places a call.

type Environment = Record<string, string>;

/** In a group of its own, which ends as a whole: a shell may have started others. */
function start(command: string, environment: Environment): ChildProcess {
  const env = extendEnvironment(environment);
  return spawn(command, { shell: true, detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function end({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Keeps the last text that the program has printed. */
function follow({ stdout, stderr }: ChildProcess, maxLength = 300): () => string {
  let text = '';
  for (const stream of [stdout, stderr])
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-maxLength);
    });
  return () => text.trim();
}

export interface AdapterProgram {
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the adapter; `restart` ends it as a crash does. */
export function startAdapter(
  command: string,
  environment: Environment,
  print: (text: string) => void,
): AdapterProgram {
  const run = () => {
    const child = start(command, environment);
    const read = follow(child);
    child.once('exit', (code, signal) => {
      if (signal === null) print(`The adapter has ended with ${code}: ${read()}\n`);
    });
    return child;
  };
  let child = run();
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    end(child, signal);
    await exit;
  };
  return {
    restart: async () => {
      await stop('SIGKILL');
      child = run();
    },
    stop: () => stop('SIGTERM'),
  };
}

const KILL_MS = 5_000;

/**
 * Returns a function that places calls by a program. Exit code 0 says that the call went as
 * expected; the program ends with the call, and a SIGTERM makes its caller hang up.
 */
export const createCaller =
  (command: string) =>
  ({ number, caller, talk_seconds, expected }: CallPlan): PlacedCall => {
    const child = start(command, {
      TRUNKLINE_NUMBER: number,
      TRUNKLINE_CALLER: caller,
      TRUNKLINE_TALK_SECONDS: talk_seconds === null ? '' : String(talk_seconds),
      TRUNKLINE_EXPECTED: expected,
    });
    const read = follow(child);
    const ended = once(child, 'exit').then(([code, signal]) => {
      if (code === 0 || signal !== null) return undefined;
      return `the program that calls has ended with ${code}: ${read()}`;
    });
    return {
      ended,
      hangUp: () => {
        end(child, 'SIGTERM');
        void Promise.race([ended, sleep(KILL_MS, undefined, { ref: false })]).then(() =>
          end(child, 'SIGKILL'),
        );
      },
    };
  };

/** Without a program, a person at the terminal places each call. */
export const askForCall = ({ number, caller, talk_seconds, expected }: CallPlan): PlacedCall => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const talk =
    talk_seconds === null
      ? 'stay on the line until you are hung up on, or asked to hang up'
      : `hang up ${talk_seconds} s after the answer`;
  const rest = /^\d+$/.test(expected) ? `it should be refused with ${expected}` : talk;
  const question = `  Call ${number} as ${caller}; ${rest}. Then press Enter. `;
  return {
    ended: terminal.question(question).then(() => {
      terminal.close();
      return undefined;
    }),
    hangUp: () => void process.stderr.write('  Hang up now. '),
  };
};
