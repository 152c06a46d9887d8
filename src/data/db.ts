import type { Pool } from 'pg';
import type { KeyKind } from './directory';
import type { TenantClient, TransactionOptions } from './prisma-client';
import type { Sql, TenantSql } from './sql';
import type { Query } from './statement';

// The part of the database that handlers and verbs get: the statements of one company.

/** The part of the company's records that a limited caller may see, as parameters of conditions. */
export interface AccessScope {
  scope_user: string;
  /** The caller's teams that allow the current operation, as a PostgreSQL array: `{1,2}`. */
  scope_teams: string;
  all_teams: readonly string[];
}

/** The money that a caller sees of at least one record. */
export type VisibleMoney = Record<'sale' | 'purchase', boolean>;

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

interface BatchedStatements extends Pick<Db, 'sql' | 'query'> {
  readonly max_call_wait_ms: number;
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
   * For statements that do the work of several requests (src/data/batcher.ts). Undefined inside a
   * transaction, which belongs to one request.
   */
  readonly batched?: BatchedStatements | undefined;
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
  /** The keys that identify the company in the whole installation (src/data/directory.ts). */
  readonly keys: Keys;
  /**
   * Present if the caller accepts older data (src/api/records/stale-reads.ts): `query` and `sql`
   * only read.
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
