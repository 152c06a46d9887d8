import type { Sql } from './sql';

/** Keys by which requests name a company; unique in the installation. */
export type KeyKind = 'credential' | 'lead_token' | 'inbound_webhook' | 'number';

/**
 * Finds the database of each company. Most installations have one database; in a distributed one
 * (src/operate/cells/), each cell has some of the companies.
 */
export interface Directory {
  /** Statements of the database with the owner of a key; undefined if the key has no owner. */
  findKeyDatabase(kind: KeyKind, key: string): Sql | undefined | Promise<Sql | undefined>;
  /** Statements of the database with a company; undefined if there is no such company. */
  findCompanyDatabase(companyId: bigint): Sql | undefined | Promise<Sql | undefined>;
  /** Assigns a new company to a database, before anything is written for it. */
  assignCompany(companyId: bigint): Promise<void>;
  /**
   * Registers a key for a company, in a transaction of its own, before the company writes the
   * record with it. False if the key belongs to another company.
   */
  claim(kind: KeyKind, key: string, companyId: bigint): Promise<boolean>;
  /**
   * Frees the key after the company no longer has it. Does not fail: housekeeping releases a key
   * that could not be released now.
   */
  release(kind: KeyKind, key: string, companyId: bigint): Promise<void>;
  /** Releases the keys that no record has. */
  clean(): Promise<void>;
}

/** The directory of an installation with one database, whose constraints keep keys unique. */
export const createSingleDirectory = (sql: Sql): Directory => ({
  findKeyDatabase: () => sql,
  findCompanyDatabase: () => sql,
  assignCompany: async () => {},
  claim: async () => true,
  release: async () => {},
  clean: async () => {},
});

/** Runs a query in the database with the owner of a key; no rows if the key has no owner. */
export async function queryByKey<Found>(
  directory: Pick<Directory, 'findKeyDatabase'>,
  [kind, key]: [KeyKind, string],
  find: (sql: Sql) => Promise<Found[]>,
): Promise<Found[]> {
  const owner = directory.findKeyDatabase(kind, key);
  const sql = owner instanceof Promise ? await owner : owner;
  return sql ? find(sql) : [];
}
