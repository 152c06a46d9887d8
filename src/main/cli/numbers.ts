import type { Command } from 'commander';
import type { PhoneNumber } from 'libphonenumber-js/max';
import { ownNumberFacts } from '../../platform/carriers/number-facts';
import type { Installation } from '../../operate/installation/open';
import { addCountedNumber } from '../../domain/numbers/add-number';
import { parseCompanyId, requireCompany, json, parsePhoneNumber, run } from './command';

export function addNumberCommands(program: Command): void {
  program
    .command('number')
    .description('numbers of a company: leads are called and texted from them')
    .command('add')
    .description(
      'add a number that was bought from the carrier by other means; ' +
        'point its callbacks to /api/v1/telephony',
    )
    .argument('<phone_number>', '+ and digits', parsePhoneNumber)
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId)
    .addOption(json())
    .action((number, options) =>
      run(options.json, (installation) => add(installation, number, options.company)),
    );
}

async function add(
  installation: Installation,
  parsed: PhoneNumber,
  company: number | undefined,
): Promise<object> {
  const { deps } = installation;
  const db = deps.tenants.of(await requireCompany(installation, company));
  const number = {
    ...ownNumberFacts(parsed.number),
    carrier: deps.carrier.name,
    carrier_number_id: null,
  };
  const id = await db.transaction((tx) => addCountedNumber(tx, number, deps.clock()));
  return { company_id: Number(db.company_id), id: Number(id), phone_number: number.phone_number };
}
