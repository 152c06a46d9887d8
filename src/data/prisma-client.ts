import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client';
import { Context } from './context';
import { statementName } from './statement';

// Prisma's client on our own pool, bound to one company, in transactions whose connection the
// hand-written statements share.

/** Lower limits for the time to get a connection, and for the transaction. */
const MIN_TRANSACTION_MS = { maxWait: 5_000, timeout: 10_000 };

/**
 * Prisma's client on a pool, for the tables of a schema. It prepares each statement once per
 * connection. A transaction may take as long as one of its statements.
 */
export const openPrisma = (pool: Pool, timeoutMs: number, schema = 'public'): PrismaClient =>
  new PrismaClient({
    transactionOptions: {
      maxWait: Math.max(MIN_TRANSACTION_MS.maxWait, timeoutMs / 2),
      timeout: Math.max(MIN_TRANSACTION_MS.timeout, timeoutMs),
    },
    adapter: new PrismaPg(pool, {
      disposeExternalPool: false,
      schema,
      statementNameGenerator: ({ sql, args }) =>
        args.length > 0 ? (statementName(sql) ?? '') : '',
    }),
  });

/** A transaction of Prisma, with its connection until Prisma releases it. */
interface OpenTransaction {
  connection?: PoolClient | undefined;
}

/** True for a query that ends a transaction (not a savepoint). */
function endsTransaction(query: unknown): boolean {
  const text = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text;
  return typeof text === 'string' && /^\s*(ROLLBACK|COMMIT|END|ABORT)\s*(?:;\s*)?$/i.test(text);
}

/** The transaction that Prisma is opening in this asynchronous context. */
const opening = new Context<OpenTransaction>();

/**
 * A pool that records which connection Prisma takes for a transaction: Prisma does not expose it,
 * and its own raw queries cost a third more than the driver's.
 */
export class TransactionPool extends Pool {
  private readonly transactions = new WeakMap<PoolClient, OpenTransaction>();

  constructor(config: PoolConfig) {
    super(config);
    this.on('release', (_error, connection) => this.detach(connection));
  }

  private detach(connection: PoolClient): void {
    const transaction = this.transactions.get(connection);
    if (!transaction) return;
    transaction.connection = undefined;
    this.transactions.delete(connection);
    Reflect.deleteProperty(connection, 'query');
  }

  /**
   * When a transaction times out, Prisma rolls it back and releases its connection while the work
   * goes on. After the rollback, a further statement of the work would be committed by itself, so
   * the work loses the connection before the rollback is sent.
   */
  private attach(connection: PoolClient, transaction: OpenTransaction): void {
    transaction.connection = connection;
    this.transactions.set(connection, transaction);
    const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
    connection.query = ((...args: unknown[]) => {
      if (endsTransaction(args[0])) this.detach(connection);
      return query(...args);
    }) as PoolClient['query'];
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback) return super.connect(callback);
    const transaction = opening.get();
    return super.connect().then((connection) => {
      if (transaction && !transaction.connection) this.attach(connection, transaction);
      return connection;
    });
  }
}

/**
 * The work continued after its transaction had ended; answered with 503, like Prisma's own P2028.
 */
class TransactionEnded extends Error {
  readonly code = 'P2028';

  constructor() {
    super('the transaction has timed out and was rolled back');
  }
}

export interface TransactionOptions {
  /** How long the work may take, if that is longer than usual. */
  timeout_ms?: number;
}

/**
 * Runs the work in a transaction of Prisma. `connection` returns its connection, and throws once
 * the transaction has ended.
 */
export function prismaTransaction<T>(
  prisma: BoundPrisma,
  work: (tx: TenantClient, connection: () => PoolClient) => Promise<T>,
  { timeout_ms }: TransactionOptions = {},
): Promise<T> {
  const transaction: OpenTransaction = {};
  const connection = () => {
    if (!transaction.connection) throw new TransactionEnded();
    return transaction.connection;
  };
  return opening.run(transaction, () =>
    prisma.$transaction(
      (tx) => work(tx as TenantClient, connection),
      timeout_ms === undefined ? undefined : { timeout: timeout_ms },
    ),
  );
}

/** Models of the whole installation; all others belong to one company. */
const SHARED_MODELS = new Set<string>([
  'Company',
  'CredentialLookup',
  'NumberLookup',
] satisfies Prisma.ModelName[]);

export type BoundPrisma = ReturnType<typeof bindToCompany>;

export type TenantClient = Omit<
  BoundPrisma,
  '$transaction' | '$connect' | '$disconnect' | '$extends' | '$on'
>;

/**
 * Adds the company to every condition and every new row of Prisma's statements. `run` runs each
 * operation.
 */
export function bindToCompany(
  prisma: PrismaClient,
  companyId: bigint,
  run: <T>(operation: () => Promise<T>) => Promise<T>,
) {
  return prisma.$extends({
    query: {
      $allModels: {
        $allOperations: ({ model, args, query }) =>
          run(() =>
            SHARED_MODELS.has(model)
              ? query(args)
              : query(withCompany(args as Arguments, companyId) as typeof args),
          ),
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

function withCompany(args: Arguments, companyId: bigint): Arguments {
  const addCompany = (row: object) => ({ ...row, company_id: companyId });
  // update() and updateMany() have data too, but their rows keep the company of their condition.
  const creates = args.data !== undefined && args.where === undefined;
  return {
    ...args,
    ...(!creates && { where: addCompany(args.where ?? {}) }),
    ...(creates && {
      data: Array.isArray(args.data) ? args.data.map(addCompany) : addCompany(args.data as object),
    }),
    ...(args.create && { create: addCompany(args.create) }),
  };
}
