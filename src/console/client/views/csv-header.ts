// The columns of a CSV file, to choose the one with the numbers. The API reads the file itself.

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The names of the columns by the first line of a text; none where it has one column. */
export function readHeader(text: string): string[] {
  const [line = ''] = text.replace(/^\uFEFF/, '').split(/\r?\n/, 1);
  const delimiter = [...DELIMITERS].sort((a, b) => countIn(line, b) - countIn(line, a))[0]!;
  const names = splitCells(line, delimiter)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  const hasNumber = names.some((name) => /\d{7}/.test(name.replace(/\D/g, '')));
  return names.length < 2 || hasNumber ? [] : names;
}

const countIn = (line: string, delimiter: string): number => line.split(delimiter).length;

function splitCells(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const character of line)
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  return [...cells, cell];
}

const FIRST_BYTES = 64 * 1024;

/** The columns of a file; none where they cannot be read here, as of a compressed file. */
export async function readColumns(file: File): Promise<string[]> {
  if (/\.gz$/i.test(file.name)) return [];
  return readHeader(await file.slice(0, FIRST_BYTES).text());
}
