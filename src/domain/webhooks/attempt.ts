import type { RequestOutcome, GuardedRequest } from '../../platform/egress/guarded-request';
import { maskHeaders } from '../../platform/egress/request-template';
import { toResponseFields } from '../../platform/egress/response-fields';
import { buildSignatureHeaders } from '../../platform/egress/standard-webhooks';
import { parseRetryAfter, computeDelay } from './backoff';
import type { DueDelivery } from './find-deliveries';
import type { Lease } from './lease-queues';
import type { Result } from './write-results';

const USER_AGENT = 'Trunkline';

export interface AttemptResult {
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
): Promise<AttemptResult> {
  const at = clock();
  const body = delivery.request_body ?? undefined;
  const headers = {
    'User-Agent': USER_AGENT,
    ...delivery.request_headers,
    ...buildSignatureHeaders(keys, { id: delivery.uuid, at, body: body ?? '' }),
  };
  const answered = await request({
    url: delivery.request_url,
    method: delivery.request_method,
    headers,
    ...(body !== undefined && { body }),
    timeout_ms: lease.timeout_seconds * 1000,
  });
  const attempts = delivery.attempts + 1;
  const outcome = decideOutcome(lease, answered, {
    attempts,
    delays,
    now: clock(),
    random: random(),
  });
  return {
    is_gone: isGone(answered),
    result: {
      company_id: lease.company_id,
      outgoing_webhook_id: lease.outgoing_webhook_id,
      delivery_id: delivery.id,
      attempt: attempts,
      started_at: at.toISOString(),
      request_headers: maskHeaders(headers),
      ...toResponseFields(answered),
      ...outcome,
    },
  };
}

const isGone = (answered: RequestOutcome): boolean => answered.ok && answered.code === 410;

const isSuccess = (answered: RequestOutcome, successCodes: readonly number[]): boolean => {
  if (!answered.ok) return false;
  const { code } = answered;
  return successCodes.length > 0 ? successCodes.includes(code) : code >= 200 && code < 300;
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

function decideOutcome(
  { success_codes, retries }: Lease,
  answered: RequestOutcome,
  { attempts, delays, now, random }: Attempts,
): Outcome {
  if (isSuccess(answered, success_codes)) return DELIVERED;
  const reason = describeAnswer(answered);
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
  const retryAfterMs = answered.ok
    ? parseRetryAfter(answered.headers['retry-after'], now)
    : undefined;
  const waitMs = computeDelay({ attempts, retries, delays, random, retry_after_ms: retryAfterMs });
  if (waitMs === undefined) return dead('that was its last attempt');
  const next = new Date(now.getTime() + waitMs);
  return waiting(next, `tried again at ${next.toISOString()}`);
}

function describeAnswer(answered: RequestOutcome): string {
  if (!answered.ok) return answered.reason;
  return answered.code >= 300 && answered.code < 400
    ? `answered ${answered.code}, a redirect, which is not followed`
    : `answered ${answered.code}`;
}
