import type { Request } from 'express';
import type { Operation } from '../../contract';
import type { Caller } from './caller';
import type { Invitation } from './invitations';
import type { LeadOwner } from './lead-tokens';
import type { SellersEndpoint } from './webhook-tokens';

/** Who sends a request, and what the credentials are for. */
export interface Authenticated {
  caller: Caller;
  /** The offer or schedule of the lead token. */
  owner: LeadOwner | undefined;
  /** The inbound webhook that is called. */
  webhook?: SellersEndpoint | undefined;
  /** The invitation that is accepted. */
  invitation?: Invitation | undefined;
}

/** One way to authenticate a request. */
export interface Scheme {
  /** Throws 401 for bad credentials, and 429 after too many of them from one address. */
  authenticate(
    req: Request,
    operation: Pick<Operation, 'own_number' | 'power'>,
  ): Promise<Authenticated>;
}
