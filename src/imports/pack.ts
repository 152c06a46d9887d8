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
