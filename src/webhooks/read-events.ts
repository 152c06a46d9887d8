import { callAttemptProjection, callProjection } from '../calls/columns';
import { type Projection } from '../db/projection';
import type { SqlText } from '../db/sql';
import { template, type Template } from '../db/statement';
import type { Statements } from '../db/tenant';
import { leadProjection } from '../leads/columns';
import { ATTEMPT_ROWS, CALL_ROWS, LEAD_ROWS, READ_EVENTS } from './queries/events';
import { selectRecords } from '../db/record-statements';

/** The records of an event, as JSON; receivers get them. */
export interface EventRecords {
  lead: string | null;
  call: string | null;
  attempt: string | null;
  buyer: string | null;
  conversion: string | null;
  agent: string | null;
}

/** An event, and the records that it belongs to. */
export interface WebhookEvent extends EventRecords {
  id: string;
  kind: string;
  /** ISO 8601. */
  occurred_at: string;
  lead_id: string | null;
  call_id: string | null;
  buyer_id: string | null;
  offer_id: string | null;
  offer_name: string | null;
  traffic_source_id: string | null;
  schedule_action_id: string | null;
  buyer_group_ids: string[];
}

/**
 * A statement that reads the records of events as they were when the event occurred: totals "until
 * now" are until then.
 */
function recordsOf(projection: Projection, rows: SqlText): Template {
  const text = selectRecords(projection, rows.text, { more: 't.event_id::text AS event_id' });
  return template(text.replaceAll('{now}', 't.occurred_at'), { prepared: true });
}

const RECORDS = {
  lead: recordsOf(leadProjection, LEAD_ROWS),
  call: recordsOf(callProjection, CALL_ROWS),
  attempt: recordsOf(callAttemptProjection, ATTEMPT_ROWS),
};
const KINDS = Object.keys(RECORDS) as (keyof typeof RECORDS)[];

/** Reads events with their records, in the order of their ids. */
export async function readEvents(
  db: Pick<Statements, 'company_id' | 'query' | 'sql'>,
  ids: readonly string[],
): Promise<WebhookEvent[]> {
  const rows = await db.sql(READ_EVENTS, { ids });
  const events: WebhookEvent[] = rows.map((row) => ({
    ...row,
    lead: null,
    call: null,
    attempt: null,
  }));
  const by_id = new Map(events.map((event) => [event.id, event]));
  const params = { company_id: db.company_id, ids };
  for (const kind of KINDS) {
    const found = await db.query<{ event_id: string; record: string }>(RECORDS[kind](params));
    for (const { event_id, record } of found) by_id.get(event_id)![kind] = record;
  }
  return events;
}
