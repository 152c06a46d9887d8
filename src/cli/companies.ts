import type { Command } from 'commander';
import { createCompany, type NewCompany } from '../installation/create-company';
import { createDemo } from '../installation/demo';
import { country, json, run } from './command';

const keysOf = ({ company_id, credentials: { public_key, private_key } }: NewCompany) => ({
  company_id: Number(company_id),
  public_key,
  private_key,
});

/** `company create` and `seed`. */
export function addCompanyCommands(program: Command): void {
  program
    .command('seed')
    .description('make another demo company, with buyers, offers and a schedule')
    .option('--name <name>', 'name of the company', 'Demo Company')
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) => keysOf(await createDemo(deps, options.name))),
    );

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
