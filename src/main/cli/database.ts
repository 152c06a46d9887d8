import type { Command } from 'commander';
import { sqlOn, type Sql } from '../../data/sql';
import type { Config } from '../../platform/config';
import { openConfiguredStorage } from '../../operate/installation/deps';
import { describeConfiguredStorage, type DatabaseServer } from '../../operate/installation/open';
import { claimPepper, replacePepper } from '../../operate/installation/pepper';
import { formatProcesses, listOtherProcesses } from '../../operate/installation/running-processes';
import {
  acceptSettings,
  listDifferences,
  readSettings,
  sharedSettings,
} from '../../operate/installation/shared-settings';
import { acceptStorage, storageFault } from '../../operate/installation/storage-mark';
import { StartError } from '../../platform/start-error';
import { json, runOnDatabase } from './command';
import { addMoveOptions, moveAccount, type MoveOptions } from './migrate';

export function addDatabaseCommands(program: Command): void {
  const migrate = program
    .command('migrate')
    .description(
      'make the database if it is missing, and bring it up to this version; with --from, move an ' +
        'account from another service that speaks this API',
    );
  addMoveOptions(migrate)
    .addOption(json())
    .action(async (options: MoveOptions) => {
      const { from } = options;
      if (from !== undefined) return moveAccount({ ...options, from });
      await runOnDatabase(options.json, async ({ prepare }) => ({ applied: await prepare() }), {
        makes_database: true,
      });
    });
  program
    .command('pepper')
    .description('the secret that the digests of credentials are made with')
    .command('replace')
    .description(
      'make the configured pepper that of the database: every credential made with another, and ' +
        'every signing secret of webhooks, is invalid from the next start of the servers on',
    )
    .addOption(json())
    .action((options) =>
      runOnDatabase(options.json, async ({ prepare }, config) => {
        let replaced = { invalid: 0 };
        await prepare(async (client) => {
          const sql = sqlOn(client);
          await requireStopped(sql);
          replaced = await replacePepper(sql, config);
        });
        return { invalid_credentials: replaced.invalid };
      }),
    );
  program
    .command('settings')
    .description('what must be equal in all processes: settings, and the storage of files')
    .command('accept')
    .description(
      'make the configured ones those of the database; processes that run go on with theirs ' +
        'until they are started again',
    )
    .addOption(json())
    .action((options) => runOnDatabase(options.json, accept));
}

/** Running processes would make credentials with the old pepper, which would then be invalid. */
async function requireStopped(sql: Sql): Promise<void> {
  const otherProcesses = await listOtherProcesses(sql);
  if (otherProcesses.length > 0)
    throw new StartError(
      `Stop all servers and workers first (running: ${formatProcesses(otherProcesses)}). ` +
        'The pepper was not replaced.',
    );
}

async function accept({ prepare }: DatabaseServer, config: Config): Promise<object> {
  let changed: string[] = [];
  await prepare(async (client) => {
    const sql = sqlOn(client);
    const settings = sharedSettings(config, await claimPepper(sql, config));
    const claimed = {
      storage: openConfiguredStorage(config),
      name: describeConfiguredStorage(config),
    };
    changed = listDifferences(await readSettings(sql), settings);
    if (await storageFault(sql, claimed)) changed.push(claimed.name);
    await acceptStorage(sql, claimed.storage);
    await acceptSettings(sql, settings);
  });
  return { changed };
}
