import type { Command } from 'commander';
import { runServer } from '../server';
import { runWorker } from '../worker';

/** The service itself, for installations that have no source: `npx trunkline start`. */
export function addStartCommands(program: Command): void {
  program
    .command('start')
    .description('run the service: API, console and background jobs, until it is ended')
    .action(() => runUntilEnded(runServer));
  program
    .command('worker')
    .description('run background jobs only, until it is ended')
    .action(() => runUntilEnded(runWorker));
}

/** Signals end the process from now on: a command line exits once its command is done. */
async function runUntilEnded(run: () => Promise<void>): Promise<never> {
  process.setSourceMapsEnabled(true);
  await run();
  return new Promise<never>(() => {});
}
