import type { Response } from 'express';
import type { RateLimitCounter, Subject } from '../db/rate-limit-counter';
import { HttpProblem } from '../errors';
import type { Authenticated } from './auth/authenticator';

export interface RateLimits {
  /** Counts a request to its credentials, and says in its answer how many are left; refuses with 429 when none is. */
  take(who: Authenticated, res: Response): void | Promise<void>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  permits: RateLimitCounter;
  /** Requests of a window, by credential and by lead token; 0 for no limit. */
  limits: { credential: number; lead_token: number };
  window_seconds: number;
}

export function rateLimits({ permits, limits, window_seconds }: RateLimitOptions): RateLimits {
  const say = (
    res: Response,
    { limit }: Subject,
    answer: Awaited<ReturnType<RateLimitCounter['take']>>,
  ) => {
    const seconds = Math.ceil(answer.resets_in_ms / 1000);
    res.setHeader('RateLimit-Policy', `"default";q=${limit};w=${window_seconds}`);
    res.setHeader('RateLimit', `"default";r=${answer.remaining};t=${seconds}`);
    if (answer.allowed) return;
    const headers = { 'Retry-After': String(Math.max(1, seconds)) };
    throw new HttpProblem(
      429,
      `The ${limit} requests that are allowed in ${window_seconds} seconds are used up; ${seconds} seconds are left of them.`,
      {},
      headers,
    );
  };
  return {
    take: (who, res) => {
      const subject = subjectOf(who, limits);
      if (!subject) return;
      const answer = permits.take(subject);
      // Most requests wait for nothing here, not even for a promise.
      return answer instanceof Promise
        ? answer.then((later) => say(res, subject, later))
        : say(res, subject, answer);
    },
    close: () => permits.close(),
  };
}

/** What a request is counted to: the lead token where one was asked for, else the credentials. Carriers and sellers of calls are not limited. */
function subjectOf(
  { caller, owner }: Authenticated,
  { credential, lead_token }: RateLimitOptions['limits'],
): Subject | undefined {
  const { company_id, access_token_id } = caller;
  if (owner)
    return lead_token === 0
      ? undefined
      : { company_id, name: `lead_token:${owner.token}`, limit: lead_token };
  return access_token_id === 0n || credential === 0
    ? undefined
    : { company_id, name: `access_token:${access_token_id}`, limit: credential };
}
