import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Operation } from '../../platform/contract/contract';
import type { Directory } from '../../data/directory';
import { HttpProblem } from '../../platform/errors';
import type { CredentialVerifier } from './account';
import type { Caller } from './caller';
import { TOUCH_SESSION } from './queries/sessions';

// Sessions of the console: access tokens of their own kind, whose secret is in a cookie. What
// changes something also needs a token that only a page of the same origin can read.

export interface SessionOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
  session_idle_hours: number;
}

export interface Sessions {
  /**
   * The person whose session a request shows; undefined without one. Throws 401 for one that has
   * ended. Its idle end is postponed, unless a script of the page sends it by itself, and says so (X-Background).
   */
  find(req: Request): Promise<Caller | undefined>;
  /** Throws 403 without the token that the page of this session has read. */
  requireCsrfToken(req: Request, caller: Caller): void;
  csrfToken(caller: Pick<Caller, 'public_key'>): string;
  /** The caller of an operation. Throws 401, 403, or 404 where sessions do not do that. */
  admit(req: Request, operation: SessionOperation): Promise<Caller>;
}

export type SessionOperation = Pick<Operation, 'credentials' | 'method' | 'effect'>;

const TOUCH_MS = 60_000;
const MAX_TOUCHED = 10_000;

export function sessions(
  verifier: CredentialVerifier,
  { directory, pepper, clock, session_idle_hours }: SessionOptions,
): Sessions {
  /** When the sessions were last touched by this process, by public key. */
  const touched = new Map<string, number>();
  const touch = async ({ company_id, access_token_id, public_key }: Caller) => {
    const now = clock();
    if (now.getTime() - (touched.get(public_key) ?? -TOUCH_MS) < TOUCH_MS) return;
    if (touched.size >= MAX_TOUCHED) touched.clear();
    touched.set(public_key, now.getTime());
    const sql = await directory.findCompanyDatabase(company_id);
    const [row] = (await sql?.(TOUCH_SESSION, {
      company_id,
      access_token_id,
      now: now.toISOString(),
      idle_hours: session_idle_hours,
    })) ?? [undefined];
    if (row?.touched) verifier.forget(public_key);
  };
  const find = async (req: Request) => {
    if (!req.session) return undefined;
    const caller = await verifier.verifySession(req.session);
    if (!caller) throw sessionEnded();
    if (req.get('X-Background') === undefined) await touch(caller);
    return caller;
  };
  const csrfToken = ({ public_key }: Pick<Caller, 'public_key'>) =>
    createHmac('sha256', pepper).update(`csrf/${public_key}`).digest('base64url');
  const requireCsrfToken = (req: Request, caller: Caller) => {
    const right = Buffer.from(csrfToken(caller));
    const shown = Buffer.from(req.get('X-CSRF-Token') ?? '');
    if (shown.length === right.length && timingSafeEqual(shown, right)) return;
    throw new HttpProblem(
      'foreign_origin',
      'X-CSRF-Token is not that of this session: GET /console/session has it.',
    );
  };
  return {
    find,
    csrfToken,
    requireCsrfToken,
    admit: async (req, { credentials, method, effect }) => {
      if (credentials !== 'account')
        throw new HttpProblem('unknown_path', 'This is not for sessions: it is at /api/v1.');
      const caller = await find(req);
      if (!caller) throw new HttpProblem('missing_credentials', 'Sign in to the console.');
      if (method !== 'get' || effect) requireCsrfToken(req, caller);
      return caller;
    },
  };
}

/** 401 for a session, or a sign-in that was begun, which is over. */
export const sessionEnded = (): HttpProblem =>
  new HttpProblem('session_ended', 'Sign in again: this has ended, or was ended elsewhere.');
