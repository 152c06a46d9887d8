import { HttpProblem } from '../errors';

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
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export interface FairPool {
  turnsOf(company_id: bigint): Turns;
}

/**
 * Shares the connections of a pool among companies: a company may use half of them while it is
 * alone, and a quarter once another one comes, so that connections are left for that one. Further
 * work waits here, in order, and not at the pool, where it would be ahead of others. Throws 429
 * when too much work waits, or for too long.
 */
export function fairPool(size: number, max_wait_ms: number): FairPool {
  const alone = Math.max(1, Math.ceil(size / 2));
  const among_others = Math.max(1, Math.ceil(size / 4));
  const shares = new Map<bigint, Share>();
  const isFree = ({ running }: Share) => running < (shares.size === 1 ? alone : among_others);

  const proceed = (share: Share) => {
    for (const next of share.waiting) {
      if (!isFree(share)) return;
      share.waiting.delete(next);
      share.running++;
      next.proceed();
    }
  };
  const leave = (company_id: bigint, share: Share) => {
    share.running--;
    proceed(share);
    if (share.running > 0) return;
    shares.delete(company_id);
    if (shares.size === 1) for (const last of shares.values()) proceed(last);
  };
  const enter = (company_id: bigint): Share => {
    const share = shares.get(company_id) ?? { running: 0, waiting: new Set() };
    shares.set(company_id, share);
    return share;
  };
  return {
    turnsOf: (company_id) => async (work) => {
      const share = enter(company_id);
      if (isFree(share)) share.running++;
      else await turn(share, max_wait_ms);
      try {
        return await work();
      } finally {
        leave(company_id, share);
      }
    },
  };
}

function turn({ waiting }: Share, max_wait_ms: number): Promise<void> {
  if (waiting.size >= MAX_WAITING) throw tooMany();
  return new Promise((done, fail) => {
    const timer = setTimeout(() => {
      waiting.delete(one);
      fail(tooMany());
    }, max_wait_ms);
    const one: Waiting = {
      timer,
      proceed: () => {
        clearTimeout(timer);
        done();
      },
    };
    waiting.add(one);
  });
}

const tooMany = (): HttpProblem =>
  new HttpProblem(
    'too_many_at_once',
    'Too many requests of your company wait for the database at the same time. ' +
      'Send fewer at once, or narrow those that take long.',
    { headers: { 'Retry-After': '1' } },
  );
