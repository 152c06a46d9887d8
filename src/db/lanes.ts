import { HttpProblem } from '../errors';
import { poolFor, type Database } from './client';
import { Context } from './context';
import { fairPool, type FairPool, type Turns } from './fair-share';
import type { BoundStatement } from './statement';

// Decides which connections a statement of a company uses, and when. Background work takes free
// connections at once; requests of a company wait for a slot, so that no company takes all of them.

/** A pool whose connections companies share. */
export type Lane = 'pool' | 'prepared' | 'searches' | 'routing' | 'batched';

/** The kind of a request: routing has connections that no other request takes. */
export type Purpose = 'usual' | 'routing';

export interface Lanes {
  of(statement: BoundStatement): Lane;
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
export const OPEN_LANES: Lanes = {
  of: poolFor,
  statements: 'prepared',
  run: (_, work) => work(),
  transaction: (_, work) => work(),
};

const in_transaction = new Context<true>();

export function requestLanes(
  database: Pick<Database, Lane>,
): (company_id: bigint, purpose: Purpose) => Lanes {
  const pools = Object.fromEntries(
    LANES.map((lane) => {
      const { max, connectionTimeoutMillis } = database[lane].options;
      return [lane, fairPool(max, connectionTimeoutMillis!)];
    }),
  ) as Record<Lane, FairPool>;
  return (company_id, purpose) => {
    const turns = Object.fromEntries(
      LANES.map((lane) => [lane, pools[lane].turnsOf(company_id)]),
    ) as Record<Lane, Turns>;
    const planned: Lane = purpose === 'routing' ? 'routing' : 'prepared';
    const run: Lanes['run'] = (lane, work) => {
      const started = lane === 'searches' ? () => work().catch(refuseSlowSearch) : work;
      return in_transaction.get() ? started() : turns[lane](started);
    };
    return {
      of: (statement) => (statement.kind === 'prepared' ? planned : poolFor(statement)),
      statements: planned,
      run,
      transaction: (lane, work) => run(lane, () => in_transaction.run(true, work)),
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
