import type { Command } from 'commander';
import { sqlOn } from '../db/sql';
import { replacePepper } from '../installation/pepper';
import { json, runOnDatabase } from './command';

/** `migrate` and `pepper replace`. */
export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description('make the database if it is missing, and bring it up to this version')
    .addOption(json())
    .action((options) =>
      runOnDatabase(options.json, async ({ prepare }) => ({ applied: await prepare() }), {
        makes_database: true,
      }),
    );
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
          replaced = await replacePepper(sqlOn(client), config);
        });
        return { invalid_credentials: replaced.invalid };
      }),
    );
}
