// CSV for spreadsheets, written and read. Nothing here draws or asks the server.

/** As in the CSV of the API: a spreadsheet must not take a text for a formula. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@|＝＋－＠])|^(?=[\t\r\n])/g;
const NUMBER = /^(-?\d+(\.\d+)?|\+\d{7,15})$/;

function toCell(text: string): string {
  const safe = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line with its end. */
export const toLine = (cells: readonly string[]): string => `${cells.map(toCell).join(',')}\r\n`;

/** Without it, Excel does not read letters such as ñ. */
const BYTE_ORDER_MARK = '\uFEFF';

/** A file of lines, which may be in pieces. */
export const toCsvFile = (lines: readonly BlobPart[]): Blob =>
  new Blob([BYTE_ORDER_MARK, ...lines], { type: 'text/csv' });

const hasOpenQuote = (text: string): boolean => text.split('"').length % 2 === 0;

/** Pieces of a text, put together again where a quoted part was cut; `rest` is still open. */
function joinQuoted(pieces: readonly string[], separator: string) {
  const whole: string[] = [];
  let rest: string | undefined;
  for (const piece of pieces) {
    const text: string = rest === undefined ? piece : rest + separator + piece;
    rest = hasOpenQuote(text) ? text : undefined;
    if (rest === undefined) whole.push(text);
  }
  return { whole, rest };
}

const readCell = (cell: string): string =>
  cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;

const readLine = (line: string): string[] =>
  joinQuoted(line.replace(/\r$/, '').split(','), ',').whole.map(readCell);

/** Reads CSV as it comes in: each piece gives the rows that end in it. */
export function createCsvReader(): (piece: string) => string[][] {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece).split('\n');
    const last = lines.pop()!;
    const { whole, rest: open } = joinQuoted(lines, '\n');
    rest = open === undefined ? last : `${open}\n${last}`;
    return whole.map(readLine);
  };
}
