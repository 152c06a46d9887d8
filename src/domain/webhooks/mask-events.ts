import { findHidden, selectVisibleBuyers } from '../../data/access/scope';
import {
  listMakerPermissions,
  loadMakerScope,
  loadMakerViewer,
  type Maker,
} from '../../data/access/makers';
import type { Statements } from '../../data/db';
import { RECORDS, requiredRecords } from './readable-events';
import { loadMaskedRecords, type EventRecords, type WebhookEvent } from './read-events';

// The webhooks of limited users receive what their makers see at that time, and no more.

const MAKING = listMakerPermissions('outgoing_webhooks');

type Connection = Pick<Statements, 'company_id' | 'query' | 'sql'>;

/** Returns the ids of a maker's webhooks whose owners the maker still sees. */
export async function findActingWebhooks(
  db: Connection,
  maker: Maker,
  ids: readonly string[],
): Promise<Set<string>> {
  const viewer = await loadMakerViewer(db, maker, MAKING);
  const hidden = new Set(await findHidden(viewer, 'outgoing_webhooks', ids));
  return new Set(ids.filter((id) => !hidden.has(id)));
}

/** Returns the events as the maker of a webhook sees them, without those the maker does not see. */
export async function maskEvents(
  db: Connection,
  maker: Maker,
  events: readonly WebhookEvent[],
): Promise<WebhookEvent[]> {
  const owner = await loadMakerViewer(db, maker, MAKING);
  const reader = await loadMakerViewer(db, maker, ['calls:read']);
  const lead = await loadMakerScope(db, maker, ['leads:read']);
  const call = reader.accessScope!;
  const ids = events.map(({ id }) => id);
  const records = await loadMaskedRecords(db, ids, { lead, call, attempt: call });
  const buyers = [...new Set(events.flatMap(({ buyer_id }) => buyer_id ?? []).map(Number))];
  const ownBuyers = await selectVisibleBuyers(owner, buyers);
  const paying = await selectVisibleBuyers(reader, buyers);
  const drawnUp = await visibleStatements(db, maker, events);
  return events
    .filter((event) => isKindVisible(event, records.get(event.id)!.call))
    .map((event) =>
      maskEvent(event, records.get(event.id)!, { own: ownBuyers, paying, drawn_up: drawnUp }),
    )
    .filter(isComplete);
}

function pickColumn({ kind, conversion }: WebhookEvent): string | undefined {
  if (kind === 'offer_converted') return 'traffic_source_converted';
  if (kind === 'buyer_converted' || kind === 'buyer_did_not_convert') return 'buyer_converted';
  if (kind !== 'conversion_returned') return undefined;
  return conversion === null ? 'traffic_source_converted' : 'buyer_converted';
}

/** The maker sees the column that the kind of an event shows; `call` as the maker sees it. */
function isKindVisible(event: WebhookEvent, call: string | null): boolean {
  const column = pickColumn(event);
  if (column === undefined || call === null) return true;
  return !isHidden((JSON.parse(call) as Record<string, unknown>)[column]);
}

type VisibleIds = Record<'own' | 'paying' | 'drawn_up', ReadonlySet<number>>;

async function visibleStatements(
  db: Connection,
  maker: Maker,
  events: readonly WebhookEvent[],
): Promise<Set<number>> {
  const ids = events.flatMap(({ statement }) => statementId(statement) ?? []);
  if (ids.length === 0) return new Set();
  const viewer = await loadMakerViewer(db, maker, ['statements:read']);
  const hidden = new Set(await findHidden(viewer, 'statements', ids));
  return new Set(ids.filter((id) => !hidden.has(id)));
}

const statementId = (statement: string | null): number | undefined =>
  statement === null ? undefined : (JSON.parse(statement) as { id: number }).id;

function maskEvent(
  event: WebhookEvent,
  records: Pick<EventRecords, 'lead' | 'call' | 'attempt'>,
  { own: ownBuyers, paying, drawn_up }: VisibleIds,
): WebhookEvent {
  const buyerId = Number(event.buyer_id);
  const isOwn = ownBuyers.has(buyerId);
  const isSeen = records.lead !== null || records.call !== null;
  return {
    ...event,
    ...records,
    buyer: isOwn ? event.buyer : null,
    conversion: paying.has(buyerId) ? maskConversion(event, records.call) : null,
    agent: null,
    alert: null,
    account: isOwn ? event.account : null,
    statement: drawn_up.has(statementId(event.statement) ?? 0) ? event.statement : null,
    lead_id: records.lead === null ? null : event.lead_id,
    call_id: records.call === null ? null : event.call_id,
    buyer_id: isOwn ? event.buyer_id : null,
    offer_id: isSeen ? event.offer_id : null,
    offer_name: isSeen ? event.offer_name : null,
  };
}

/** The dollars of a conversion are those of its call, whose columns are masked already. */
function maskConversion({ conversion }: WebhookEvent, call: string | null): string | null {
  if (conversion === null) return null;
  const { revenue, payout } = JSON.parse(call ?? '{}') as Record<string, unknown>;
  const fields = JSON.parse(conversion) as Record<string, unknown>;
  return JSON.stringify({
    ...fields,
    revenue: isHidden(revenue) ? null : fields.revenue,
    payout: isHidden(payout) ? null : fields.payout,
  });
}

const isHidden = (value: unknown): boolean => value === null || value === undefined;

/** The event has all records that the contract promises; a manual event needs only one of them. */
function isComplete(event: WebhookEvent): boolean {
  const required = requiredRecords(event.kind);
  return required.length > 0
    ? required.every((name) => event[name] !== null)
    : RECORDS.some((name) => name !== 'buyer' && event[name] !== null);
}
