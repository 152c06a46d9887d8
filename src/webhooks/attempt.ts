import type { DueDelivery, Lease } from './queries/queue-leases';
import type { Result } from './queries/queue-leases';
import { retryAfter, waitAfter } from './backoff';
import type { Answered, GuardedRequest } from '../egress/guarded-request';
import { shownHeaders } from '../egress/request-template';
import { signed } from '../egress/standard-webhooks';
import { responseFields } from '../egress/response-fields';

const NAME = 'Trunkline';

export interface Attempted {
  result: Omit<Result, 'uuid'>;
  /** The receiver wants no more of it (410). */
  gone: boolean;
}

interface Attempting {
  request: GuardedRequest;
  keys: readonly Buffer[];
  delays: readonly number[];
  clock: () => Date;
  random: () => number;
}

/** Sends a delivery once, and works out what follows. Never rejects. */
export async function attempt(
  lease: Lease,
  delivery: DueDelivery,
  { request, keys, delays, clock, random }: Attempting,
): Promise<Attempted> {
  const {
    request_url: url,
    request_method: method,
    request_headers,
    request_body,
    uuid,
  } = delivery;
  const at = clock();
  const body = request_body ?? undefined;
  const headers = {
    'User-Agent': NAME,
    ...request_headers,
    ...signed(keys, { id: uuid, at, body: body ?? '' }),
  };
  const answered = await request({
    url,
    method,
    headers,
    ...(body !== undefined && { body }),
    timeout_ms: lease.timeout_seconds * 1000,
  });
  const attempts = delivery.attempts + 1;
  const verdict = verdictOf(lease, answered, { attempts, delays, now: clock(), random: random() });
  return {
    gone: answered.ok && answered.code === 410,
    result: {
      company_id: lease.company_id,
      outgoing_webhook_id: lease.outgoing_webhook_id,
      delivery_id: delivery.id,
      attempt: attempts,
      started_at: at.toISOString(),
      request_headers: shownHeaders(headers),
      ...responseFields(answered),
      ...verdict,
    },
  };
}

const isSuccess = (code: number, success_codes: readonly number[]): boolean =>
  success_codes.length > 0 ? success_codes.includes(code) : code >= 200 && code < 300;

interface Judging {
  attempts: number;
  delays: readonly number[];
  now: Date;
  random: number;
}

type Verdict = Pick<Result, 'success' | 'status' | 'due_at' | 'notes'>;

function verdictOf(
  { success_codes, retries }: Lease,
  answered: Answered,
  { attempts, delays, now, random }: Judging,
): Verdict {
  if (answered.ok && isSuccess(answered.code, success_codes))
    return { success: true, status: 'delivered', due_at: null, notes: null };
  const why = wordsOf(answered);
  const dead = (reason: string): Verdict => ({
    success: false,
    status: 'dead',
    due_at: null,
    notes: `${why}; dead: ${reason}`,
  });
  const later = (at: Date, note: string): Verdict => ({
    success: false,
    status: 'waiting',
    due_at: at.toISOString(),
    notes: `${why}; ${note}`,
  });
  if (!answered.ok && answered.reason.startsWith('refused_'))
    return dead('it was not sent, and will not be');
  if (answered.ok && answered.code === 410)
    return later(now, 'the webhook is paused, and this waits for it');
  const retry_after_ms = answered.ok ? retryAfter(answered.headers['retry-after'], now) : undefined;
  const wait = waitAfter({ attempts, retries, delays, random, retry_after_ms });
  if (wait === undefined) return dead('that was its last attempt');
  const at = new Date(now.getTime() + wait);
  return later(at, `tried again at ${at.toISOString()}`);
}

function wordsOf(answered: Answered): string {
  if (!answered.ok) return answered.reason;
  return answered.code >= 300 && answered.code < 400
    ? `answered ${answered.code}, a redirect, which is not followed`
    : `answered ${answered.code}`;
}
