import type { Sql } from '../db/sql';
import { MEASURE_QUEUES } from './queries/queues';

/** Of more webhooks than these, the count is this, and the oldest one of these. */
const MAX_QUEUES = 1_000;

/** How far the delivery of webhooks is behind. */
export interface Lag {
  /** Webhooks that have something to send now. */
  due: number;
  /** Since when the oldest of it is due; null when nothing is. */
  oldest: Date | null;
}

/** Reads how far a database's webhooks are behind. */
export async function measureQueues(sql: Sql, now: Date): Promise<Lag> {
  const [row] = await sql(MEASURE_QUEUES, { now: now.toISOString(), max: MAX_QUEUES });
  return { due: row!.queues, oldest: row!.oldest };
}
