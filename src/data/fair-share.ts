import { HttpProblem } from '../platform/errors';

/** Maximum of statements of a company that wait for a slot. */
const MAX_WAITING = 1_000;

interface Waiting {
  proceed(): void;
  timer: NodeJS.Timeout;
}

interface Share {
  running: number;
  waiting: Set<Waiting>;
}

/** Runs work of a company when it has a slot of the pool. */
export type RunInSlot = <T>(work: () => Promise<T>) => Promise<T>;

export interface FairPool {
  openSlots(companyId: bigint): RunInSlot;
}

/**
 * Shares the connections of a pool among companies: a company may use half of them while it is
 * alone, and a quarter once another one comes, so that connections are left for that one. Further
 * work waits here, in order, and not at the pool, where it would be ahead of others. Throws 429
 * when too much work waits, or for too long.
 */
export function fairPool(size: number, maxWaitMs: number): FairPool {
  const alone = Math.max(1, Math.ceil(size / 2));
  const amongOthers = Math.max(1, Math.ceil(size / 4));
  const shares = new Map<bigint, Share>();
  const isFree = ({ running }: Share) => running < (shares.size === 1 ? alone : amongOthers);

  const proceed = (share: Share) => {
    for (const next of share.waiting) {
      if (!isFree(share)) return;
      share.waiting.delete(next);
      share.running++;
      next.proceed();
    }
  };
  const leave = (companyId: bigint, share: Share) => {
    share.running--;
    proceed(share);
    if (share.running > 0) return;
    shares.delete(companyId);
    if (shares.size === 1) for (const last of shares.values()) proceed(last);
  };
  const enter = (companyId: bigint): Share => {
    const share = shares.get(companyId) ?? { running: 0, waiting: new Set() };
    shares.set(companyId, share);
    return share;
  };
  return {
    openSlots: (companyId) => async (work) => {
      const share = enter(companyId);
      if (isFree(share)) share.running++;
      else await waitForSlot(share, maxWaitMs);
      try {
        return await work();
      } finally {
        leave(companyId, share);
      }
    },
  };
}

function waitForSlot({ waiting }: Share, maxWaitMs: number): Promise<void> {
  if (waiting.size >= MAX_WAITING) throw buildTooManyError();
  return new Promise((done, fail) => {
    const timer = setTimeout(() => {
      waiting.delete(waiter);
      fail(buildTooManyError());
    }, maxWaitMs);
    const waiter: Waiting = {
      timer,
      proceed: () => {
        clearTimeout(timer);
        done();
      },
    };
    waiting.add(waiter);
  });
}

const buildTooManyError = (): HttpProblem =>
  new HttpProblem(
    'too_many_at_once',
    'Too many requests of your company wait for the database at the same time. ' +
      'Send fewer at once, or narrow those that take long.',
    { headers: { 'Retry-After': '1' } },
  );
