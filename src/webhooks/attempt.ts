import type { Answered, GuardedRequest } from '../egress/guarded-request';
import { shownHeaders } from '../egress/request-template';
import { responseFields } from '../egress/response-fields';
import { signed } from '../egress/standard-webhooks';
import { retryAfter, waitAfter } from './backoff';
import type { DueDelivery } from './find-deliveries';
import type { Lease } from './lease-queues';
import type { Result } from './write-results';

const USER_AGENT = 'Trunkline';

export interface Attempted {
  result: Omit<Result, 'uuid'>;
  /** The receiver wants no more events (410). */
  is_gone: boolean;
}

interface AttemptContext {
  request: GuardedRequest;
  keys: readonly Buffer[];
  /** Milliseconds between attempts. */
  delays: readonly number[];
  clock: () => Date;
  random: () => number;
}

/** Sends a delivery once and decides what happens to it next. Never rejects. */
export async function attempt(
  lease: Lease,
  delivery: DueDelivery,
  { request, keys, delays, clock, random }: AttemptContext,
): Promise<Attempted> {
  const at = clock();
  const body = delivery.request_body ?? undefined;
  const headers = {
    'User-Agent': USER_AGENT,
    ...delivery.request_headers,
    ...signed(keys, { id: delivery.uuid, at, body: body ?? '' }),
  };
  const answered = await request({
    url: delivery.request_url,
    method: delivery.request_method,
    headers,
    ...(body !== undefined && { body }),
    timeout_ms: lease.timeout_seconds * 1000,
  });
  const attempts = delivery.attempts + 1;
  const outcome = outcomeOf(lease, answered, { attempts, delays, now: clock(), random: random() });
  return {
    is_gone: isGone(answered),
    result: {
      company_id: lease.company_id,
      outgoing_webhook_id: lease.outgoing_webhook_id,
      delivery_id: delivery.id,
      attempt: attempts,
      started_at: at.toISOString(),
      request_headers: shownHeaders(headers),
      ...responseFields(answered),
      ...outcome,
    },
  };
}

const isGone = (answered: Answered): boolean => answered.ok && answered.code === 410;

const isSuccess = (answered: Answered, success_codes: readonly number[]): boolean => {
  if (!answered.ok) return false;
  const { code } = answered;
  return success_codes.length > 0 ? success_codes.includes(code) : code >= 200 && code < 300;
};

type Outcome = Pick<Result, 'success' | 'status' | 'due_at' | 'notes'>;

const DELIVERED: Outcome = { success: true, status: 'delivered', due_at: null, notes: null };

interface Attempts {
  /** Including this one. */
  attempts: number;
  delays: readonly number[];
  now: Date;
  random: number;
}

function outcomeOf(
  { success_codes, retries }: Lease,
  answered: Answered,
  { attempts, delays, now, random }: Attempts,
): Outcome {
  if (isSuccess(answered, success_codes)) return DELIVERED;
  const reason = reasonOf(answered);
  const dead = (why: string): Outcome => ({
    success: false,
    status: 'dead',
    due_at: null,
    notes: `${reason}; dead: ${why}`,
  });
  const waiting = (until: Date, note: string): Outcome => ({
    success: false,
    status: 'waiting',
    due_at: until.toISOString(),
    notes: `${reason}; ${note}`,
  });
  if (!answered.ok && answered.reason.startsWith('refused_'))
    return dead('it was not sent, and will not be');
  if (isGone(answered)) return waiting(now, 'the webhook is paused, and this waits for it');
  const retry_after_ms = answered.ok ? retryAfter(answered.headers['retry-after'], now) : undefined;
  const wait_ms = waitAfter({ attempts, retries, delays, random, retry_after_ms });
  if (wait_ms === undefined) return dead('that was its last attempt');
  const next = new Date(now.getTime() + wait_ms);
  return waiting(next, `tried again at ${next.toISOString()}`);
}

function reasonOf(answered: Answered): string {
  if (!answered.ok) return answered.reason;
  return answered.code >= 300 && answered.code < 400
    ? `answered ${answered.code}, a redirect, which is not followed`
    : `answered ${answered.code}`;
}
