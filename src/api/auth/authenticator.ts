import type { Request } from 'express';
import type { CredentialKind, Operation } from '../../platform/contract/contract';
import type { Directory } from '../../data/directory';
import { accountScheme, credentialVerifier } from './account';
import type { Caller } from './caller';
import { carrierSignatureScheme, type CarrierOptions } from './carrier-signatures';
import { confirmationScheme } from './confirmations';
import { failedAttempts } from './failed-attempts';
import { invitationScheme } from './invitations';
import { leadTokenScheme } from './lead-tokens';
import type { Authenticated, Scheme } from './scheme';
import { sessions, type Sessions } from './sessions';
import { webhookTokenScheme } from './webhook-tokens';

type AuthenticatedOperation = Pick<
  Operation,
  'credentials' | 'own_number' | 'power' | 'method' | 'effect'
>;

export interface Authenticator {
  /** Those of the console, whose requests have no other credentials. */
  sessions: Sessions;
  /**
   * Finds the sender by the scheme of the operation, or by the session of the console. Throws 401
   * for bad credentials, and 429 after ten of them in a minute from one address.
   */
  authenticate(
    req: Request,
    operation: AuthenticatedOperation,
    knownCaller?: Caller,
  ): Promise<Authenticated>;
  /**
   * The caller by credentials in the header or the query string, before the body is read; undefined
   * where there are none, or where they are not those of a company. Throws 401 for bad ones where
   * no others are accepted.
   */
  callerOutsideBody(
    req: Request,
    operation: AuthenticatedOperation,
  ): Promise<Caller | undefined> | undefined;
  /**
   * Drops from the cache, after a change in this process: credentials by public key, a lead token,
   * or an inbound webhook by its vanity_uri.
   */
  forget(key: string): void;
  /** Drops all credentials: a team was changed, and with it the rights of its users. */
  forgetRights(): void;
  /** Drops all lead tokens: their permissions were changed. */
  forgetPowers(): void;
  /** Drops all tokens of offers, schedules and inbound webhooks. */
  forgetTokens(): void;
}

export interface AuthOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
  carrier: CarrierOptions;
  session_idle_hours: number;
}

export function authenticator(options: AuthOptions): Authenticator {
  const { directory, pepper, clock, carrier } = options;
  const failures = failedAttempts();
  const credentials = credentialVerifier({ directory, pepper, clock });
  const ofConsole = sessions(credentials, options);
  const leadTokens = leadTokenScheme(directory, credentials, failures);
  const webhookTokens = webhookTokenScheme(directory, pepper, failures);
  const schemes: Record<CredentialKind, Scheme> = {
    account: accountScheme(credentials, failures),
    lead_token: leadTokens,
    webhook_token: webhookTokens,
    invitation_token: invitationScheme({ directory, pepper, clock }, failures),
    confirmation_token: confirmationScheme({ directory, pepper, clock }, failures),
    carrier_signature: carrierSignatureScheme(directory, carrier, { failures, clock }),
  };
  return {
    sessions: ofConsole,
    authenticate: async (req, operation, knownCaller) =>
      req.session === undefined
        ? schemes[operation.credentials].authenticate(req, operation, knownCaller)
        : { caller: await ofConsole.admit(req, operation), owner: undefined },
    callerOutsideBody: (req, operation) =>
      req.session === undefined
        ? schemes[operation.credentials].callerOutsideBody?.(req)
        : ofConsole.admit(req, operation),
    forget: (key) => {
      credentials.forget(key);
      leadTokens.forget(key);
      webhookTokens.forget(key);
    },
    forgetRights: credentials.forgetAll,
    forgetPowers: leadTokens.forgetAll,
    forgetTokens: () => {
      leadTokens.forgetAll();
      webhookTokens.forgetAll();
    },
  };
}
