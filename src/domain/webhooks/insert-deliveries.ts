import type { Statements } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { maskHeaders } from '../../platform/egress/request-template';
import { INSERT_DELIVERIES } from './queries/deliveries';

export interface NewDelivery {
  uuid: string;
  outgoing_webhook_id: string;
  webhook_manual_fire_id?: string | null;
  trigger_type: string;
  lead_id: string | null;
  call_id: string | null;
  buyer_id: string | null;
  offer_id: string | null;
  request_method: string;
  request_url: string;
  request_headers: Record<string, string>;
  request_body: string | null;
  /** Why it cannot be sent: it is dead from the start, and its log contains this reason. */
  fault?: string | undefined;
}

/** Inserts deliveries and wakes the queues of their webhooks, which must be locked. */
export async function insertDeliveries(
  db: Pick<Statements, 'sql'>,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery, n) => ({
    ...delivery,
    ...toLogColumns(delivery, now),
    n,
  }));
  await db.sql(INSERT_DELIVERIES, { now: now.toISOString(), rows: JSON.stringify(rows) });
}

const toLogColumns = ({ fault, request_headers }: NewDelivery, now: Date) =>
  fault === undefined
    ? {}
    : { log_uuid: uuidv7(now.getTime()), shown_headers: maskHeaders(request_headers) };
