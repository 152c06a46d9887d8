import type { Request } from 'express';
import type { Operation } from '../../platform/contract/contract';
import type { Caller } from './caller';
import type { Confirmation } from './confirmations';
import type { Invitation } from './invitations';
import type { LeadOwner } from './lead-tokens';
import type { SellersEndpoint } from './webhook-tokens';

/** The sender of a request, and the record that its token opens. */
export interface Authenticated {
  caller: Caller;
  owner: LeadOwner | undefined;
  webhook?: SellersEndpoint | undefined;
  invitation?: Invitation | undefined;
  confirmation?: Confirmation | undefined;
}

export interface Scheme {
  /**
   * The caller by credentials in the header or the query string, before the body is read; undefined
   * without any. Throws like `authenticate` if nothing in the body can make up for bad ones.
   */
  callerOutsideBody?(req: Request): Promise<Caller | undefined> | undefined;
  /**
   * Throws 401 for bad credentials, and 429 after too many of them from one address. `knownCaller`
   * is the result of `callerOutsideBody`.
   */
  authenticate(
    req: Request,
    operation: Pick<Operation, 'own_number' | 'power'>,
    knownCaller?: Caller,
  ): Promise<Authenticated>;
}
