const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const HEADER_BYTES = SIGNATURE.length + 8;
const ROW_BYTES = 14;
const HIGH = 2 ** 32;

/** Numbers as the rows of one bigint column, in PostgreSQL's binary COPY format. They must be whole, not negative, and below 2^53. */
export function packNumbers(numbers: Float64Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + numbers.length * ROW_BYTES + 2);
  const view = new DataView(bytes.buffer);
  bytes.set(SIGNATURE);
  let at = HEADER_BYTES;
  for (const number of numbers) {
    view.setInt16(at, 1);
    view.setInt32(at + 2, 8);
    view.setUint32(at + 6, Math.floor(number / HIGH));
    view.setUint32(at + 10, number % HIGH);
    at += ROW_BYTES;
  }
  view.setInt16(at, -1);
  return bytes;
}

/** What COPY's text format cannot hold as it is. */
const ESCAPED = /[\\\t\n\r]/g;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const PIECE_ROWS = 1_000;

/** Rows of text gathered in PostgreSQL's text COPY format: bytes, which cost little memory and pass from thread to thread without a copy. */
export class TextRows {
  private readonly pieces: Buffer[] = [];
  private lines: string[] = [];

  add(cells: readonly string[]): void {
    this.lines.push(
      `${cells.map((cell) => cell.replace(ESCAPED, (char) => ESCAPES[char]!)).join('\t')}\n`,
    );
    if (this.lines.length === PIECE_ROWS) this.flush();
  }

  bytes(): Uint8Array<ArrayBuffer> {
    this.flush();
    return new Uint8Array(Buffer.concat(this.pieces));
  }

  private flush(): void {
    this.pieces.push(Buffer.from(this.lines.join('')));
    this.lines = [];
  }
}
