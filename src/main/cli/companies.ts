import type { Command } from 'commander';
import { createCompany, type NewCompany } from '../../operate/installation/create-company';
import type { Config } from '../../platform/config';
import { buildOwnerLink } from '../../domain/people/console-links';
import { makeOwnerToken } from '../../domain/people/sign-in/owner';
import { createBusyDemo, createDemo } from '../demo/demo';
import { removeDemo } from '../../operate/installation/remove-demo';
import { parseCompanyId, parseCountry, json, requireCompany, run } from './command';

/** The key pair, and the link that makes the owner: each is shown once. */
const describeCompany = (
  { company_id, credentials: { public_key, private_key }, owner_token }: NewCompany,
  config: Config,
) => ({
  company_id: Number(company_id),
  public_key,
  private_key,
  owner_link: buildOwnerLink(config, owner_token),
});

export function addCompanyCommands(program: Command): void {
  addDemoCommands(program);
  addCompanyCreate(program);
  addOwnerLink(program);
}

function addOwnerLink(program: Command): void {
  program
    .command('owner')
    .description('the people who may do everything in a company')
    .command('link')
    .description('print a link with which a person becomes an owner, once; earlier ones are void')
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId)
    .addOption(json())
    .action((options) =>
      run(options.json, async (installation) => {
        const { deps } = installation;
        const companyId = await requireCompany(installation, options.company);
        const token = await makeOwnerToken(deps.tenants.of(companyId), deps.pepper);
        return { company_id: Number(companyId), owner_link: buildOwnerLink(deps.config, token) };
      }),
    );
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
          describeCompany(
            busy
              ? await createBusyDemo(deps, name, { seed, progress: showShare(process.stderr) })
              : await createDemo(deps, name),
            deps.config,
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
    .description('make a company, its first key pair, and a link that makes its owner')
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
        describeCompany(
          await createCompany(options.name, deps, { country: options.country }),
          deps.config,
        ),
      ),
    );
}

/** Shows how much of a day is done: in a terminal always, elsewhere at each tenth. */
function showShare(output: NodeJS.WriteStream): (share: number) => void {
  let last = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === last || (!output.isTTY && percent % 10 > 0)) return;
    last = percent;
    const text = `Playing the day: ${percent} %`;
    output.write(
      output.isTTY && percent < 100 ? `\r${text}` : `${output.isTTY ? '\r' : ''}${text}\n`,
    );
  };
}
