import type { Maker } from '../../data/access/makers';
import { fillTemplate, usesTokens } from '../../platform/egress/request-template';
import { passesFilters } from '../../platform/tokens/filters';
import type { TokenSource } from '../../platform/tokens/substitute';
import type { NewDelivery } from './insert-deliveries';
import { eventTokens, MAX_BODY_BYTES, buildPayload } from './payload';
import type { WebhookEvent } from './read-events';

/** The columns of a webhook that decide which events it receives, and as which request. */
export interface ActiveWebhook extends Maker {
  id: string;
  owner_type: string;
  owner_id: string | null;
  trigger_type: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  token_filters: string[];
}

/** An event, with values that all its deliveries share: computed once, when first needed. */
export interface OpenEvent {
  event: WebhookEvent;
  tokens: TokenSource;
  payload: () => string;
}

/** Events of these kinds have no buyer, even if the lead has one. */
const LEAD_KINDS: ReadonlySet<string> = new Set([
  'new_lead_created',
  'lead_changed',
  'lead_opted_out',
  'contact_fields_changed',
]);

export function openEvent(row: WebhookEvent): OpenEvent {
  const event = LEAD_KINDS.has(row.kind) ? { ...row, buyer: null } : row;
  let payload: string | undefined;
  let tokens: TokenSource | undefined;
  return {
    event,
    tokens: (name) => (tokens ??= eventTokens(event))(name),
    payload: () => (payload ??= buildPayload(event)),
  };
}

export const matchesWebhook = (
  { trigger_type, owner_type, owner_id }: ActiveWebhook,
  event: WebhookEvent,
): boolean => trigger_type === event.kind && belongsTo(event, owner_type, owner_id);

export const passesWebhookFilters = (
  { token_filters }: ActiveWebhook,
  { tokens }: OpenEvent,
): boolean => passesFilters(token_filters, tokens);

function belongsTo(event: WebhookEvent, ownerType: string, ownerId: string | null): boolean {
  switch (ownerType) {
    case 'Company':
      return true;
    case 'Offer':
      return event.offer_id === ownerId;
    case 'Buyer':
      return event.buyer_id === ownerId;
    case 'BuyerGroup':
      return event.buyer_group_ids.includes(ownerId!);
    case 'TrafficSource':
      return event.traffic_source_id === ownerId;
    case 'ScheduleAction':
      return event.schedule_action_id === ownerId;
    default:
      return false;
  }
}

/** The delivery of an event to a webhook. A body that is too large makes it dead. */
export function buildDelivery(
  webhook: ActiveWebhook,
  { event, tokens, payload }: OpenEvent,
  uuid: string,
): NewDelivery {
  const { lead_id, call_id, buyer_id, offer_id, kind } = event;
  const request = usesTokens(webhook)
    ? fillTemplate(webhook, tokens, payload())
    : fillTemplate(webhook, () => undefined, payload());
  const bytes = Buffer.byteLength(request.body ?? '');
  const fits = bytes <= MAX_BODY_BYTES;
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
      fault: `dead: the body has ${bytes} bytes; at most ${MAX_BODY_BYTES} are sent`,
    }),
  };
}
