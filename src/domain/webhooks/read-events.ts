import { callAttemptProjection, callProjection } from '../calls/columns';
import { MONEY_CONDITIONS } from '../../data/access/money';
import { buildVisibleCondition } from '../../data/access/scope';
import { type Projection } from '../../data/projection/projection';
import type { SqlText } from '../../data/sql';
import { template, type Template } from '../../data/statement';
import { type Statements, type AccessScope } from '../../data/db';
import { leadProjection } from '../leads/columns';
import { ATTEMPT_ROWS, CALL_ROWS, LEAD_ROWS, READ_EVENTS } from './queries/events';
import { selectRecords } from '../../data/projection/record-statements';
import type { RecordName } from './readable-events';

/** The records of an event, as JSON for receivers. */
export type EventRecords = Record<RecordName, string | null>;

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
function buildRecordTemplate(
  projection: Projection,
  rows: SqlText,
  { condition, columns }: { condition?: string | undefined; columns?: readonly string[] } = {},
): Template {
  const more = 't.event_id::text AS event_id';
  const text = selectRecords(projection, rows.text, {
    more,
    columns,
    limited: condition !== undefined,
  });
  const where = condition === undefined ? '' : `\nWHERE ${condition}`;
  return template(`${text}${where}`.replaceAll('{now}', 't.occurred_at'), { prepared: true });
}

function buildRecordTemplates(limited: boolean) {
  const of = (projection: Projection, rows: SqlText) =>
    buildRecordTemplate(projection, rows, {
      condition: limited ? buildVisibleCondition(projection.plural) : undefined,
    });
  return {
    lead: of(leadProjection, LEAD_ROWS),
    call: of(callProjection, CALL_ROWS),
    attempt: of(callAttemptProjection, ATTEMPT_ROWS),
  };
}

/**
 * The calls of events that say that a buyer does not pay, or no longer pays: callers who see the
 * buyer get these columns. The person who called belongs to the buyers who pay.
 */
const UNPAID_CALLS = buildRecordTemplate(callProjection, CALL_ROWS, {
  condition: `t.event_kind IN ('buyer_did_not_convert', 'conversion_returned')
    AND ${MONEY_CONDITIONS.calls!.sale}`,
  columns: [
    'id',
    'uuid',
    'created_at',
    'type',
    'category',
    'offer',
    'offer_id',
    'buyer',
    'user_buyer_id',
    'buyer_id',
    'total_duration',
    'answered_duration',
    'status',
    'buyer_converted',
    'buyer_revenue',
    'revenue',
    'answered_at',
    'connected_at',
    'ended_at',
  ] satisfies (keyof typeof callProjection.columns)[],
});

const RECORDS = buildRecordTemplates(false);
const MASKED_RECORDS = buildRecordTemplates(true);
type Kind = keyof typeof RECORDS;
const KINDS = Object.keys(RECORDS) as Kind[];

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
  const byId = new Map(events.map((event) => [event.id, event]));
  const params = { company_id: db.company_id, ids };
  for (const kind of KINDS) {
    const recordRows = await db.query<{ event_id: string; record: string }>(RECORDS[kind](params));
    for (const { event_id, record } of recordRows) byId.get(event_id)![kind] = record;
  }
  return events;
}

/**
 * Reads the lead, call and attempt of events as limited callers see them, each in the scope of the
 * permission to read it: without the records that they do not see, and with masked columns if these
 * refer to other records they do not see. For a call that their buyer does not pay for, or no
 * longer pays for, they get that fact and nothing about the person.
 */
export async function loadMaskedRecords(
  db: Pick<Statements, 'company_id' | 'query'>,
  ids: readonly string[],
  scopes: Record<Kind, AccessScope>,
): Promise<Map<string, Pick<EventRecords, Kind>>> {
  const byId = new Map(ids.map((id) => [id, { lead: null, call: null, attempt: null }])) as Map<
    string,
    Pick<EventRecords, Kind>
  >;
  for (const kind of KINDS) {
    const params = { company_id: db.company_id, ids, ...scopes[kind] };
    const recordRows = await db.query<{ event_id: string; record: string }>(
      MASKED_RECORDS[kind](params),
    );
    for (const { event_id, record } of recordRows) byId.get(event_id)![kind] = record;
  }
  const withoutCall = ids.filter((id) => byId.get(id)!.call === null);
  if (withoutCall.length > 0) {
    const unpaid = await db.query<{ event_id: string; record: string }>(
      UNPAID_CALLS({ company_id: db.company_id, ids: withoutCall, ...scopes.call }),
    );
    for (const { event_id, record } of unpaid) byId.get(event_id)!.call = record;
  }
  return byId;
}
