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
  /** All of it: what is compared. */
  record: string;
  /** What the caller may read of it: what a limited caller sees of the entry. */
  shown: string;
}

/** What a request brings along for everything that is done on its behalf. */
export interface RequestContext {
  /**
   * Takes a record before the request changes it, and afterwards, for the change log.
   * Absent where nothing is logged.
   */
  readonly log?: { before(record: LoggedRecord): void; after(record: LoggedRecord): void };
  /** The records that the caller is limited to; absent for callers who may see all. */
  readonly accessScope?: AccessScope | undefined;
}

/**
 * What a handler reads and writes with: one company's part of the database, in a transaction or
 * outside of one. Inside a transaction everything runs on its connection.
 */
export interface Db extends RequestContext {
  readonly company_id: bigint;
  /** Names this company of this database, for what the process caches. */
  readonly key: string;
  /** Prisma's client. It adds the company to every condition and every row. */
  readonly prisma: TenantClient;
  /** Runs a statement of `<room>/queries/`; `{company_id}` is filled in. */
  readonly sql: TenantSql;
  /** Runs a statement that is composed for a request, such as those of a projection. */
  readonly query: Query;
  /**
   * The same for statements that do the work of several requests (db/batcher.ts). Undefined inside
   * a transaction, which belongs to one request. `at_once` is how many batches that lock shared
   * rows may run at the same time, for one kind of work.
   */
  readonly batched?: (Pick<Db, 'sql' | 'query'> & { readonly at_once: number }) | undefined;
  /** Runs the work in the open transaction, or in one of its own; again after a deadlock. */
  transaction<T>(work: (db: Db) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * The same without Prisma, for work that consists of statements alone: its connections plan every
   * prepared statement once.
   */
  statements<T>(work: (db: TransactionStatements) => Promise<T>): Promise<T>;
  /** Runs the work after the commit of the open transaction; at once outside of one. */
  afterCommit(work: () => void): void;
  /**
   * Runs the work at the end of the open transaction, before its commit: for what depends on the
   * state at the end, and for rows that many transactions write, which are locked last. Once for
   * each key, with the work that was given first; in the order of the keys. Throws outside of a
   * transaction.
   */
  beforeCommit(key: string, work: (db: Statements) => Promise<void>): void;
  /**
   * Statements that are committed by themselves, also inside a transaction, on connections that no
   * transaction holds.
   */
  readonly outside: Sql;
  /** What names the company in the whole installation (db/directory.ts). */
  readonly keys: Keys;
  /** Present where the caller takes older data (http/stale-reads.ts): `query` and `sql` only read. */
  readonly stale?: StaleRead | undefined;
  /** Connections for COPY. */
  readonly streams: Pool;
  /** Connections for transactions that take seconds. */
  readonly bulk: Pool;
}

/** The keys of a company. */
export interface Keys {
  /** False where another company has the key. Before it is written. */
  claim(kind: KeyKind, key: string): Promise<boolean>;
  /** After what had the key is gone. */
  release(kind: KeyKind, key: string): Promise<void>;
}

/** What a request reads that takes older data. */
export interface StaleRead {
  /** How old what was read is at most; 0 where all of it came from the primary. */
  age_seconds(): number;
  /** Notes that something was read from a standby; absent where none is read. */
  read?: () => void;
  primary: Db;
}

/** A company's part of the database, without Prisma. */
export type Statements = Pick<Db, 'company_id' | 'key' | 'query' | 'sql'>;

/** The same, in a transaction of ours. */
export type TransactionStatements = Statements & Pick<Db, 'beforeCommit'>;

export interface TenantDatabases {
  /** For work of our own, which takes connections as they are free. */
  of(company_id: bigint): Db;
  /** For a request, which takes turns with others of its company. */
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

/** Where companies are, and what names them. */
interface Place {
  database: Database;
  directory: Directory;
}

/** One company's part of the database, outside of transactions. */
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

/** What is recorded of a write must be committed with it. */
const refuse: Db['beforeCommit'] = (key) => {
  throw new Error(`${key} is written outside of a transaction`);
};

/** Runs the work of a transaction, and then what it leaves for the end. */
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

/** One company's part of the database, without Prisma, in an open transaction. */
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

/** One company's part of the database, in an open transaction. */
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

/** Names a company of a database. */
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

/** The same part of the database, with what a request brings along. */
export function withContext(db: Db, context: RequestContext): Db {
  const own: Db = {
    ...db,
    ...context,
    transaction: (work, options) =>
      db.transaction((tx) => work(tx === db ? own : withContext(tx, context)), options),
  };
  return own;
}
