import type { Request } from 'express';
import type { Operation } from '../../contract';
import type { Caller } from './caller';
import type { Confirmation } from './confirmations';
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
  /** The address that is confirmed. */
  confirmation?: Confirmation | undefined;
}

/** One way to authenticate a request. */
export interface Scheme {
  /**
   * Whose credentials of a company are in the header or the query string; undefined if there are
   * none. It is asked before the body is read. Throws as `authenticate` does, if nothing that the
   * body may have can make up for it.
   */
  callerOutsideBody?(req: Request): Promise<Caller | undefined> | undefined;
  /**
   * Throws 401 for bad credentials, and 429 after too many of them from one address. `known` is
   * what `callerOutsideBody` returned.
   */
  authenticate(
    req: Request,
    operation: Pick<Operation, 'own_number' | 'power'>,
    known?: Caller,
  ): Promise<Authenticated>;
}
