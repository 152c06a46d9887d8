import type { ImportCommand } from './import';

const WIDTH = 30;
/** Where lines cannot be overwritten, one is written whenever so much more is done. */
const STEP = 0.2;

/** Shows the progress of an import: a bar that moves in a terminal, a line now and then elsewhere. */
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
    const bar = `${part.padEnd(6)} [${'='.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${(done * 100).toFixed(0).padStart(3)} %`;
    const rows = record?.total_count
      ? `  ${number(record.import_count! + record.rejected_count!)} of ${number(record.total_count)} rows`
      : '';
    output.write(
      output.isTTY
        ? `\r${bar}${rows}${done >= 1 && part === 'import' ? '\n' : ''}`
        : `${bar}${rows}\n`,
    );
  };
}

const number = (n: number): string => n.toLocaleString('en');
