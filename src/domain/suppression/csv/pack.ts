const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const HEADER_BYTES = SIGNATURE.length + 8;
const ROW_BYTES = 14;
const HIGH = 2 ** 32;

export const packedLength = (count: number): number => HEADER_BYTES + count * ROW_BYTES + 2;

/**
 * Packs numbers as rows of one bigint column, in PostgreSQL's binary COPY format. They must be
 * integers from 0 to 2^53 - 1.
 */
export function packNumbers(
  numbers: Float64Array,
  memory = new ArrayBuffer(packedLength(numbers.length)),
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(memory, 0, packedLength(numbers.length));
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

const ESCAPED = /[\\\t\n\r]/g;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const PIECE_ROWS = 1_000;

/**
 * Packs rows of text in PostgreSQL's text COPY format. The bytes take little memory, and can be
 * transferred to another thread without a copy.
 */
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
    const bytes = new Uint8Array(this.pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of this.pieces.splice(0)) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  private flush(): void {
    this.pieces.push(Buffer.from(this.lines.join('')));
    this.lines = [];
  }
}
