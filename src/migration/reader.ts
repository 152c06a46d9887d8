import { setTimeout as pause } from 'node:timers/promises';

// Reads another service that speaks this API: politely, page by page, and again where a request
// was refused for a moment or its connection was cut.

export interface SourceOptions {
  /** Its base URL, with /api/v1. */
  from: string;
  /** The header Authorization. */
  authorization: string;
  /** Requests a second, at most. */
  rate: number;
}

/** The other service does not offer a resource, or not to these credentials. */
export class NotOffered extends Error {}

/** It refuses a request, and another try would not change that. */
export class Refused extends Error {}

export type SourceRecord = Record<string, unknown>;

export interface Page<Item> {
  items: Item[];
  /** Where the next page begins; undefined after the last one. */
  next: string | undefined;
}

export interface PageOptions {
  /** Where to begin, as an earlier page said; absent: at the first page. */
  from?: string | undefined;
  /** Only what was created since. */
  since?: Date | undefined;
  /** Which columns records have. */
  serializer?: string | undefined;
}

export interface Source {
  /** Its base URL. */
  url: string;
  /**
   * The pages of a list; `root` is the member of a reply that has its items, unless its metadata
   * names another. Throws NotOffered where there is no such list.
   */
  pages<Item = SourceRecord>(
    path: string,
    root: string,
    options?: PageOptions,
  ): AsyncGenerator<Page<Item>>;
}

const MAX_TRIES = 8;
const MAX_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const REQUEST_TIMEOUT_MS = 60_000;
const PER_PAGE = '100';
const NOT_OFFERED = new Set([403, 404, 405, 501]);
const FIRST_PAGE = 'cursor=-1';

type Get = (path: string) => Promise<SourceRecord>;

export function openSource({ from, authorization, rate }: SourceOptions): Source {
  const url = from.replace(/\/$/, '');
  let next_at = 0;
  const politely = async () => {
    const wait = next_at - Date.now();
    next_at = Math.max(next_at, Date.now()) + 1_000 / rate;
    if (wait > 0) await pause(wait);
  };
  const get: Get = async (path) => {
    for (let tries = 1; ; tries++) {
      await politely();
      const reply = await attempt(`${url}/${path}`, authorization);
      if ('body' in reply) return reply.body;
      if (tries >= MAX_TRIES)
        throw new Error(`${url}/${path} does not answer (${reply.fault}); run the command again.`);
      await pause(reply.wait_ms ?? Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS));
    }
  };
  return {
    url,
    pages: <Item>(path: string, root: string, options: PageOptions = {}) =>
      pagesOf<Item>({ path, root, get }, options),
  };
}

type Attempt = { body: SourceRecord } | { fault: string; wait_ms?: number | undefined };

/** One request. Throws for a refusal that another try does not change. */
async function attempt(url: string, authorization: string): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      headers: { authorization, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const { status, headers } = response;
    if (response.ok) return { body: (await response.json()) as SourceRecord };
    await response.body?.cancel();
    if (NOT_OFFERED.has(status)) throw new NotOffered(`the other service answers ${status}`);
    if (status !== 429 && status < 500) throw new Refused(`${url} answers ${status}.`);
    return { fault: String(status), wait_ms: retryAfter(headers.get('retry-after')) };
  } catch (error) {
    if (error instanceof NotOffered || error instanceof Refused) throw error;
    return { fault: (error as Error).message };
  }
}

/** Milliseconds; the header has seconds, or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_PAUSE_MS);
}

interface List {
  path: string;
  root: string;
  get: Get;
}

/** By cursor; by page number where the other service has no cursor. */
async function* pagesOf<Item>(
  { path, root, get }: List,
  { from, since, serializer }: PageOptions,
): AsyncGenerator<Page<Item>> {
  const query = new URLSearchParams({
    per_page: PER_PAGE,
    ...(since && { created_at_from: timeOf(since) }),
    ...(serializer !== undefined && { serializer }),
  }).toString();
  let position: string | undefined = from ?? FIRST_PAGE;
  let n = Number(/^page=(\d+)$/.exec(position)?.[1] ?? 1);
  while (position !== undefined) {
    const reply: SourceRecord = await get(`${path}?${query}&${position}`);
    const metadata = (reply.metadata ?? {}) as Record<string, unknown>;
    const items = reply[root] ?? reply[String(metadata.root)];
    if (!Array.isArray(items)) throw new NotOffered(`the reply has no ${root}`);
    position = nextPosition(metadata, { n: n++, is_empty: items.length === 0 });
    yield { items: items as Item[], next: position };
  }
}

/** As the API wants times: YYYY-MM-DD HH:MM:SS +ZZZZ. */
const timeOf = (at: Date): string => at.toISOString().replace('T', ' ').replace(/\..*/, ' +0000');

function nextPosition(
  { next_cursor, total_pages }: Record<string, unknown>,
  { n, is_empty }: { n: number; is_empty: boolean },
): string | undefined {
  if (next_cursor !== undefined && next_cursor !== null) {
    const cursor = String(next_cursor);
    return cursor === '0' ? undefined : `cursor=${encodeURIComponent(cursor)}`;
  }
  const is_last = is_empty || n >= Number(total_pages ?? Infinity);
  return is_last ? undefined : `page=${n + 1}`;
}
