import { HttpProblem } from '../platform/errors';
import { choosePool, type Database } from './client';
import { Context } from './context';
import { fairPool, type FairPool, type RunInSlot } from './fair-share';
import type { BoundStatement } from './statement';

// Decides which connections a statement of a company uses, and when. Background work takes free
// connections at once; requests of a company wait for a slot, so that no company takes all of them.

/** A pool whose connections companies share. */
export type Lane = 'pool' | 'prepared' | 'searches' | 'routing' | 'batched';

/** The kind of a request: routing has connections that no other request takes. */
export type Purpose = 'usual' | 'routing';

export interface PoolAccess {
  chooseLane(statement: BoundStatement): Lane;
  /** The lane of transactions without Prisma. */
  statements: Lane;
  run: <T>(lane: Lane, work: () => Promise<T>) => Promise<T>;
  /**
   * Runs a transaction on a lane. Statements that it runs outside of itself must not wait for a
   * slot.
   */
  transaction: <T>(lane: Lane, work: () => Promise<T>) => Promise<T>;
}

/** Takes any free connection, for internal work. */
export const UNLIMITED: PoolAccess = {
  chooseLane: choosePool,
  statements: 'prepared',
  run: (_, work) => work(),
  transaction: (_, work) => work(),
};

const inTransaction = new Context<true>();

export function openRequestAccess(
  database: Pick<Database, Lane | 'max_call_wait_ms'>,
): (companyId: bigint, purpose: Purpose) => PoolAccess {
  const pools = Object.fromEntries(
    LANES.map((lane) => {
      const { max, connectionTimeoutMillis } = database[lane].options;
      const maxWaitMs = lane === 'routing' ? database.max_call_wait_ms : connectionTimeoutMillis!;
      return [lane, fairPool(max, maxWaitMs)];
    }),
  ) as Record<Lane, FairPool>;
  return (companyId, purpose) => {
    const slots = Object.fromEntries(
      LANES.map((lane) => [lane, pools[lane].openSlots(companyId)]),
    ) as Record<Lane, RunInSlot>;
    const planned: Lane = purpose === 'routing' ? 'routing' : 'prepared';
    const run: PoolAccess['run'] = (lane, work) => {
      const started = lane === 'searches' ? () => work().catch(refuseSlowSearch) : work;
      return inTransaction.get() ? started() : slots[lane](started);
    };
    return {
      chooseLane: (statement) => (statement.kind === 'prepared' ? planned : choosePool(statement)),
      statements: planned,
      run,
      transaction: (lane, work) => run(lane, () => inTransaction.run(true, work)),
    };
  };
}

const LANES: readonly Lane[] = ['pool', 'prepared', 'searches', 'routing', 'batched'];

/** PostgreSQL has canceled the statement because of its timeout. */
const QUERY_CANCELED = '57014';

function refuseSlowSearch(error: unknown): never {
  if ((error as { code?: string }).code !== QUERY_CANCELED) throw error;
  throw new HttpProblem(
    'search_too_slow',
    'The search took too long and was stopped. Narrow it: a shorter period (created_at_from, ' +
      'created_at_to), an offer or a buyer, or a longer fulltext.',
    { headers: { 'Retry-After': '5' } },
  );
}
