import type { ListeningWebhook, NewDelivery } from './queries/deliveries';
import type { WebhookEventRow } from './queries/events';
import { compileFilter } from '../tokens/filters';
import type { TokenSource } from '../tokens/substitute';
import { eventTokens, MOST_BODY_BYTES, payloadOf } from './payload';
import { filled, usesTokens } from '../egress/request-template';

/** An event, and what is worked out of it once for all who are told. */
export interface OpenEvent {
  event: WebhookEventRow;
  tokens: TokenSource;
  payload: () => string;
}

/** Which records go with which kinds of events: what is only known beside is not told. */
const OF_LEAD: ReadonlySet<string> = new Set([
  'new_lead_created',
  'lead_changed',
  'lead_opted_out',
  'contact_fields_changed',
]);

export function openEvent(row: WebhookEventRow): OpenEvent {
  const event = OF_LEAD.has(row.kind) ? { ...row, buyer: null } : row;
  let payload: string | undefined;
  let tokens: TokenSource | undefined;
  return {
    event,
    tokens: (name) => (tokens ??= eventTokens(event))(name),
    payload: () => (payload ??= payloadOf(event)),
  };
}

/** Whether a webhook is told of an event: whose it is, and what its filters ask. Pure. */
export function isTold(
  { trigger_type, owner_type, owner_id, token_filters }: ListeningWebhook,
  { event, tokens }: OpenEvent,
): boolean {
  if (trigger_type !== event.kind) return false;
  return (
    isOwned(event, owner_type, owner_id) &&
    token_filters.every((filter) => compileFilter(filter)?.(tokens) ?? false)
  );
}

function isOwned(event: WebhookEventRow, owner_type: string, owner_id: string | null): boolean {
  switch (owner_type) {
    case 'Company':
      return true;
    case 'Offer':
      return event.offer_id === owner_id;
    case 'Buyer':
      return event.buyer_id === owner_id;
    case 'BuyerGroup':
      return event.buyer_group_ids.includes(owner_id!);
    case 'TrafficSource':
      return event.traffic_source_id === owner_id;
    case 'ScheduleAction':
      return event.schedule_action_id === owner_id;
    default:
      return false;
  }
}

/** What a webhook is sent of an event. */
export function deliveryOf(
  webhook: ListeningWebhook,
  { event, tokens, payload }: OpenEvent,
  uuid: string,
): NewDelivery {
  const { lead_id, call_id, buyer_id, offer_id, kind } = event;
  const request = usesTokens(webhook)
    ? filled(webhook, tokens, payload())
    : filled(webhook, () => undefined, payload());
  const bytes = Buffer.byteLength(request.body ?? '');
  const fits = bytes <= MOST_BODY_BYTES;
  return {
    uuid,
    outgoing_webhook_id: webhook.id,
    trigger_type: kind,
    lead_id,
    call_id,
    buyer_id,
    offer_id,
    request_method: request.method,
    request_url: request.url,
    request_headers: request.headers,
    request_body: fits ? (request.body ?? null) : null,
    ...(!fits && {
      fault: `dead: the body would have ${bytes} bytes, and may have ${MOST_BODY_BYTES}`,
    }),
  };
}
