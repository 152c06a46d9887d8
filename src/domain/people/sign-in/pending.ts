import type { Schemas } from '../../../platform/contract/contract';
import { clearCookie, readCookie, setCookie } from '../../../api/auth/session-cookie';
import { sessionEnded } from '../../../api/auth/sessions';
import { deriveKey, open, seal } from '../../../platform/sealed';
import type { ConsoleCall, Person } from './console-call';
import type { Identity } from './login';

// A sign-in of several steps: what the browser has proved so far is in a cookie that only this
// service can make or read, for five minutes.

const COOKIE = 'trunkline_sign_in';
export const PENDING_MS = 5 * 60_000;

export type SignInMethod = NonNullable<Schemas['AccessToken']['sign_in_method']>;

export interface PendingSignIn {
  /** Whom the browser may become; with several, the company is to be chosen. */
  people: readonly Person[];
  method: SignInMethod;
  /** When the first step was made. */
  begun_at: Date;
  /** The name of the person at a provider, if that was the method. */
  identity?: Omit<Identity, 'email'> | undefined;
}

interface Stored {
  people: [string, string][];
  method: SignInMethod;
  begun_at: number;
  identity?: Omit<Identity, 'email'> | undefined;
}

const keyFor = ({ deps }: ConsoleCall): Buffer => deriveKey(deps.pepper, 'pending sign-in');

export function keepPending(
  call: ConsoleCall,
  { people, method, begun_at, identity }: PendingSignIn,
): void {
  const stored: Stored = {
    people: people.map(({ company_id, user_id }) => [String(company_id), String(user_id)]),
    method,
    begun_at: begun_at.getTime(),
    identity: identity && { issuer: identity.issuer, subject: identity.subject },
  };
  const sealed = Buffer.from(seal(keyFor(call), JSON.stringify(stored))).toString('base64url');
  setCookie(call.res, [COOKIE, sealed], call.deps.config, { maxAge: PENDING_MS });
}

export const clearPending = ({ res, deps }: ConsoleCall): void =>
  clearCookie(res, COOKIE, deps.config);

/** Undefined without one, or where its time is over. */
export function findPending(call: ConsoleCall): PendingSignIn | undefined {
  const sealed = readCookie(call.req, COOKIE, call.deps.config);
  const stored = sealed === undefined ? undefined : openStored(call, sealed);
  if (!stored) return undefined;
  const { people, method, begun_at, identity } = stored;
  return {
    people: people.map(([company, user]) => ({
      company_id: BigInt(company),
      user_id: BigInt(user),
    })),
    method,
    begun_at: new Date(begun_at),
    identity,
  };
}

function openStored(call: ConsoleCall, sealed: string): Stored | undefined {
  try {
    const stored = JSON.parse(open(keyFor(call), Buffer.from(sealed, 'base64url'))) as Stored;
    return call.now.getTime() - stored.begun_at < PENDING_MS ? stored : undefined;
  } catch {
    // Another pepper, or a cookie that was not made here.
    return undefined;
  }
}

/** Throws 401 where the sign-in must be begun again. */
export function requirePending(call: ConsoleCall): PendingSignIn {
  const pending = findPending(call);
  if (!pending) throw sessionEnded();
  return pending;
}
