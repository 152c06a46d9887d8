import type { Sql } from './sql';

/** What requests name a company by; unique in the installation. */
export type KeyKind = 'credential' | 'lead_token' | 'inbound_webhook' | 'number';

/**
 * Where the companies of an installation are. Most installations have one database with all of
 * them; in a distributed one (src/cells/), each cell has some.
 */
export interface Directory {
  /** Statements of the database that has the owner of a key; undefined where nobody has it. */
  ofKey(kind: KeyKind, key: string): Sql | undefined | Promise<Sql | undefined>;
  /** Statements of the database that has a company; undefined where there is no such company. */
  ofCompany(company_id: bigint): Sql | undefined | Promise<Sql | undefined>;
  /** Gives a new company a place, before anything is written of it. */
  settle(company_id: bigint): Promise<void>;
  /**
   * Makes a key that of a company, in a transaction of its own, before the company writes what has
   * the key. False where it is another company's.
   */
  claim(kind: KeyKind, key: string, company_id: bigint): Promise<boolean>;
  /**
   * Lets others have the key, after the company no longer has it. It does not fail: what could not
   * be released now is released by housekeeping.
   */
  release(kind: KeyKind, key: string, company_id: bigint): Promise<void>;
  /** Releases the keys that no record has any more, or never had. */
  clean(): Promise<void>;
}

/** The directory of an installation with one database, whose constraints keep keys unique. */
export const oneDatabase = (sql: Sql): Directory => ({
  ofKey: () => sql,
  ofCompany: () => sql,
  settle: async () => {},
  claim: async () => true,
  release: async () => {},
  clean: async () => {},
});

/** Runs a look-up in the database that has the owner of a key; no rows where nobody has it. */
export async function whereKeyIs<Found>(
  directory: Pick<Directory, 'ofKey'>,
  [kind, key]: [KeyKind, string],
  find: (sql: Sql) => Promise<Found[]>,
): Promise<Found[]> {
  const owner = directory.ofKey(kind, key);
  const sql = owner instanceof Promise ? await owner : owner;
  return sql ? find(sql) : [];
}
