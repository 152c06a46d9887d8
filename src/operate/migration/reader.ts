import { setTimeout as pause } from 'node:timers/promises';
import { attempt, BadAnswer, NotOffered, Refused, type AnswerLimits } from './answer';
import { ListWatch } from './list-watch';
import { FIRST_PAGE, readEnvelope } from './page';

// Reads another service with this API, page by page, at a limited rate, and retries a request that
// was refused for a moment or cut off. Its answers are checked; an unusable one ends the command
// with a sentence that begins with the address of the page.

export interface SourceLimits extends AnswerLimits {
  /** Attempts per page. */
  tries: number;
  /** Pause before the second attempt; each later one is twice as long. */
  firstPauseMs: number;
  /** Consecutive pages without an item. */
  emptyPages: number;
}

export interface SourceOptions {
  /** Its base URL, with /api/v1. */
  from: string;
  /** Value of the Authorization header. */
  authorization: string;
  /** Maximum of requests per second. */
  rate: number;
  perPage?: number;
  limits?: Partial<SourceLimits>;
}

export type SourceRecord = Record<string, unknown>;

export interface Page {
  items: unknown[];
  /** Position of the next page; undefined after the last one. */
  next: string | undefined;
  /** Its URL, without credentials. */
  address: string;
  /** On the last page of a list that ended before its total: how much of it was read. */
  short: string | undefined;
}

export interface PageOptions {
  /** Position of an earlier page; absent for the first page. */
  from?: string | undefined;
  /** Only records created since then. */
  since?: Date | undefined;
  /** Selects the columns of records. */
  serializer?: string | undefined;
  /** A longer list never ends. */
  maxItems?: number | undefined;
}

export interface Source {
  url: string;
  /**
   * The pages of a list. `root` is the member of a reply with the items, unless its metadata names
   * another. Throws NotOffered if there is no such list.
   */
  pages(path: string, root: string, options?: PageOptions): AsyncGenerator<Page>;
}

const MAX_PAUSE_MS = 60_000;
export const DEFAULT_PER_PAGE = 100;
/** More leads and calls than any account has. */
const MAX_ITEMS = 100_000_000;
const LIMITS: SourceLimits = {
  bytes: 16_000_000,
  ms: 60_000,
  waitMs: 300_000,
  tries: 8,
  firstPauseMs: 500,
  emptyPages: 100,
};
/** Last sentence of a message with which a page ends the command. */
export const RESUME_HINT = 'What was moved stays; run the command again, and it goes on from here.';

type Get = (address: string) => Promise<unknown>;

export function openSource(options: SourceOptions): Source {
  const url = parseBaseUrl(options.from);
  const limits = { ...LIMITS, ...options.limits };
  let nextAt = 0;
  const politely = async () => {
    const wait = nextAt - Date.now();
    nextAt = Math.max(nextAt, Date.now()) + 1_000 / options.rate;
    if (wait > 0) await pause(wait);
  };
  const get: Get = async (address) => {
    for (let tries = 1; ; tries++) {
      await politely();
      const reply = await attempt(address, options.authorization, limits);
      if ('body' in reply) return reply.body;
      if (tries >= limits.tries)
        throw new BadAnswer(`could not be read in ${tries} tries (it ${reply.fault})`);
      await pause(reply.waitMs ?? Math.min(limits.firstPauseMs * 2 ** (tries - 1), MAX_PAUSE_MS));
    }
  };
  const perPage = options.perPage ?? DEFAULT_PER_PAGE;
  return {
    url,
    pages: (path, root, pageOptions = {}) =>
      readPages({ url: `${url}/${path}`, root, perPage, get, limits }, pageOptions),
  };
}

/** Messages contain addresses, so an address must not contain credentials. */
function parseBaseUrl(from: string): string {
  const url = URL.canParse(from) ? new URL(from) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error('--from must be the address of an API, such as https://host/api/v1.');
  if (url.username || url.password)
    throw new Error('--from must not have credentials: give them with --key or --token.');
  if (/[?#]/.test(from))
    throw new Error('--from must end with the path of the API, such as https://host/api/v1.');
  return from.trim().replace(/\/$/, '');
}

interface List {
  url: string;
  root: string;
  perPage: number;
  get: Get;
  limits: SourceLimits;
}

async function* readPages(list: List, options: PageOptions): AsyncGenerator<Page> {
  const { from, since, serializer } = options;
  const query = new URLSearchParams({
    per_page: String(list.perPage),
    ...(since && { created_at_from: formatTime(since) }),
    ...(serializer !== undefined && { serializer }),
  }).toString();
  const start = chooseStart(from, list.perPage);
  const watch = new ListWatch({
    start,
    isResumed: from !== undefined,
    maxItems: options.maxItems ?? MAX_ITEMS,
    maxEmptyPages: list.limits.emptyPages,
  });
  for (let position: string | undefined = start; position !== undefined;) {
    const address: string = `${list.url}?${query}&${position}`;
    let page: Page;
    try {
      const envelope = readEnvelope(await list.get(address), list.root, position);
      page = { ...envelope, address, short: watch.checkPage(envelope) };
    } catch (error) {
      const isFirst = position === start;
      throw explain(error, address, { isFirst, isResumed: from !== undefined });
    }
    position = page.next;
    yield { ...page, next: position && toKeptPosition(position, list.perPage) };
  }
}

/**
 * Converts an error to one that ends the command, or lets the list be requested in another form.
 */
function explain(
  error: unknown,
  address: string,
  { isFirst, isResumed }: { isFirst: boolean; isResumed: boolean },
): unknown {
  if (error instanceof BadAnswer) return new Error(`${address} ${error.message}. ${RESUME_HINT}`);
  if (error instanceof Refused) return new Refused(`${address} ${error.message}. ${RESUME_HINT}`);
  if (!(error instanceof NotOffered) || (isFirst && !isResumed)) return error;
  const fault = `${address} answers ${error.status}, although the list is there. ${RESUME_HINT}`;
  return isFirst ? new Refused(fault) : new Error(fault);
}

/** A page number depends on the page size. */
const toKeptPosition = (position: string, perPage: number): string =>
  position.startsWith('page=') && perPage !== DEFAULT_PER_PAGE
    ? `${position}&per_page=${perPage}`
    : position;

function chooseStart(savedPosition: string | undefined, perPage: number): string {
  const [, number, size = DEFAULT_PER_PAGE] =
    /^(page=\d+)(?:&per_page=(\d+))?$/.exec(savedPosition ?? '') ?? [];
  if (number === undefined) return savedPosition ?? FIRST_PAGE;
  return Number(size) === perPage ? number : FIRST_PAGE;
}

/** Format of times in the API: YYYY-MM-DD HH:MM:SS +ZZZZ. */
const formatTime = (at: Date): string =>
  at.toISOString().replace('T', ' ').replace(/\..*/, ' +0000');
