import type { Pool, PoolClient } from 'pg';
import { type Prisma, type PrismaClient } from '../generated/prisma/client';
import { notingConnection, type Database, type Noted } from './client';
import type { AccessScope } from './access-scope';
import { sqlOn, tenantSql, type TenantSql } from './sql';
import type { BoundStatement } from './statement';
import { inTransaction } from './transaction';

/** Models of the installation as a whole; all others belong to one company. */
const SHARED_MODELS = new Set<string>(['Company', 'CredentialLookup'] satisfies Prisma.ModelName[]);

type Bound = ReturnType<typeof bind>;
/** Prisma's client, bound to one company. */
export type TenantClient = Omit<
  Bound,
  '$transaction' | '$connect' | '$disconnect' | '$extends' | '$on'
>;

type Query = <Row>(statement: BoundStatement) => Promise<Row[]>;

/** What a request gives along with everything that is done for it. */
export interface RequestContext {
  /** Takes the JSON of a record as it is before the request changes it, and as it is afterwards, for the change log. Absent where nothing is logged. */
  readonly log?: { before(record: string): void; after(record: string): void };
  /** The records that the caller is limited to; absent for those who may see all of the company's. */
  readonly accessScope?: AccessScope | undefined;
}

/** What a handler reads and writes with: one company's part of the database, inside a transaction or outside one. */
export interface Db extends RequestContext {
  readonly company_id: bigint;
  /** Names the company's part of this database among all that the process works with: for what is kept of it in memory. */
  readonly key: string;
  readonly prisma: TenantClient;
  /** Runs a statement of `<room>/queries/` for this company, on the open transaction if there is one. */
  readonly sql: TenantSql;
  /** Runs a statement that names its company itself (every projection does), on the transaction if there is one. */
  query: Query;
  /** The same for statements whose rows are texts, numbers and booleans as the driver has them: inside a transaction too they go to the connection itself. */
  direct: Query;
  /** The same for statements that do the work of several requests; undefined inside a transaction, which is one request's. */
  readonly joint?: Query;
  /** Runs the work in a transaction: the one already open, or one of its own. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Runs once what is being done is sure: after the commit of the open transaction, at once outside of one. */
  afterCommit(work: () => void): void;
  /** The same for work that is statements alone: each is planned once a connection, which Prisma's transactions cannot. */
  statements<T>(work: (db: Statements) => Promise<T>): Promise<T>;
  /** Connections for streams that outlive a statement (COPY). */
  readonly streams: Pool;
  /** Connections for transactions that take seconds (imports). */
  readonly bulk: Pool;
}

/** A company's part of the database, asked by statements alone. */
export type Statements = Pick<Db, 'company_id' | 'key' | 'query' | 'sql'>;

const TRANSACTION = { maxWait: 5_000, timeout: 10_000 };

export interface TenantDatabases {
  of(company_id: bigint): Db;
}

/** Hands out each company's Db; bound clients are kept, since binding one costs more than a query's overhead. */
export function tenants(database: Database): TenantDatabases {
  const kept = new Map<bigint, Db>();
  return {
    of: (company_id) => {
      const found = kept.get(company_id);
      if (found) return found;
      if (kept.size >= 10_000) kept.clear();
      const db = outside(database, company_id);
      kept.set(company_id, db);
      return db;
    },
  };
}

function outside(database: Database, company_id: bigint): Db {
  const bound = bind(database.prisma, company_id);
  const { pool, prepared, streams, bulk, joint } = database;
  const [planned, unplanned] = [queryOf(prepared), queryOf(pool)];
  const key = `${database.url}/${company_id}`;
  return {
    company_id,
    key,
    streams,
    bulk,
    prisma: bound,
    query: (statement) =>
      statement.name === undefined ? unplanned(statement) : planned(statement),
    direct: (statement) =>
      statement.name === undefined ? unplanned(statement) : planned(statement),
    joint: queryOf(joint),
    sql: tenantSql(database.sql, company_id),
    statements: (work) =>
      evenIfChosen(() =>
        inTransaction(prepared, (client) =>
          work({
            company_id,
            key,
            query: queryOf(client),
            sql: tenantSql(sqlOn(client), company_id),
          }),
        ),
      ),
    afterCommit: (work) => work(),
    transaction: async (work) => {
      const { result, afterwards } = await evenIfChosen(async () => {
        const afterwards: (() => void)[] = [];
        const noted: Noted = {};
        const run = (transaction: unknown) =>
          work(
            inside(transaction as TenantClient, {
              company_id,
              key,
              streams,
              bulk,
              afterwards,
              noted,
            }),
          );
        return {
          result: await notingConnection(noted, () => bound.$transaction(run, TRANSACTION)),
          afterwards,
        };
      });
      for (const each of afterwards) each();
      return result;
    },
  };
}

/** The same part of the database, with what a request gives along. */
export function withContext(db: Db, context: RequestContext): Db {
  const own: Db = {
    ...db,
    ...context,
    transaction: (work) => db.transaction((tx) => work(tx === db ? own : withContext(tx, context))),
  };
  return own;
}

const queryOf =
  (connection: Pool | PoolClient): Query =>
  async <Row>(statement: BoundStatement) =>
    (await connection.query(statement)).rows as Row[];

/** One of two that wait for each other is chosen to fail; it has changed nothing and may simply run again. */
const evenIfChosen = <T>(run: () => Promise<T>): Promise<T> =>
  run().catch((error: unknown) => {
    if (isDeadlock(error)) return run();
    throw error;
  });

interface Opened extends Pick<Db, 'company_id' | 'key' | 'streams' | 'bulk'> {
  /** What is to be done after the commit. */
  afterwards: (() => void)[];
  noted: Noted;
}

function inside(prisma: TenantClient, { afterwards, noted, ...named }: Opened): Db {
  const db: Db = {
    ...named,
    prisma,
    afterCommit: (work) => void afterwards.push(work),
    sql: tenantSql(
      sqlOn(() => noted.client!),
      named.company_id,
    ),
    query: <Row>({ text, values }: BoundStatement) =>
      prisma.$queryRawUnsafe<Row[]>(text, ...values),
    direct: (statement) => (noted.client ? queryOf(noted.client)(statement) : db.query(statement)),
    transaction: (work) => work(db),
    statements: (work) => work(db),
  };
  return db;
}

/** Whether an error of Prisma, or one that it wraps, is a deadlock or a write conflict. */
function isDeadlock(error: unknown): boolean {
  const { code, meta } = error as {
    code?: string;
    meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
  };
  const cause = meta?.driverAdapterError?.cause;
  return (
    code === 'P2034' ||
    code === '40P01' ||
    code === '40001' ||
    cause?.kind === 'TransactionWriteConflict' ||
    cause?.originalCode === '40P01' ||
    cause?.originalCode === '40001'
  );
}

/** Adds the company to every condition and every new row of every statement Prisma makes. */
function bind(prisma: PrismaClient, company_id: bigint) {
  return prisma.$extends({
    query: {
      $allModels: {
        $allOperations: ({ model, args, query }) =>
          SHARED_MODELS.has(model)
            ? query(args)
            : query(bound(args as Arguments, company_id) as typeof args),
      },
    },
  });
}

interface Arguments {
  where?: object;
  data?: object | object[];
  create?: object;
  update?: object;
}

function bound(args: Arguments, company_id: bigint): Arguments {
  const own = (row: object) => ({ ...row, company_id });
  // update() and updateMany() carry data too, but never a company: their rows keep the one their condition names.
  const creates = args.data !== undefined && args.where === undefined;
  return {
    ...args,
    ...(!creates && { where: own(args.where ?? {}) }),
    ...(creates && {
      data: Array.isArray(args.data) ? args.data.map(own) : own(args.data as object),
    }),
    ...(args.create && { create: own(args.create) }),
  };
}
