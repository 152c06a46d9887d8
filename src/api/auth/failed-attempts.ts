import type { Request } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { HttpProblem } from '../../platform/errors';
import { toNetwork } from './address';

/** Attempts with bad credentials that one address has in `duration` seconds. */
const LIMIT = { points: 10, duration: 60 };
const CHALLENGE = {
  headers: {
    'WWW-Authenticate': 'Basic realm="Trunkline", charset="UTF-8", Token realm="Trunkline"',
  },
};

export interface FailedAttempts {
  /**
   * The problem for a request without valid credentials: 401, or 429 after too many attempts. Only
   * `attempted` credentials count: a request without any guesses nothing.
   */
  problemFor(req: Request, attempted: boolean): Promise<HttpProblem>;
  /**
   * The problem for an address that has made too many attempts, where even the answer to a good
   * request reveals something: that a name exists. Counts nothing.
   */
  findRefusal(req: Request): Promise<HttpProblem | undefined>;
}

export function failedAttempts(): FailedAttempts {
  const limiter = new RateLimiterMemory(LIMIT);
  return {
    problemFor: async (req, attempted) => {
      if (!attempted) return missing();
      const rejection = await limiter.consume(toNetwork(req.ip ?? '')).then(
        () => undefined,
        (reason: { msBeforeNext: number }) => reason,
      );
      return rejection ? tooMany(rejection.msBeforeNext) : invalid();
    },
    findRefusal: async (req) => {
      const spent = await limiter.get(toNetwork(req.ip ?? ''));
      return spent && spent.consumedPoints > LIMIT.points ? tooMany(spent.msBeforeNext) : undefined;
    },
  };
}

const missing = (): HttpProblem =>
  new HttpProblem(
    'missing_credentials',
    'Credentials are required: Authorization: Basic, Authorization: Token, or auth_token.',
    CHALLENGE,
  );

const invalid = (): HttpProblem =>
  new HttpProblem('wrong_credentials', 'These credentials are not valid.', CHALLENGE);

const tooMany = (waitMs: number): HttpProblem =>
  new HttpProblem(
    'too_many_attempts',
    'Too many requests with bad credentials from this address.',
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } },
  );
