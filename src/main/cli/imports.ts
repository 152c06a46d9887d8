import type { Command } from 'commander';
import { identify, toWhere } from '../../data/references';
import { collectFromParts } from '../../operate/installation/all-parts';
import type { Installation } from '../../operate/installation/open';
import { json, print } from './command';
import { importFile, type ImportCommand } from './import-file';
import { withService, withServiceOptions, type ServiceOptions } from './service';
import type { Schemas } from '../../platform/contract/contract';

interface ImportOptions extends ServiceOptions {
  unblock: boolean;
  column?: string;
  json: boolean;
}

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description('put the numbers of a CSV file on a suppression list, through the running service')
    .argument('<list_id>', 'id or uuid of the suppression list')
    .argument('<file>', 'the CSV file, plain or gzip')
    .option('--unblock', 'take the numbers off the list instead', false)
    .option('--column <name>', 'column with the numbers; needed where several look like numbers');
  withServiceOptions(command).addOption(json()).action(runImport);
}

async function runImport(list: string, file: string, options: ImportOptions): Promise<void> {
  const commandKey = {
    company: (installation: Installation) => companyOfList(installation, list),
    name: `Import into list ${list}`,
    permissions: ['buyer_suppression_files:create', 'buyer_suppression_files:read'],
  };
  const record = await withService(options, commandKey, (service) =>
    importFile({
      service,
      list,
      file,
      apply_block_or_unblock: options.unblock ? 'unblock' : 'block',
      caller_id_column_name: options.column,
      progress: progressOnTerminal(process.stderr),
    }),
  );
  const { id, status, total_count, import_count, rejected_count, error_message } = record;
  const { added_count, removed_count } = record;
  print(
    {
      id,
      status,
      total_count,
      import_count,
      rejected_count,
      added_count,
      removed_count,
      ...(error_message && { error_message }),
    },
    options.json,
  );
  process.exitCode = status === 'succeeded' ? 0 : 1;
}

async function companyOfList({ deps }: Installation, list: string): Promise<bigint> {
  const key = identify(list);
  const where = key && { ...toWhere(key), deleted_at: null };
  const [owner] = await collectFromParts(deps, async ({ prisma }) =>
    where ? prisma.buyerSuppression.findMany({ where }) : [],
  );
  if (!owner) throw new Error(`There is no suppression list ${list}.`);
  return owner.company_id;
}

const WIDTH = 30;
/** Share of the work per line, where a line cannot be overwritten. */
const STEP = 0.2;

/** Shows the progress of an import: a moving bar in a terminal, occasional lines elsewhere. */
function progressOnTerminal(output: NodeJS.WriteStream): ImportCommand['progress'] {
  let [shown, last] = ['', -1];
  return (part, done, record) => {
    if (part !== shown && shown !== '' && output.isTTY) output.write('\n');
    const begins = part !== shown;
    shown = part;
    if (!output.isTTY && !begins && done < 1 && done - last < STEP) return;
    if (!output.isTTY && !begins && last >= 1) return;
    last = done;
    const filled = Math.round(done * WIDTH);
    const percent = (done * 100).toFixed(0).padStart(3);
    const bar = `${part.padEnd(6)} [${'='.repeat(filled).padEnd(WIDTH)}] ${percent} %`;
    const end = done >= 1 && part === 'import' ? '\n' : '';
    output.write(
      output.isTTY ? `\r${bar}${formatRows(record)}${end}` : `${bar}${formatRows(record)}\n`,
    );
  };
}

function formatRows(record: Schemas['BuyerSuppressionFile'] | undefined): string {
  if (!record?.total_count) return '';
  const done = record.import_count! + record.rejected_count!;
  return `  ${number(done)} of ${number(record.total_count)} rows`;
}

const number = (n: number): string => n.toLocaleString('en');
