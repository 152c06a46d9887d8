import type { Sql } from '../../data/sql';
import { MEASURE_QUEUES } from './queries/queues';

/** How far the delivery of webhooks is behind. */
export interface Lag {
  due: number;
  /** Since when the oldest delivery is due; null when none is. */
  oldest: Date | null;
}

export async function measureQueues(sql: Sql, now: Date): Promise<Lag> {
  const [row] = await sql(MEASURE_QUEUES, { now: now.toISOString() });
  return { due: row!.queues, oldest: row!.oldest };
}
