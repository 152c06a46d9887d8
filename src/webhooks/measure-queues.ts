import type { Sql } from '../db/sql';
import { MEASURE_QUEUES } from './queries/queues';

/** How far the delivery of webhooks is behind. */
export interface Lag {
  /** Webhooks that have something to send now. */
  due: number;
  /** Since when the oldest of it is due; null when nothing is. */
  oldest: Date | null;
}

/** Reads how far a database's webhooks are behind. */
export async function measureQueues(sql: Sql, now: Date): Promise<Lag> {
  const [row] = await sql(MEASURE_QUEUES, { now: now.toISOString() });
  return { due: row!.queues, oldest: row!.oldest };
}
