import type { Command } from 'commander';
import { createCompany, type NewCompany } from '../../operate/installation/create-company';
import { createBusyDemo, createDemo } from '../demo/demo';
import { removeDemo } from '../../operate/installation/remove-demo';
import { parseCompanyId, parseCountry, json, run } from './command';

const toKeyPair = ({ company_id, credentials: { public_key, private_key } }: NewCompany) => ({
  company_id: Number(company_id),
  public_key,
  private_key,
});

export function addCompanyCommands(program: Command): void {
  addDemoCommands(program);
  addCompanyCreate(program);
}

function addDemoCommands(program: Command): void {
  const demo = program
    .command('demo')
    .alias('seed')
    .description('make another demo company, with buyers, offers and a schedule')
    .option('--name <name>', 'name of the company', 'Demo Company')
    .option('--busy', 'with the calls, leads, imports and webhooks of the last 24 hours')
    .option('--seed <seed>', 'with --busy: what the day is drawn by', 'trunkline')
    .addOption(json())
    .action(({ name, busy, seed, json: asJson }) =>
      run(
        asJson,
        async ({ deps }) =>
          toKeyPair(
            busy ? await createBusyDemo(deps, name, { seed }) : await createDemo(deps, name),
          ),
        { makes_database: true },
      ),
    );
  demo
    .command('remove')
    .description('remove a demo company and everything in it; no other company can be removed')
    .option('--company <id>', 'company; not needed where there is only one demo', parseCompanyId)
    .addOption(json())
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals();
      return run(options.json, async ({ deps }) => {
        const { id, name } = await removeDemo(deps, options.company);
        return { removed: id, name };
      });
    });
}

function addCompanyCreate(program: Command): void {
  const company = program.command('company').description('companies');
  company
    .command('create')
    .description('make a company and its first key pair, which may do everything')
    .requiredOption('--name <name>', 'name of the company')
    .option(
      '--country <country>',
      'two letters; telephone numbers without a country code belong to this country',
      parseCountry,
      'US',
    )
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) =>
        toKeyPair(await createCompany(options.name, deps, { country: options.country })),
      ),
    );
}
