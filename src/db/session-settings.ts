// What the sessions of each pool are set to. PostgreSQL itself is told at the start of a
// connection. A pooler such as PgBouncer hands sessions from one connection to the next: there each
// pool has a database entry of its own, whose sessions are set when the pooler opens them.

/** The pools that a pooler may serve; the others hold a session for long (db/client.ts). */
export const POOLED = [
  'pool',
  'prepared',
  'searches',
  'routing',
  'credentials',
  'batched',
] as const;
export type Pooled = (typeof POOLED)[number];

/** Settings of PostgreSQL, in its base units: milliseconds and kilobytes. */
export type Settings = Readonly<Record<string, string>>;

/** Prisma needs it. Poolers know it: it is set at the start of a connection everywhere. */
const UTC: Settings = { TimeZone: 'UTC' };
const PLAN_ONCE: Settings = { plan_cache_mode: 'force_generic_plan' };
const FAIL_ON_LOCKS: Settings = { lock_timeout: '250' };
/** With less, the bitmap of a large index scan names pages only, and all their rows are checked. */
const SEARCH_MEMORY: Settings = { work_mem: String(32 * 1024) };
/** A long statement ends soon after its process, and does not keep its locks. */
const CHECK_CONNECTION: Settings = { client_connection_check_interval: '2000' };

const timeout = (ms: number): Settings => ({ statement_timeout: String(Math.ceil(ms)) });

/** What each pool's sessions are set to; a search gets half of the time of other statements. */
export function pooledSettings(timeout_ms: number): Record<Pooled, Settings> {
  const usual = timeout(timeout_ms);
  const planned = { ...usual, ...PLAN_ONCE };
  return {
    pool: usual,
    prepared: planned,
    searches: { ...timeout(timeout_ms / 2), ...SEARCH_MEMORY },
    routing: planned,
    credentials: planned,
    batched: { ...planned, ...FAIL_ON_LOCKS },
  };
}

const lookUp = (schemas: readonly string[] | undefined): Settings =>
  schemas ? { search_path: schemas.join() } : {};

/** As the parameter `options` of a connection. */
const asOptions = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Where a pool connects to, and what it says there. */
export interface Session {
  connectionString: string;
  options: string;
}

export interface Servers {
  /** PostgreSQL, or with `direct_url` a pooler in front of it. */
  url: string;
  /** PostgreSQL itself. */
  direct_url: string | undefined;
  /** Where names are looked up, if not in `public`. */
  schemas?: readonly string[] | undefined;
}

/** The session of a pool that a pooler may serve. */
export const pooledSession = (
  { url, direct_url, schemas }: Servers,
  name: Pooled,
  settings: Settings,
): Session =>
  direct_url === undefined
    ? { connectionString: url, options: asOptions({ ...UTC, ...lookUp(schemas), ...settings }) }
    : { connectionString: entryUrl(url, name), options: asOptions(UTC) };

/** The session of a pool that holds it for long. */
export const longSession = ({ url, direct_url, schemas }: Servers): Session => ({
  connectionString: direct_url ?? url,
  options: asOptions({ ...UTC, ...lookUp(schemas), ...CHECK_CONNECTION }),
});

/** The statements that set a session; a pooler runs them when it opens one. */
export const asStatements = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');

/** Everything of a URL before the name of its database, that name, and the rest. */
const NAMED_URL = /^([^:]+:\/\/[^/?]*\/)([^/?]+)(\?.*)?$/;

/** Whether a URL names its database. */
export const namesDatabase = (url: string): boolean => NAMED_URL.test(url);

/** What a pooler calls the database of a pool. */
export const entryName = (database: string, name: Pooled): string =>
  name === 'pool' ? database : `${database}_${name}`;

/** The URL of a pool's entry at a pooler. */
export const entryUrl = (url: string, name: Pooled): string =>
  url.replace(NAMED_URL, (_, before: string, database: string, query = '') =>
    [before, entryName(database, name), query].join(''),
  );
