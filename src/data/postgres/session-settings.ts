// Settings of the sessions of each pool. PostgreSQL receives them at the start of a connection. A
// pooler such as PgBouncer passes sessions from one connection to the next: there each pool has a
// database entry of its own, whose sessions are set when the pooler opens them.

/** Pools that a pooler may serve; the others hold a session for long (src/data/client.ts). */
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

/** Needed by Prisma, and known to poolers: it is set at the start of every connection. */
const UTC: Settings = { TimeZone: 'UTC' };
const PLAN_ONCE: Settings = { plan_cache_mode: 'force_generic_plan' };
const FAIL_ON_LOCKS: Settings = { lock_timeout: '250' };
/** With less, the bitmap of a large index scan is lossy, and all rows of its pages are checked. */
const SEARCH_MEMORY: Settings = { work_mem: String(32 * 1024) };
/** A long statement ends soon after its process, and releases its locks. */
const CHECK_CONNECTION: Settings = { client_connection_check_interval: '2000' };

const timeout = (ms: number): Settings => ({ statement_timeout: String(Math.ceil(ms)) });

/** The settings of each pool's sessions; a search gets half of the time of other statements. */
export function pooledSettings(timeoutMs: number): Record<Pooled, Settings> {
  const usual = timeout(timeoutMs);
  const planned = { ...usual, ...PLAN_ONCE };
  return {
    pool: usual,
    prepared: planned,
    searches: { ...timeout(timeoutMs / 2), ...SEARCH_MEMORY },
    routing: planned,
    credentials: planned,
    batched: { ...planned, ...FAIL_ON_LOCKS },
  };
}

const lookUp = (schemas: readonly string[] | undefined): Settings =>
  schemas ? { search_path: schemas.join() } : {};

/** For the parameter `options` of a connection. */
const asOptions = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Address and startup options of a connection. */
export interface Session {
  connectionString: string;
  options: string;
}

export interface Servers {
  /** PostgreSQL, or with `direct_url` a pooler in front of it. */
  url: string;
  /** PostgreSQL itself. */
  direct_url: string | undefined;
  /** Schemas in which names are looked up, if not in `public`. */
  schemas?: readonly string[] | undefined;
}

export const pooledSession = (
  { url, direct_url, schemas }: Servers,
  name: Pooled,
  settings: Settings,
): Session =>
  direct_url === undefined
    ? { connectionString: url, options: asOptions({ ...UTC, ...lookUp(schemas), ...settings }) }
    : { connectionString: entryUrl(url, name), options: asOptions(UTC) };

/** The session of a pool that keeps it for long. */
export const longSession = ({ url, direct_url, schemas }: Servers): Session => ({
  connectionString: direct_url ?? url,
  options: asOptions({ ...UTC, ...lookUp(schemas), ...CHECK_CONNECTION }),
});

export const asStatements = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');

/** Groups: the URL before the database name, the name, and the rest. */
const NAMED_URL = /^([^:]+:\/\/[^/?]*\/)([^/?]+)(\?.*)?$/;

export const namesDatabase = (url: string): boolean => NAMED_URL.test(url);

export const entryName = (database: string, name: Pooled): string =>
  name === 'pool' ? database : `${database}_${name}`;

export const entryUrl = (url: string, name: Pooled): string =>
  url.replace(NAMED_URL, (_, before: string, database: string, query = '') =>
    [before, entryName(database, name), query].join(''),
  );
