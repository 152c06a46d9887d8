import { Command } from 'commander';
import { contract } from '../../platform/contract/contract';
import { addAsteriskCommand } from './asterisk';
import { addBackupCommands } from './backup';
import { addCallCommands } from './calls';
import { addCellCommands } from './cells';
import { json, print } from './command';
import { addCompanyCommands } from './companies';
import { addCompletionCommand } from './completion';
import { addDatabaseCommands } from './database';
import { examine } from './doctor';
import { type Finding } from './finding';
import { addEraseCommands } from './erase';
import { addFreeswitchCommand } from './freeswitch';
import { addImportCommand } from './imports';
import { addJobCommands } from './jobs';
import { addNumberCommands } from './numbers';
import { addPgBouncerCommand } from './pgbouncer';
import { addStartCommands } from './start';
import { addStorageCommands } from './storage';
import { addSwitchCommands } from './switch';
import { addTokenCommands } from './tokens';
import { addUserCommands } from './users';

export function createProgram(): Command {
  const program = new Command('trunkline')
    .description("The operator's commands. With --json each prints one JSON document.")
    .version(contract.document.info.version)
    .showHelpAfterError()
    .addHelpText('after', EXIT_CODES);
  addStartCommands(program);
  addDatabaseCommands(program);
  addBackupCommands(program);
  addCompanyCommands(program);
  addTokenCommands(program);
  addUserCommands(program);
  addNumberCommands(program);
  addEraseCommands(program);
  addImportCommand(program);
  addCallCommands(program);
  addJobCommands(program);
  addPgBouncerCommand(program);
  addStorageCommands(program);
  addCellCommands(program);
  addAsteriskCommand(program);
  addFreeswitchCommand(program);
  addSwitchCommands(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  for (const [path, example] of Object.entries(EXAMPLES))
    findCommand(program, path).addHelpText('after', `\nExample:\n  $ npx trunkline ${example}`);
  return program;
}

const EXIT_CODES = `
Exit codes: 0 done; 1 not done, or something is wrong, as the message says; 2 wrong use.`;

/** The command of a path such as `key list`. */
export function findCommand(program: Command, path: string): Command {
  return path.split(' ').reduce((command, name) => {
    const subcommand = command.commands.find((child) => child.name() === name);
    if (!subcommand) throw new Error(`there is no command ${path}`);
    return subcommand;
  }, program);
}

function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look for what is wrong, and say how to fix it')
    .option('--live', 'also check what must be so before real calls come in')
    .addOption(json())
    .action(async (options) => {
      const findings = await examine(options);
      if (options.json) print(findings, true);
      else process.stdout.write(findings.map(formatFinding).join(''));
      process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
    });
}

function formatFinding({ check, ok, finding, remedy }: Finding): string {
  const line = `${ok ? 'ok   ' : 'WRONG'} ${check.padEnd(16)} ${finding}\n`;
  return remedy ? `${line}      ${remedy}\n` : line;
}

/** An example of each command, shown below its help. */
export const EXAMPLES: Record<string, string> = {
  start: 'start',
  worker: 'worker',
  migrate: 'migrate',
  'pepper replace': 'pepper replace',
  'settings accept': 'settings accept',
  backup: 'backup /var/backups/trunkline-2027-01-31.tar.gz',
  'record-backup': 'record-backup',
  restore: 'restore /var/backups/trunkline-2027-01-31.tar.gz',
  'export-company': 'export-company 1 acme.tar.gz',
  demo: "demo --name 'Demo Company'",
  'demo remove': 'demo remove --company 2',
  'company create': "company create --name 'Acme Insurance' --country US",
  'owner link': 'owner link --company 1',
  'key create': "key create --name 'Landing pages' --permission leads:create",
  'key list': 'key list --company 1',
  'key rotate': 'key rotate pk_live_example --keep-hours 24',
  'key revoke': 'key revoke pk_live_example',
  'user invite': 'user invite ann@example.com --team 1',
  'number add': 'number add +12135550123',
  'erase-person': 'erase-person +13105550188 --company 1',
  import: 'import 1 do-not-call.csv',
  explain: 'explain 1 --caller +13105550188 --token state=CA',
  caps: 'caps --full',
  jobs: 'jobs',
  asterisk: 'asterisk --switch edge-1 --key pk_live_1:sk_live_1 --ari-key trunkline:secret',
  freeswitch:
    'freeswitch --switch edge-1 --key pk_live_1:sk_live_1 --httapi-key trunkline:a --socket-password b',
  'switch test': 'switch test --url http://127.0.0.1:3900 --answers sip:bob@pbx.internal',
  pgbouncer: 'pgbouncer',
  'storage copy': 'storage copy --from /var/lib/trunkline/storage',
  distribute: 'distribute --cells 4 --apply',
  'cells list': 'cells list',
  'cells add': 'cells add',
  'cells move': 'cells move 3 db2.internal:5432',
  'cells rebalance': 'cells rebalance --apply',
  'cells isolate': 'cells isolate 7',
  doctor: 'doctor --live',
  completion: 'completion bash',
};
