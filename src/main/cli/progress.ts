import type { Schemas } from '../../platform/contract/contract';
import type { ImportCommand } from './import-file';

const WIDTH = 30;
/** Share of the work per line, where a line cannot be overwritten. */
const STEP = 0.2;

/** Shows the progress of an import: a moving bar in a terminal, occasional lines elsewhere. */
export function progressOnTerminal(output: NodeJS.WriteStream): ImportCommand['progress'] {
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
