#!/usr/bin/env node
import { CommanderError, type Command } from 'commander';
import { createProgram } from './program';

/** Exit code of a command that was called wrongly. */
const WRONG_USE = 2;

/** Runs a command and returns its exit code; what could not be done is printed. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = createProgram();
  throwOnExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // The library has printed the fault.
    if (error instanceof CommanderError) return error.exitCode && WRONG_USE;
    // A message may quote text of another service, a file or a row.
    const { message } = error as Error;
    process.stderr.write(`${message.replace(/[^\P{Cc}\t\n]/gu, '?')}\n`);
    return 1;
  }
}

function throwOnExit(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwOnExit);
}

// Ends at once: Prisma's schema engine leaves a timer that would keep the process for 10 seconds.
if (require.main === module)
  void runCommandLine(process.argv.slice(2)).then((code) => process.exit(code));
