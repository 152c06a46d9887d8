import type { Failure } from './carrier';
import type { Fields } from './dialects/dialect';
import { readRecords, toUnusable, type Json } from './carrier-api';
import { ask, type Line } from './twilio-api';

// Lists of a carrier. Some services ignore the filters of a list: the code that reads one checks
// each record itself, and reads on where the records of others fill the pages.

export interface ListRequest {
  /** As in Twilio's REST: after /2010-04-01/Accounts/{sid}/, without .json. */
  path: string;
  /** The property that has the records. */
  list: string;
  filters: Fields;
  /** Milliseconds; older records are not needed. NaN where that is not known. */
  since: number;
  key?: string;
  signal: AbortSignal;
}

export type Records = { ok: true; records: Json[] } | Failure;

/** Clocks differ, and the carrier's times are whole seconds. */
export const CLOCK_SKEW_MS = 5_000;
const PAGE_SIZE = '1000';
const MAX_PAGES = 20;

export const readCreatedAt = ({ date_created }: Json): number => Date.parse(String(date_created));

/** Fails rather than leave out a record that is not older than `since`. */
export async function listRecords(
  line: Line,
  { path, list, filters, since, ...rest }: ListRequest,
): Promise<Records> {
  const records: Json[] = [];
  let fields: Fields = { ...filters, PageSize: PAGE_SIZE };
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await ask(line, { method: 'GET', path, fields, ...rest });
    if (!answer.ok) return answer;
    const listed = readRecords(answer.body, list);
    if (!listed) return toUnusable(`has no list of ${list}`);
    records.push(...listed);
    const next = readNextPage(answer.body);
    if (!next || reachesBack(listed, since)) return { ok: true, records };
    fields = next;
  }
  return toUnusable(`has more than ${MAX_PAGES} pages of ${list}`);
}

/** The query of the next page. Its address is not followed: it could lead elsewhere. */
function readNextPage({ next_page_uri }: Json): Fields | undefined {
  const address = typeof next_page_uri === 'string' && next_page_uri ? next_page_uri : undefined;
  if (address === undefined || !URL.canParse(address, 'http://carrier')) return undefined;
  return Object.fromEntries(new URL(address, 'http://carrier').searchParams);
}

/** True if the newest records come first, and the last of these is older than `since`. */
function reachesBack(listed: readonly Json[], since: number): boolean {
  const [first, last] = [listed[0], listed.at(-1)];
  if (!first || !last) return true;
  return readCreatedAt(first) >= readCreatedAt(last) && readCreatedAt(last) < since;
}

/** True for one telephone number in two spellings. */
export function isSameNumber(left: unknown, right: unknown): boolean {
  const [a, b] = [left, right].map((number) => String(number ?? '').replace(/\D/g, ''));
  return a !== '' && a === b;
}
