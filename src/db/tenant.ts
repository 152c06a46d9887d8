import type { Pool, PoolClient } from 'pg';
import type { AccessScope } from './access-scope';
import { BeforeCommit } from './before-commit';
import { completingEvents } from './complete-events';
import type { Database } from './client';
import type { Directory, KeyKind } from './directory';
import { OPEN_LANES, requestLanes, type Lane, type Lanes, type Purpose } from './lanes';
import {
  bindToCompany,
  prismaTransaction,
  type TenantClient,
  type TransactionOptions,
} from './prisma-client';
import { recordingWrites } from './recorded-models';
import { sqlOn, tenantSql, type Sql, type TenantSql } from './sql';
import { queryOn, type BoundStatement, type Connection, type Query } from './statement';
import { inTransaction, retryOnDeadlock } from './transaction';

/** A record for the change log, as JSON. */
export interface LoggedRecord {
  /** The whole record, for comparison. */
  record: string;
  /** The part that the caller may read: a limited caller sees this in the entry. */
  shown: string;
}

export interface RequestContext {
  /**
   * Takes a record for the change log before and after the request changes it. Absent if nothing is
   * logged.
   */
  readonly log?: { before(record: LoggedRecord): void; after(record: LoggedRecord): void };
  /** Limits the records that the caller sees; absent for callers who may see all. */
  readonly accessScope?: AccessScope | undefined;
}

/**
 * Database access of a handler: one company's part of the database, in a transaction or outside of
 * one. Inside a transaction everything runs on its connection.
 */
export interface Db extends RequestContext {
  readonly company_id: bigint;
  /** Identifies this company of this database in caches of the process. */
  readonly key: string;
  /** Prisma's client. It adds the company to every condition and every row. */
  readonly prisma: TenantClient;
  /** Runs a statement of `<room>/queries/`; `{company_id}` is filled in. */
  readonly sql: TenantSql;
  /** Runs a statement that is composed for a request, such as that of a projection. */
  readonly query: Query;
  /**
   * For statements that do the work of several requests (src/db/batcher.ts). Undefined inside a
   * transaction, which belongs to one request. `at_once` is how many batches of one kind of work
   * that lock shared rows may run at the same time.
   */
  readonly batched?: (Pick<Db, 'sql' | 'query'> & { readonly at_once: number }) | undefined;
  /** Runs the work in the open transaction, or in a new one, which is retried after a deadlock. */
  transaction<T>(work: (db: Db) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * A transaction without Prisma, for work that only runs statements: its connections plan every
   * prepared statement once.
   */
  statements<T>(work: (db: TransactionStatements) => Promise<T>): Promise<T>;
  /** Runs the work after the commit of the open transaction; at once outside of one. */
  afterCommit(work: () => void): void;
  /**
   * Runs the work at the end of the open transaction, before its commit: for work that depends on
   * the final state, and for rows that many transactions write, which are locked last. Runs once
   * per key, with the work that was given first, in the order of the keys. Throws outside of a
   * transaction.
   */
  beforeCommit(key: string, work: (db: Statements) => Promise<void>): void;
  /**
   * Statements that are committed by themselves, even inside a transaction, on connections that no
   * transaction holds.
   */
  readonly outside: Sql;
  /** The keys that identify the company in the whole installation (src/db/directory.ts). */
  readonly keys: Keys;
  /**
   * Present if the caller accepts older data (src/http/stale-reads.ts): `query` and `sql` only
   * read.
   */
  readonly stale?: StaleRead | undefined;
  /** Connections for COPY. */
  readonly streams: Pool;
  /** Connections for transactions that take seconds. */
  readonly bulk: Pool;
}

export interface Keys {
  /** Call it before the key is written. False if another company has the key. */
  claim(kind: KeyKind, key: string): Promise<boolean>;
  /** Call it after the record with the key is gone. */
  release(kind: KeyKind, key: string): Promise<void>;
}

export interface StaleRead {
  /** Maximum age of the data read so far; 0 if all of it came from the primary. */
  age_seconds(): number;
  /** Notes a read from a standby; absent if none is read. */
  read?: () => void;
  primary: Db;
}

/** A company's part of the database, without Prisma. */
export type Statements = Pick<Db, 'company_id' | 'key' | 'query' | 'sql'>;

/** Statements in a transaction without Prisma. */
export type TransactionStatements = Statements & Pick<Db, 'beforeCommit'>;

export interface TenantDatabases {
  /** For internal work, which takes free connections. */
  of(company_id: bigint): Db;
  /** For a request, which waits for a slot of its company. */
  ofRequest(company_id: bigint, purpose: Purpose): Db;
}

const MAX_CACHED = 10_000;

/** Returns each company's Db. They are cached, because binding Prisma costs more than a query. */
export function tenants(database: Database, directory: Directory): TenantDatabases {
  const lanesOf = requestLanes(database);
  const usual = cachedDbs((company_id) =>
    tenantDb({ database, directory }, company_id, lanesOf(company_id, 'usual')),
  );
  const routing = cachedDbs((company_id) =>
    tenantDb({ database, directory }, company_id, lanesOf(company_id, 'routing')),
  );
  return {
    of: cachedDbs((company_id) => tenantDb({ database, directory }, company_id, OPEN_LANES)),
    ofRequest: (company_id, purpose) =>
      purpose === 'routing' ? routing(company_id) : usual(company_id),
  };
}

function cachedDbs(open: (company_id: bigint) => Db): (company_id: bigint) => Db {
  const cached = new Map<bigint, Db>();
  return (company_id) => {
    const found = cached.get(company_id);
    if (found) return found;
    if (cached.size >= MAX_CACHED) cached.clear();
    const db = open(company_id);
    cached.set(company_id, db);
    return db;
  };
}

/** The database of a tenant, and the directory of its keys. */
interface Place {
  database: Database;
  directory: Directory;
}

function tenantDb({ database, directory }: Place, company_id: bigint, lanes: Lanes): Db {
  const { streams, bulk } = database;
  const prisma = bindToCompany(database.prisma, company_id, (work) => lanes.run('pool', work));
  const connection = (laneOf: (bound: BoundStatement) => Lane) => ({
    query: (bound: BoundStatement) => {
      const lane = laneOf(bound);
      return lanes.run(lane, () => database[lane].query(bound));
    },
  });
  const [own, batched] = [connection(lanes.of), connection(() => 'batched')];
  const keys: Keys = {
    claim: (kind, key) => directory.claim(kind, key, company_id),
    release: (kind, key) => directory.release(kind, key, company_id),
  };
  const key = keyOf(database.name, company_id);
  const tenant = { company_id, key, keys, outside: sqlOn(database.batched), streams, bulk };
  return {
    ...tenant,
    prisma: recordingWrites(prisma, { beforeCommit: refuse }),
    sql: tenantSql(sqlOn(own), company_id),
    query: queryOn(() => own),
    batched: { ...statementsOf(batched, company_id), at_once: database.batches_at_once },
    afterCommit: (work) => work(),
    beforeCommit: refuse,
    transaction: async (work, options) => {
      const run = async () => {
        const after_commit: (() => void)[] = [];
        const result = await prismaTransaction(
          prisma,
          (tx, connection) => {
            const parts = { ...tenant, prisma: tx, connection, after_commit };
            return withBeforeCommit((before) => work(transactionDb(parts, before)));
          },
          options,
        );
        return { result, after_commit };
      };
      const { result, after_commit } = await lanes.transaction('pool', () => retryOnDeadlock(run));
      for (const each of after_commit) each();
      return result;
    },
    statements: (work) => {
      const run = () =>
        inTransaction(database[lanes.statements], (client) =>
          withBeforeCommit((before) => work(statementsIn(tenant, client, before))),
        );
      return lanes.transaction(lanes.statements, run);
    },
  };
}

const statementsOf = (connection: Connection, company_id: bigint) => ({
  sql: tenantSql(sqlOn(connection), company_id),
  query: queryOn(() => connection),
});

/** Effects of a write must be committed with it. */
const refuse: Db['beforeCommit'] = (key) => {
  throw new Error(`${key} is written outside of a transaction`);
};

/** Runs the work of a transaction, then the work that was deferred to its end. */
async function withBeforeCommit<T>(work: (before: BeforeCommit) => Promise<T>): Promise<T> {
  const before = new BeforeCommit();
  const result = await work(before);
  await before.run();
  return result;
}

const adderOn =
  (before: BeforeCommit, db: Statements): Db['beforeCommit'] =>
  (key, work) =>
    before.add(key, () => work(db));

function statementsIn(
  tenant: Pick<Db, 'company_id' | 'key'>,
  client: PoolClient,
  before: BeforeCommit,
): TransactionStatements {
  const statements = onConnection(tenant, () => client);
  const db = completingEvents(statements, before);
  return { ...db, beforeCommit: adderOn(before, db) };
}

interface OpenTransaction extends Pick<
  Db,
  'company_id' | 'key' | 'keys' | 'outside' | 'prisma' | 'streams' | 'bulk'
> {
  connection: () => PoolClient;
  after_commit: (() => void)[];
}

function transactionDb(
  { connection, after_commit, ...tenant }: OpenTransaction,
  before: BeforeCommit,
): Db {
  const statements = completingEvents(onConnection(tenant, connection), before);
  const beforeCommit = adderOn(before, statements);
  const db: Db = {
    ...tenant,
    ...statements,
    prisma: recordingWrites(tenant.prisma, { beforeCommit }),
    beforeCommit,
    afterCommit: (work) => void after_commit.push(work),
    transaction: (work) => work(db),
    statements: (work) => work(db),
  };
  return db;
}

/** One company's part of a database, on a connection with an open transaction. */
export const statementsOn = (
  { name }: Pick<Database, 'name'>,
  company_id: bigint,
  client: PoolClient,
): Statements => onConnection({ company_id, key: keyOf(name, company_id) }, () => client);

export const keyOf = (database: string, company_id: bigint): string => `${database}/${company_id}`;

const onConnection = (
  { company_id, key }: Pick<Db, 'company_id' | 'key'>,
  connection: () => PoolClient,
): Statements => ({
  company_id,
  key,
  query: queryOn(connection),
  sql: tenantSql(sqlOn(connection), company_id),
});

/** Adds the context of a request to a company's Db. */
export function withContext(db: Db, context: RequestContext): Db {
  const own: Db = {
    ...db,
    ...context,
    transaction: (work, options) =>
      db.transaction((tx) => work(tx === db ? own : withContext(tx, context)), options),
  };
  return own;
}
