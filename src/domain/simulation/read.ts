import type { Row, Statement, StatementName } from '../../data/sql';
import type { Db } from '../../data/db';
import {
  CALLERS,
  COUNT_CALLS,
  OBSERVED_ATTEMPTS,
  PAST_CALLS,
  TALK_DURATIONS,
} from './queries/replayed-calls';
import { BUSINESS_HOURS, CAPS_AND_USE, CONVERSIONS } from './queries/setup';

// Loads the input of a simulation. Nothing is locked or changed.

type Connection = Pick<Db, 'sql'>;
type QueryRow<Query> =
  Query extends Statement<infer Name extends StatementName, infer Narrowed>
    ? Row<Name, Narrowed>
    : never;

export interface Period {
  offer_id: bigint;
  from: Date;
  to: Date;
}

/** The number of ended calls of an offer, counted up to `most`. */
export async function countCalls(db: Connection, period: Period, most: number): Promise<number> {
  const [row] = await db.sql(COUNT_CALLS, { ...period, most });
  return row!.n;
}

export type PastCall = QueryRow<typeof PAST_CALLS>;

/** Calls in one read: a whole month could exceed the time limit of a statement. */
const PAGE = 5_000;

/**
 * Ended calls of an offer with their results, in the order in which they came in, in pages.
 * `tokens` adds their tokens, `history` the earlier calls of the caller.
 */
export async function* loadPastCalls(
  db: Connection,
  period: Period,
  { page: pageSize = PAGE, ...needs }: { tokens: boolean; history: boolean; page?: number },
): AsyncGenerator<PastCall[]> {
  let after: { after_at: Date | string; after_id: number } = {
    after_at: '-infinity',
    after_id: 0,
  };
  for (;;) {
    const page = await db.sql(PAST_CALLS, { ...period, ...needs, ...after, page: pageSize });
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < pageSize) return;
    after = { after_at: last.at, after_id: last.id };
  }
}

export const loadObservedAttempts = (
  db: Connection,
  period: Period,
): Promise<QueryRow<typeof OBSERVED_ATTEMPTS>[]> => db.sql(OBSERVED_ATTEMPTS, period);

/** Seconds that connected calls lasted: a hundred quantiles; empty without calls. */
export async function loadTalkDurations(db: Connection, period: Period): Promise<number[]> {
  const [row] = await db.sql(TALK_DURATIONS, period);
  return row!.talked;
}

export type Callers = QueryRow<typeof CALLERS>;

/** Facts of callers of an offer: lists as they are now, calls before `from`. */
export async function loadCallers(
  db: Connection,
  callers: Pick<Period, 'offer_id' | 'from'> & {
    numbers: readonly number[];
    buyer_ids: readonly number[];
  },
): Promise<Callers> {
  const [row] = await db.sql(CALLERS, callers);
  return row!;
}

/** Settings of buyers and groups that a candidate of routing does not have. */
export interface Setup {
  caps: QueryRow<typeof CAPS_AND_USE>[];
  hours: QueryRow<typeof BUSINESS_HOURS>[];
  conversions: QueryRow<typeof CONVERSIONS>[];
}

export interface SetupOwners {
  buyer_ids: readonly number[];
  group_ids: readonly number[];
  from: Date;
}

/**
 * Calls of this many days before `from` count for caps that reset: a month, and differences between
 * zones.
 */
const CAP_DAYS = 32;
const DAY_MS = 86_400_000;

/**
 * Loads the settings of buyers and groups as they are now, and the usage of their caps at `from`.
 * Earlier calls are read only for totals, if `hasTotals`.
 */
export async function loadSetup(
  db: Connection,
  { from, ...owners }: SetupOwners,
  hasTotals: (caps: Setup['caps']) => boolean,
): Promise<Setup> {
  const { buyer_ids } = owners;
  const since = new Date(from.getTime() - CAP_DAYS * DAY_MS);
  let caps = await db.sql(CAPS_AND_USE, { ...owners, from, since });
  if (hasTotals(caps)) caps = await db.sql(CAPS_AND_USE, { ...owners, from, since: new Date(0) });
  return {
    caps,
    hours: await db.sql(BUSINESS_HOURS, { buyer_ids }),
    conversions: await db.sql(CONVERSIONS, { buyer_ids }),
  };
}
