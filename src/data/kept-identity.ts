import { HttpProblem } from '../platform/errors';
import { RAISE_SEQUENCE, LOCK_SEQUENCES } from './queries/kept-identity';
import type { TenantClient } from './prisma-client';
import type { Db } from './db';

// A record that comes from another service keeps its id, uuid and times. Every handler that creates
// such a record inserts its row with Prisma in a transaction, where the row gets these values.

export interface ImportedIdentity {
  id?: bigint;
  uuid?: string;
  created_at?: Date;
  updated_at?: Date;
}

/** Later ids begin this far after an imported one, so that further old ids still fit between. */
export const ID_MARGIN = 100_000n;
/**
 * Maximum distance of an imported id from the ids of the table. All companies of the installation
 * share one sequence, and one company must not use it up.
 */
export const ID_REACH = 1_000_000_000n;

interface ImportedRow {
  table: string;
  /** Name of the table's model in Prisma's client. */
  model: string;
  identity: ImportedIdentity;
  /** Maximum distance of the id from the ids of the table; null for any. */
  reach: bigint | null;
}

/** Returns a Db whose transactions give the identity to the first row of the model. */
export const withImportedIdentity = (db: Db, importedRow: ImportedRow): Db => ({
  ...db,
  transaction: (work, options) =>
    db.transaction((tx) => work(importWithin(tx, importedRow)), options),
});

function importWithin(tx: Db, importedRow: ImportedRow): Db {
  const db: Db = {
    ...tx,
    prisma: buildImportClient(tx, importedRow),
    transaction: (work) => work(db),
  };
  return db;
}

interface CreateArguments {
  data: object;
}
type Delegate = Record<string, (args: CreateArguments) => Promise<unknown>>;

function buildImportClient(tx: Db, { table, model, identity, reach }: ImportedRow): TenantClient {
  let isFirst = true;
  const create = async (delegate: Delegate, args: CreateArguments): Promise<unknown> => {
    if (!isFirst) return delegate.create!(args);
    isFirst = false;
    if (identity.id !== undefined) await raiseSequence(tx, { table, id: identity.id, reach });
    return delegate.create!({ ...args, data: { ...args.data, ...identity } });
  };
  return new Proxy(tx.prisma, {
    get(client, name) {
      const delegate: unknown = Reflect.get(client, name);
      if (name !== model) return delegate;
      return new Proxy(delegate as Delegate, {
        get: (target, operation) =>
          operation === 'create'
            ? (args: CreateArguments) => create(target, args)
            : Reflect.get(target, operation),
      });
    },
  });
}

/**
 * Raises the sequence before the row is inserted, so that no other record gets its id meanwhile.
 * Throws 422 for an id that is too far beyond the others.
 */
export async function raiseSequence(
  { sql }: Db,
  { table, id, reach }: { table: string; id: bigint; reach: bigint | null },
): Promise<void> {
  const last = id + ID_MARGIN;
  await sql(LOCK_SEQUENCES, {});
  const [row] = await sql(RAISE_SEQUENCE, { table, id, last, reach });
  if (reach !== null && id - BigInt(row!.came_to!) > reach)
    throw HttpProblem.field(
      'legacy_id',
      'limit_exceeded',
      `must be at most ${reach} beyond the ids that records have here`,
    );
}
