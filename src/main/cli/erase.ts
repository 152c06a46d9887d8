import type { Command } from 'commander';
import type { PhoneNumber } from 'libphonenumber-js/max';
import { erasePerson, type Receipt } from '../../operate/privacy/erase-person';
import { parseCompanyId, requireCompany, json, parsePhoneNumber, run } from './command';

export function addEraseCommands(program: Command): void {
  program
    .command('erase-person')
    .description(
      "erase a person's data from all tables, and print a receipt; calls stay as those of a " +
        'withheld number, and what keeps the person from being contacted stays too',
    )
    .argument('<number>', "the person's telephone number", parsePhoneNumber)
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId)
    .addOption(json())
    .action((number: PhoneNumber, options) =>
      run(options.json, async (installation) => {
        const { deps } = installation;
        const companyId = await requireCompany(installation, options.company);
        const receipt = await erasePerson(deps.tenants, companyId, {
          number: number.number.slice(1),
          now: deps.clock(),
          // Printed at once: if the command is interrupted, the database no longer has them.
          onRecordings: (urls) => {
            for (const url of urls) process.stderr.write(`Delete at the carrier: ${url}\n`);
          },
        });
        return options.json ? receipt : formatReceipt(receipt);
      }),
    );
}

/** The receipt for people: the counts of tables are written as lines. */
function formatReceipt({ erased, kept: keptRows, kept_columns, ...receipt }: Receipt): object {
  const text = (counts: Record<string, number>) =>
    Object.entries(counts).map(([table, rows]) => `${table} ${rows}`);
  const columns = kept_columns.map(
    ({ table, columns: names, why }) => [`  ${table}: ${names.join(', ')}`, why] as const,
  );
  const reasons = [...new Set(columns.map(([, why]) => why))].map((why) =>
    [why, ...columns.filter((column) => column[1] === why).map(([line]) => line)].join('\n'),
  );
  return {
    ...receipt,
    erased: text(erased),
    kept: text(keptRows),
    kept_columns: `\n${reasons.join('\n')}`,
  };
}
