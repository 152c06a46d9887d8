import type { Request } from 'express';
import type { Operation } from '../../platform/contract/contract';
import type { Caller } from './caller';
import type { LinkTarget } from './link-tokens';
import type { LeadTokenPower } from '../../platform/contract/contract';

/** An inbound webhook, which sellers of calls and leads send pings and posts to. */
export interface SellersEndpoint {
  company_id: bigint;
  id: bigint;
  /** Its address: the last part of its URL. */
  vanity_uri: string;
  /** Two letters. */
  country: string;
  /** True if its sender has shown no token. */
  is_public: boolean;
  /** The traffic source whose token was sent; absent for any other. */
  traffic_source_id?: number;
}

/** The offer or the schedule that a lead token belongs to. */
export interface LeadOwner {
  company_id: bigint;
  /** Two letters. */
  country: string;
  token: string;
  offer_id: bigint | null;
  schedule_id: bigint | null;
  /** The traffic source that submits with it; null for the own token of the offer or schedule. */
  traffic_source_id: bigint | null;
  /** IANA zone of leads whose own zone is unknown. */
  zone: string;
  /** Countries and prefixes that its company contacts (src/data/phone/contact-policy.ts). */
  contact_countries: string[] | null;
  contact_prefixes: string[];
  /** Permissions of the token without credentials of the company. */
  powers: ReadonlySet<LeadTokenPower>;
}

export interface Invitation {
  company_id: bigint;
  user_id: bigint;
  /** Sequence number of the user's invitations: earlier ones are void. */
  number: number;
}

export type Confirmation = LinkTarget;

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
