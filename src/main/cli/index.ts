#!/usr/bin/env node
import { CommanderError, type Command } from 'commander';
import { createProgram } from './program';

/** Exit code of a command that was called wrongly. */
const WRONG_USE = 2;

const program = createProgram();
throwOnExit(program);

// Ends at once: Prisma's schema engine leaves a timer that would keep the process for 10 seconds.
program.parseAsync().then(
  () => process.exit(),
  (error: Error) => {
    if (error instanceof CommanderError) process.exit(error.exitCode && WRONG_USE);
    // A message may quote text of another service, a file or a row.
    process.stderr.write(`${error.message.replace(/[^\P{Cc}\t\n]/gu, '?')}\n`);
    process.exit(1);
  },
);

/** By then the library has printed the fault. */
function throwOnExit(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwOnExit);
}
