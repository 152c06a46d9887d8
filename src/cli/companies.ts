import type { Command } from 'commander';
import { createCompany, type NewCompany } from '../installation/create-company';
import { createDemo } from '../installation/demo';
import { removeDemo } from '../installation/remove-demo';
import { companyId, country, json, run } from './command';

const keysOf = ({ company_id, credentials: { public_key, private_key } }: NewCompany) => ({
  company_id: Number(company_id),
  public_key,
  private_key,
});

/** `demo`, `demo remove` and `company create`. */
export function addCompanyCommands(program: Command): void {
  const demo = program
    .command('demo')
    .alias('seed')
    .description('make another demo company, with buyers, offers and a schedule')
    .option('--name <name>', 'name of the company', 'Demo Company')
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) => keysOf(await createDemo(deps, options.name)), {
        makes_database: true,
      }),
    );
  demo
    .command('remove')
    .description('remove a demo company and everything in it; no other company can be removed')
    .option('--company <id>', 'company; not needed where there is only one demo', companyId)
    .addOption(json())
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals();
      return run(options.json, async ({ deps }) => {
        const { id, name } = await removeDemo(deps, options.company);
        return { removed: id, name };
      });
    });

  const company = program.command('company').description('companies');
  company
    .command('create')
    .description('make a company and its first key pair, which may do everything')
    .requiredOption('--name <name>', 'name of the company')
    .option(
      '--country <country>',
      'two letters; telephone numbers without a country code belong to this country',
      country,
      'US',
    )
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) =>
        keysOf(await createCompany(options.name, deps, { country: options.country })),
      ),
    );
}
