import type { Response } from 'express';
import type { Operation } from '../platform/contract/contract';
import type { Decision, RateLimitCounter, Subject } from '../data/rate-limits/rate-limit-counter';
import { HttpProblem } from '../platform/errors';
import { toNetwork } from './auth/address';
import type { Caller } from './auth/caller';
import type { Authenticated, LeadOwner } from './auth/scheme';

// Requests count against their credentials. A lead token is public, and the address of sellers'
// endpoints is easily known: there requests also count against the address that they come from, and
// at a lead token against the number that they are about.

export interface CountedRequest {
  operation: Pick<Operation, 'power'>;
  /** Read only where its address counts. */
  req: { ip?: string | undefined };
  res: Response;
}

export interface RateLimits {
  /**
   * Counts a request against its credentials and sends the RateLimit headers. Throws 429 when none
   * is left. Returns a promise only when the database may be needed.
   */
  take(sender: Authenticated, request: CountedRequest): void | Promise<void>;
  /**
   * Counts a request by lead token alone against the number that it is about. Throws 429. May be
   * called in a transaction: the counter has other connections than transactions have.
   */
  takeNumber(request: NumberRequest): Promise<void>;
  close(): Promise<void>;
}

interface NumberRequest {
  owner: Pick<LeadOwner, 'company_id' | 'token'>;
  caller: Pick<Caller, 'access_token_id'>;
  /** E.164 digits. */
  number: number;
}

/** Requests in a window; 0 for no limit. */
interface Limits {
  credential: number;
  /** Submissions by a lead token. */
  lead_token: number;
  /** Requests of an address at an endpoint of sellers. */
  seller: number;
}

export interface RateLimitOptions {
  counter: RateLimitCounter;
  limits: Limits;
  window_seconds: number;
}

const MAX_PER_NUMBER = 60;

export function rateLimits({ counter, limits, window_seconds }: RateLimitOptions): RateLimits {
  const free = freeRequests(window_seconds * 1000);
  const takeAll = async (limited: readonly LimitedSubject[], res: Response | undefined) => {
    let fewest = Infinity;
    for (const subject of limited) {
      const decision = await takeOne(subject, counter, free);
      if (!decision) continue;
      const policy = { ...subject, window_seconds };
      if (decision.remaining < fewest && res) setHeaders(res, policy, decision);
      fewest = Math.min(fewest, decision.remaining);
      if (!decision.allowed) throw tooMany(policy, decision);
    }
  };
  return {
    take: (sender, request) => {
      const { res } = request;
      const { company_id, access_token_id } = sender.caller;
      if (access_token_id === 0n)
        return takeAll(limitsWithoutCredentials(sender, request, limits), res);
      const { credential: limit } = limits;
      if (limit === 0) return;
      const policy = { limit, window_seconds };
      const apply = (decision: Decision) => {
        setHeaders(res, policy, decision);
        if (!decision.allowed) throw tooMany(policy, decision);
      };
      const decision = counter.take({ company_id, name: `access_token:${access_token_id}`, limit });
      return decision instanceof Promise ? decision.then(apply) : apply(decision);
    },
    takeNumber: async ({ owner, caller, number }) => {
      if (caller.access_token_id !== 0n || limits.lead_token === 0) return;
      const { company_id, token } = owner;
      const name = `lead_token:${token}:number:${number}`;
      const limit = Math.min(MAX_PER_NUMBER, limits.lead_token);
      await takeAll([{ company_id, name, limit, of: 'for this number' }], undefined);
    },
    close: () => counter.close(),
  };
}

/** A subject, with words for what is limited if that is not the credentials. */
interface LimitedSubject extends Subject {
  of?: string;
}

/**
 * Most addresses and numbers send few requests: their limits query the database only after a few
 * requests that this process allows by itself.
 */
function takeOne(
  { of, ...subject }: LimitedSubject,
  counter: RateLimitCounter,
  free: FreeRequests,
): Decision | undefined | Promise<Decision> {
  if (!of) return counter.take(subject);
  const { allowed, rest } = free.take(subject);
  return allowed ? undefined : counter.take({ ...subject, limit: rest });
}

/**
 * The limits of requests without credentials of the company. First that of the address, so that its
 * refused requests use up nothing of what others need. Submissions have a limit of their own: no
 * flood of other requests keeps leads out. Requests of carriers are not limited.
 */
function limitsWithoutCredentials(
  { caller: { company_id }, owner, webhook }: Authenticated,
  { operation, req }: CountedRequest,
  { lead_token, seller }: Limits,
): LimitedSubject[] {
  const of = 'for this address';
  const from = toNetwork(req.ip ?? '');
  if (owner && lead_token > 0) {
    const isSubmission = operation.power === 'submit';
    const name = `lead_token:${owner.token}${isSubmission ? '' : ':others'}`;
    const limit = isSubmission ? lead_token : quarter(lead_token);
    return [
      { company_id, name: `${name}:${from}`, limit: quarter(limit), of },
      { company_id, name, limit },
    ];
  }
  if (webhook && seller > 0)
    return [{ company_id, name: `inbound_webhook:${webhook.id}:${from}`, limit: seller, of }];
  return [];
}

const quarter = (limit: number): number => Math.ceil(limit / 4);

interface Policy {
  limit: number;
  window_seconds: number;
  of?: string;
}

const secondsLeft = ({ resets_in_ms }: Decision): number => Math.ceil(resets_in_ms / 1000);

function setHeaders(res: Response, { limit, window_seconds }: Policy, decision: Decision): void {
  res.setHeader('RateLimit-Policy', `"default";q=${limit};w=${window_seconds}`);
  res.setHeader('RateLimit', `"default";r=${decision.remaining};t=${secondsLeft(decision)}`);
}

function tooMany({ limit, window_seconds, of }: Policy, decision: Decision): HttpProblem {
  const seconds = secondsLeft(decision);
  return new HttpProblem(
    'rate_limited',
    `The limit of ${limit} requests in ${window_seconds} seconds${of ? ` ${of}` : ''} is used up.` +
      ` It resets in ${seconds} seconds.`,
    { headers: { 'Retry-After': String(Math.max(1, seconds)) } },
  );
}

/** Requests that each process allows a subject before the database counts. */
const FREE = 5;
const MAX_SUBJECTS = 20_000;

interface FreeRequests {
  /** `allowed` while a free request is left; otherwise `rest` is the limit for the database. */
  take(subject: Subject): { allowed: boolean; rest: number };
}

/**
 * With one process a limit is exact; each further one allows a few requests more. Small limits have
 * no free requests.
 */
function freeRequests(windowMs: number): FreeRequests {
  let counts = new Map<string, number>();
  let window = -1;
  return {
    take: ({ company_id, name, limit }) => {
      const current = Math.floor(Date.now() / windowMs);
      if (current !== window || counts.size >= MAX_SUBJECTS) counts = new Map();
      window = current;
      const free = limit >= 4 * FREE ? FREE : 0;
      const key = `${company_id}/${name}`;
      const count = counts.get(key) ?? 0;
      if (count < free) counts.set(key, count + 1);
      return { allowed: count < free, rest: limit - free };
    },
  };
}
