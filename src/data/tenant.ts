import type { PoolClient } from 'pg';
import { BeforeCommit } from './before-commit';
import { withEventCompletion } from './complete-events';
import type { Database } from './client';
import type { Directory } from './directory';
import { UNLIMITED, openRequestAccess, type Lane, type PoolAccess, type Purpose } from './lanes';
import { bindToCompany, prismaTransaction } from './prisma-client';
import { recordWrites } from './recorded-models';
import { sqlOn, tenantSql } from './sql';
import { queryOn, type BoundStatement, type Connection } from './statement';
import { runInTransaction, retryOnDeadlock } from './transaction';
import type { RequestContext, Db, Keys, Statements, TransactionStatements } from './db';

export interface TenantDatabases {
  /** For internal work, which takes free connections. */
  of(companyId: bigint): Db;
  /** For a request, which waits for a slot of its company. */
  ofRequest(companyId: bigint, purpose: Purpose): Db;
}

const MAX_CACHED = 10_000;

/** Returns each company's Db. They are cached, because binding Prisma costs more than a query. */
export function tenants(database: Database, directory: Directory): TenantDatabases {
  const openAccess = openRequestAccess(database);
  const usual = cachedDbs((companyId) =>
    tenantDb({ database, directory }, companyId, openAccess(companyId, 'usual')),
  );
  const routing = cachedDbs((companyId) =>
    tenantDb({ database, directory }, companyId, openAccess(companyId, 'routing')),
  );
  return {
    of: cachedDbs((companyId) => tenantDb({ database, directory }, companyId, UNLIMITED)),
    ofRequest: (companyId, purpose) =>
      purpose === 'routing' ? routing(companyId) : usual(companyId),
  };
}

function cachedDbs(open: (companyId: bigint) => Db): (companyId: bigint) => Db {
  const cached = new Map<bigint, Db>();
  return (companyId) => {
    const cachedDb = cached.get(companyId);
    if (cachedDb) return cachedDb;
    if (cached.size >= MAX_CACHED) cached.clear();
    const db = open(companyId);
    cached.set(companyId, db);
    return db;
  };
}

/** The database of a tenant, and the directory of its keys. */
interface TenantSource {
  database: Database;
  directory: Directory;
}

function tenantDb({ database, directory }: TenantSource, companyId: bigint, lanes: PoolAccess): Db {
  const { streams, bulk } = database;
  const prisma = bindToCompany(database.prisma, companyId, (work) => lanes.run('pool', work));
  const connection = (chooseLane: (bound: BoundStatement) => Lane) => ({
    query: (bound: BoundStatement) => {
      const lane = chooseLane(bound);
      return lanes.run(lane, () => database[lane].query(bound));
    },
  });
  const [regular, batched] = [connection(lanes.chooseLane), connection(() => 'batched')];
  const keys: Keys = {
    claim: (kind, key) => directory.claim(kind, key, companyId),
    release: (kind, key) => directory.release(kind, key, companyId),
  };
  const key = buildTenantKey(database.name, companyId);
  const tenant = {
    company_id: companyId,
    key,
    keys,
    outside: sqlOn(database.batched),
    streams,
    bulk,
  };
  return {
    ...tenant,
    prisma: recordWrites(prisma, { beforeCommit: refuse }),
    sql: tenantSql(sqlOn(regular), companyId),
    query: queryOn(() => regular),
    batched: {
      ...buildStatements(batched, companyId),
      max_call_wait_ms: database.max_call_wait_ms,
    },
    afterCommit: (work) => work(),
    beforeCommit: refuse,
    transaction: async (work, options) => {
      const run = async () => {
        const afterCommit: (() => void)[] = [];
        const result = await prismaTransaction(
          prisma,
          (tx, connection) => {
            const parts = { ...tenant, prisma: tx, connection, after_commit: afterCommit };
            return withBeforeCommit((before) => work(transactionDb(parts, before)));
          },
          options,
        );
        return { result, after_commit: afterCommit };
      };
      const { result, after_commit } = await lanes.transaction('pool', () => retryOnDeadlock(run));
      for (const callback of after_commit) callback();
      return result;
    },
    statements: (work) => {
      const run = () =>
        runInTransaction(database[lanes.statements], (client) =>
          withBeforeCommit((before) => work(buildTransactionStatements(tenant, client, before))),
        );
      return lanes.transaction(lanes.statements, run);
    },
  };
}

const buildStatements = (connection: Connection, companyId: bigint) => ({
  sql: tenantSql(sqlOn(connection), companyId),
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

const buildBeforeCommit =
  (before: BeforeCommit, db: Statements): Db['beforeCommit'] =>
  (key, work) =>
    before.add(key, () => work(db));

function buildTransactionStatements(
  tenant: Pick<Db, 'company_id' | 'key'>,
  client: PoolClient,
  before: BeforeCommit,
): TransactionStatements {
  const statements = buildConnectionStatements(tenant, () => client);
  const db = withEventCompletion(statements, before);
  return { ...db, beforeCommit: buildBeforeCommit(before, db) };
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
  const statements = withEventCompletion(buildConnectionStatements(tenant, connection), before);
  const beforeCommit = buildBeforeCommit(before, statements);
  const db: Db = {
    ...tenant,
    ...statements,
    prisma: recordWrites(tenant.prisma, { beforeCommit }),
    beforeCommit,
    afterCommit: (work) => void after_commit.push(work),
    transaction: (work) => work(db),
    statements: (work) => work(db),
  };
  return db;
}

/** One company's part of a database, on a connection with an open transaction. */
export const buildCompanyStatements = (
  { name }: Pick<Database, 'name'>,
  companyId: bigint,
  client: PoolClient,
): Statements =>
  buildConnectionStatements(
    { company_id: companyId, key: buildTenantKey(name, companyId) },
    () => client,
  );

export const buildTenantKey = (database: string, companyId: bigint): string =>
  `${database}/${companyId}`;

const buildConnectionStatements = (
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
  const contextDb: Db = {
    ...db,
    ...context,
    transaction: (work, options) =>
      db.transaction((tx) => work(tx === db ? contextDb : withContext(tx, context)), options),
  };
  return contextDb;
}
