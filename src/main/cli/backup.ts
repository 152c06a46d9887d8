import { resolve } from 'node:path';
import type { Command } from 'commander';
import { backUp, type BackupResult } from '../../operate/backup/back-up';
import { recordBackup } from '../../operate/backup/last-backup';
import { exportCompany } from '../../operate/backup/export-company';
import { restore, type RestoreResult } from '../../operate/backup/restore';
import { sqlOn } from '../../data/sql';
import { openConfiguredStorage } from '../../operate/installation/deps';
import { openDatabaseServer } from '../../operate/installation/open';
import { claimPepper, keepPepper } from '../../operate/installation/pepper';
import { loadRecordedMark } from '../../operate/installation/storage-mark';
import { commandConfig, parseCompanyId, json, print, run, runOnDatabase } from './command';

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description(
      'write everything of the installation, as of one instant, into one file, while the service ' +
        'runs: all tables, uploaded files and the pepper; keep it as safe as a password',
    )
    .argument('<file>', 'a file that does not exist yet, such as trunkline.tar.gz')
    .addOption(json())
    .action(async (file, options) => print(await backUpTo(resolve(file)), options.json));
  program
    .command('record-backup')
    .description(
      'record that another tool has backed up database, files and pepper, for the doctor',
    )
    .addOption(json())
    .action((options) =>
      runOnDatabase(options.json, async ({ prepare }) => {
        await prepare((client) => recordBackup(sqlOn(client), new Date()));
        return { recorded: true };
      }),
    );
  program
    .command('restore')
    .description(
      'restore a backup of this version or an older one into an empty database and storage, and ' +
        'bring it up to this version',
    )
    .argument('<file>', 'a file that `backup` has written')
    .addOption(json())
    .action(async (file, options) => print(await restoreFrom(resolve(file)), options.json));
  program
    .command('export-company')
    .description('write all records of a company, each table as CSV, and its files into one file')
    .argument('<company>', 'its id', parseCompanyId)
    .argument('<file>', 'a file that does not exist yet, such as company.tar.gz')
    .addOption(json())
    .action((company, file, options) =>
      run(options.json, ({ deps }) => exportCompany(deps, BigInt(company), resolve(file))),
    );
}

async function backUpTo(file: string): Promise<BackupResult> {
  const config = commandConfig();
  const database = await openDatabaseServer(config, { existing: true });
  try {
    let pepper = '';
    let mark: string | undefined;
    await database.prepare(async (client) => {
      pepper = await claimPepper(sqlOn(client), config);
      mark = await loadRecordedMark(sqlOn(client));
    });
    const { session_url } = database;
    const storage = openConfiguredStorage(config, mark);
    const result = await backUp({ session_url, storage, pepper }, file);
    await database.prepare((client) => recordBackup(sqlOn(client), new Date(result.taken_at)));
    return result;
  } finally {
    await database.stop();
  }
}

async function restoreFrom(file: string): Promise<RestoreResult> {
  const config = commandConfig();
  const database = await openDatabaseServer(config);
  try {
    const restored = await restore(file, {
      session_url: database.session_url,
      storage: openConfiguredStorage(config),
      keepPepper: (pepper) => keepPepper(pepper, config),
    });
    await database.prepare(async (client) => {
      await claimPepper(sqlOn(client), config);
    });
    return restored;
  } finally {
    await database.stop();
  }
}
