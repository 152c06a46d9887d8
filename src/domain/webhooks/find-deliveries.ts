import type { Sql } from '../../data/sql';
import type { LeasedQueue } from './lease-queues';
import { FIND_DUE_DELIVERIES } from './queries/deliveries';

export interface DueDelivery {
  id: string;
  uuid: string;
  request_method: string;
  request_url: string;
  request_headers: Record<string, string>;
  request_body: string | null;
  attempts: number;
}

interface Search {
  now: Date;
  /** Ids of deliveries that were sent and whose results are not written yet. */
  unwritten_ids: readonly string[];
  /** New deliveries up to this id were found before. */
  after: string;
  max: number;
}

export const findDueDeliveries = (
  sql: Sql,
  { company_id, outgoing_webhook_id }: LeasedQueue,
  { now, ...search }: Search,
): Promise<DueDelivery[]> =>
  sql(FIND_DUE_DELIVERIES, {
    ...search,
    company_id,
    outgoing_webhook_id,
    now: now.toISOString(),
  });
