import type { Subject } from '../data/rate-limits/rate-limit-counter';

/** Requests that each process allows a subject before the database counts. */
const FREE = 5;
const MAX_SUBJECTS = 20_000;

export interface FreeRequests {
  /** `allowed` while a free request is left; otherwise `rest` is the limit for the database. */
  take(subject: Subject): { allowed: boolean; rest: number };
}

/**
 * With one process a limit is exact; each further one allows a few requests more. Small limits have
 * no free requests.
 */
export function freeRequests(windowMs: number): FreeRequests {
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
