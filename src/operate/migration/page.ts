import { cutText } from '../../platform/storable-text';
import { BadAnswer } from './answer';

// The envelope of a page: its items, and the position of the next page.

export const FIRST_PAGE = 'cursor=-1';

export interface Envelope {
  items: unknown[];
  /** Position of the next page; undefined after the last one. */
  next: string | undefined;
  /** Total of the list according to the service. */
  total: number | undefined;
}

/** Services may send more than requested, but not a whole table in one piece. */
const MAX_ITEMS = 10_000;
const MAX_CURSOR_CHARS = 1_000;

const PAGE_NUMBER = /^page=(\d{1,12})(?:&|$)/;

/** Reads an answer. Throws BadAnswer if it is not a page of the list. */
export function readEnvelope(reply: unknown, root: string, position: string): Envelope {
  if (!isObject(reply)) throw new BadAnswer('does not answer with an object');
  const metadata = reply.metadata ?? {};
  if (!isObject(metadata)) throw new BadAnswer('answers with metadata that is not an object');
  const items = findList(reply, root) ?? findList(reply, metadata.root);
  if (!items) throw new BadAnswer(`answers without the list ${root}`);
  if (items.length > MAX_ITEMS)
    throw new BadAnswer(`has ${items.length} records; at most ${MAX_ITEMS} are read of a page`);
  return {
    items,
    next: readNextPosition(metadata, position, items.length === 0),
    total: readCount(metadata, 'total_count'),
  };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function findList(reply: Record<string, unknown>, name: unknown): unknown[] | undefined {
  if (typeof name !== 'string' || !Object.hasOwn(reply, name)) return undefined;
  const list = reply[name];
  return Array.isArray(list) ? list : undefined;
}

/** A number of the metadata that must not be negative. */
function readCount(metadata: Record<string, unknown>, name: string): number | undefined {
  const value = metadata[name] ?? undefined;
  if (value === undefined) return undefined;
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(count) || (count as number) < 0)
    throw new BadAnswer(`answers with the ${name} ${quote(value)}`);
  return count as number;
}

/** By cursor; by page number if the other service has no cursor. */
function readNextPosition(
  metadata: Record<string, unknown>,
  position: string,
  isEmpty: boolean,
): string | undefined {
  const cursor = readCursor(metadata.next_cursor ?? undefined);
  if (cursor === '0') return undefined;
  if (cursor !== undefined) return `cursor=${encodeURIComponent(cursor)}`;
  const number = PAGE_NUMBER.exec(position)?.[1];
  // A list that was read by cursors ends with the last cursor.
  if (number === undefined && position !== FIRST_PAGE) return undefined;
  const page = Number(number ?? 1);
  const isLast = isEmpty || page >= (readCount(metadata, 'total_pages') ?? Infinity);
  return isLast ? undefined : `page=${page + 1}`;
}

function readCursor(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const isExact = typeof value === 'number' && Number.isSafeInteger(value);
  const text = isExact ? String(value) : value;
  if (typeof text === 'string' && text !== '' && text.length <= MAX_CURSOR_CHARS)
    if (text.isWellFormed() && !text.includes('\0')) return text;
  throw new BadAnswer(`answers with the next_cursor ${quote(value)}`);
}

const QUOTED_CHARS = 80;

/** The beginning of a value, for a message. */
export function quote(value: unknown): string {
  const isDeep = typeof value === 'object' && value !== null;
  const text = isDeep ? nameKind(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > QUOTED_CHARS ? `${cutText(text, QUOTED_CHARS)}…` : text;
}

const nameKind = (value: object): string => (Array.isArray(value) ? 'a list' : 'an object');
