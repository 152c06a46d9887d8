import type { Request } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { HttpProblem } from '../../platform/errors';
import { toNetwork } from './address';

/** Attempts with bad credentials that one address has in `duration` seconds. */
const LIMIT = { points: 10, duration: 60 };
const BASIC = 'Basic realm="Trunkline", charset="UTF-8"';
const TOKEN = 'Token realm="Trunkline"';

/**
 * Asked for `Basic`, a browser would show its own dialog, and the script that has sent the request
 * would wait: Swagger UI could not show the answer.
 */
const buildChallenge = (req: Request) => ({
  headers: {
    'WWW-Authenticate': req.get('Sec-Fetch-Dest') === 'empty' ? TOKEN : `${BASIC}, ${TOKEN}`,
  },
});

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
      if (!attempted) return missing(req);
      const rejection = await limiter.consume(toNetwork(req.ip ?? '')).then(
        () => undefined,
        (reason: { msBeforeNext: number }) => reason,
      );
      return rejection ? tooMany(rejection.msBeforeNext) : invalid(req);
    },
    findRefusal: async (req) => {
      const spent = await limiter.get(toNetwork(req.ip ?? ''));
      return spent && spent.consumedPoints > LIMIT.points ? tooMany(spent.msBeforeNext) : undefined;
    },
  };
}

const missing = (req: Request): HttpProblem =>
  new HttpProblem(
    'missing_credentials',
    'Credentials are required: Authorization: Basic, Authorization: Token, or auth_token.',
    buildChallenge(req),
  );

const invalid = (req: Request): HttpProblem =>
  new HttpProblem('wrong_credentials', 'These credentials are not valid.', buildChallenge(req));

const tooMany = (waitMs: number): HttpProblem =>
  new HttpProblem(
    'too_many_attempts',
    'Too many requests with bad credentials from this address.',
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } },
  );
