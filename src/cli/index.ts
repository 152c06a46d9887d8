#!/usr/bin/env node
import { Command } from 'commander';
import { contract } from '../contract';
import { addBackupCommands } from './backup';
import { addCellCommands } from './cells';
import { json, print } from './command';
import { addCompanyCommands } from './companies';
import { addDatabaseCommands } from './database';
import { examine, type Finding } from './doctor';
import { addImportCommand } from './imports';
import { addNumberCommands } from './numbers';
import { addPgBouncerCommand } from './pgbouncer';
import { addStorageCommands } from './storage';
import { addTokenCommands } from './tokens';

const program = new Command('trunkline')
  .description("The operator's commands. With --json each prints one JSON document.")
  .version(contract.document.info.version)
  .showHelpAfterError();

addDatabaseCommands(program);
addCompanyCommands(program);
addTokenCommands(program);
addNumberCommands(program);
addImportCommand(program);
addPgBouncerCommand(program);
addStorageCommands(program);
addCellCommands(program);
addBackupCommands(program);

program
  .command('doctor')
  .description('look for what is wrong, and say how to fix it')
  .addOption(json())
  .action(async (options) => {
    const findings = await examine();
    if (options.json) print(findings, true);
    else process.stdout.write(findings.map(lineOf).join(''));
    process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
  });

function lineOf({ check, ok, finding, remedy }: Finding): string {
  const line = `${ok ? 'ok   ' : 'WRONG'} ${check.padEnd(14)} ${finding}\n`;
  return remedy ? `${line}      ${remedy}\n` : line;
}

// Ends at once: Prisma's schema engine leaves a timer that would keep the process for 10 seconds.
program.parseAsync().then(
  () => process.exit(),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
