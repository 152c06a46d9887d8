import type { OperationId } from '../../platform/contract/contract';
import type { Call } from '../handlers';

/** The owner of an Idempotency-Key: equal keys of different owners are different keys. */
export interface KeyOwner {
  kind:
    | 'key_pair'
    | 'user_token'
    | 'session'
    | 'lead_token'
    | 'webhook'
    | 'invitation'
    | 'confirmation'
    | 'carrier';
  /** Differs from those of all other owners of the kind. */
  credentials: string;
  /** The sender's address, where the credentials are public. */
  address?: string;
}

/**
 * The owner of the key of a request. Credentials of the company come before a lead token that is
 * sent along. Lead tokens, and inbound webhooks without a token, are public.
 */
export function identifyKeyOwner({
  caller,
  owner,
  webhook,
  invitation,
  confirmation,
  ip,
}: Call<OperationId>): KeyOwner {
  if (caller.credentials !== '') return { kind: caller.kind, credentials: caller.credentials };
  if (owner) return { kind: 'lead_token', credentials: owner.token, address: ip };
  if (webhook) {
    // Endpoints and traffic sources keep their keys when their tokens change.
    const credentials = `${webhook.id}/${webhook.traffic_source_id ?? ''}`;
    return { kind: 'webhook', credentials, ...(webhook.is_public && { address: ip }) };
  }
  if (invitation)
    return { kind: 'invitation', credentials: `${invitation.user_id}/${invitation.number}` };
  if (confirmation)
    return { kind: 'confirmation', credentials: `${confirmation.id}/${confirmation.number}` };
  return { kind: 'carrier', credentials: '' };
}
