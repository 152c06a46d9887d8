import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient } from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client';
import { statementName } from './statement';

// Prisma's client on a pool of ours, bound to one company, in transactions whose connection the
// hand-written statements share.

/** Prisma's client on a pool. It prepares each statement once a connection. */
export const openPrisma = (pool: Pool): PrismaClient =>
  new PrismaClient({
    adapter: new PrismaPg(pool, {
      disposeExternalPool: false,
      statementNameGenerator: ({ sql, args }) =>
        args.length > 0 ? (statementName(sql) ?? '') : '',
    }),
  });

/** The connection of the transaction that Prisma is opening in this asynchronous context. */
const opening = new AsyncLocalStorage<{ connection?: PoolClient }>();

/**
 * A pool that remembers which connection Prisma takes for a transaction: Prisma does not say, and
 * its own raw queries cost a third more than the driver's.
 */
export class TransactionPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback) return super.connect(callback);
    const transaction = opening.getStore();
    return super.connect().then((connection) => {
      if (transaction) transaction.connection ??= connection;
      return connection;
    });
  }
}

const OPTIONS = { maxWait: 5_000, timeout: 10_000 };

/** Runs the work in a transaction of Prisma's, and hands it the connection of that transaction. */
export function prismaTransaction<T>(
  prisma: BoundPrisma,
  work: (tx: TenantClient, connection: PoolClient) => Promise<T>,
): Promise<T> {
  const transaction: { connection?: PoolClient } = {};
  return opening.run(transaction, () =>
    prisma.$transaction((tx) => work(tx as TenantClient, transaction.connection!), OPTIONS),
  );
}

/** Models of the installation as a whole; all others belong to one company. */
const SHARED_MODELS = new Set<string>(['Company', 'CredentialLookup'] satisfies Prisma.ModelName[]);

export type BoundPrisma = ReturnType<typeof bindToCompany>;

/** Prisma's client, bound to one company. */
export type TenantClient = Omit<
  BoundPrisma,
  '$transaction' | '$connect' | '$disconnect' | '$extends' | '$on'
>;

/** Adds the company to every condition and every new row of every statement that Prisma makes. */
export function bindToCompany(prisma: PrismaClient, company_id: bigint) {
  return prisma.$extends({
    query: {
      $allModels: {
        $allOperations: ({ model, args, query }) =>
          SHARED_MODELS.has(model)
            ? query(args)
            : query(withCompany(args as Arguments, company_id) as typeof args),
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

function withCompany(args: Arguments, company_id: bigint): Arguments {
  const own = (row: object) => ({ ...row, company_id });
  // update() and updateMany() have data too, but their rows keep the company of their condition.
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
