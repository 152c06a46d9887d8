import type { Response } from 'express';
import type { Decision, RateLimitCounter, Subject } from '../db/rate-limit-counter';
import { HttpProblem } from '../errors';
import type { Authenticated } from './auth/scheme';

export interface RateLimits {
  /**
   * Counts a request against its credentials and sends the RateLimit headers. Throws 429 when none
   * is left. Returns a promise only when the database must be asked.
   */
  take(sender: Authenticated, res: Response): void | Promise<void>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  counter: RateLimitCounter;
  /** Requests in a window, by credential and by lead token; 0 for no limit. */
  limits: { credential: number; lead_token: number };
  window_seconds: number;
}

export function rateLimits({ counter, limits, window_seconds }: RateLimitOptions): RateLimits {
  return {
    take: (sender, res) => {
      const subject = subjectOf(sender, limits);
      if (!subject) return;
      const apply = (decision: Decision) => {
        const policy = { limit: subject.limit, window_seconds };
        setHeaders(res, policy, decision);
        if (!decision.allowed) throw tooMany(policy, decision);
      };
      const decision = counter.take(subject);
      return decision instanceof Promise ? decision.then(apply) : apply(decision);
    },
    close: () => counter.close(),
  };
}

interface Policy {
  limit: number;
  window_seconds: number;
}

const secondsLeft = ({ resets_in_ms }: Decision): number => Math.ceil(resets_in_ms / 1000);

function setHeaders(res: Response, { limit, window_seconds }: Policy, decision: Decision): void {
  res.setHeader('RateLimit-Policy', `"default";q=${limit};w=${window_seconds}`);
  res.setHeader('RateLimit', `"default";r=${decision.remaining};t=${secondsLeft(decision)}`);
}

function tooMany({ limit, window_seconds }: Policy, decision: Decision): HttpProblem {
  const seconds = secondsLeft(decision);
  return new HttpProblem(
    'rate_limited',
    `The limit of ${limit} requests in ${window_seconds} seconds is used up.` +
      ` It resets in ${seconds} seconds.`,
    { headers: { 'Retry-After': String(Math.max(1, seconds)) } },
  );
}

/**
 * What a request counts against: the lead token if the operation needs one, otherwise the
 * credentials. Requests of carriers and to inbound webhooks are not limited.
 */
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
