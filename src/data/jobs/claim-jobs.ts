import type { Sql } from '../sql';
import { CLAIM_JOBS } from './queries/job';
import type { TaskName } from './tasks';

export interface Job {
  id: string;
  company_id: string;
  data: unknown;
  /** The number of this run: a process that takes over the job has a higher one. */
  retry_count: number;
}

/** Companies that one claim looks at; the next claim goes on with those that follow. */
const MAX_COMPANIES = 200;

interface Claim {
  /** Free slots of this process. */
  free: number;
  /** Most slots of this process, free or taken, that a company may have. */
  company_max: number;
  running: Iterable<{ company_id: string }>;
}

export interface ClaimResult {
  jobs: Job[];
  /** Another process has claimed some of the chosen jobs, so that others may be left. */
  is_contended: boolean;
}

/**
 * Returns a function that claims jobs of a kind by turns of the companies whose jobs wait. A
 * company has a part of the slots of each process, and so of all: others find free ones.
 */
export function claimer(sql: Sql, name: TaskName): (claim: Claim) => Promise<ClaimResult> {
  let after = '';
  return async ({ free, company_max, running }) => {
    const busy = new Map<string, number>();
    for (const { company_id } of running) busy.set(company_id, (busy.get(company_id) ?? 0) + 1);
    const rows = await sql(CLAIM_JOBS, {
      name,
      after,
      busy: [...busy.keys()],
      busy_counts: [...busy.values()],
      company_max,
      max: free,
      max_companies: MAX_COMPANIES,
    });
    const jobs = rows.flatMap(({ id, data, retry_count }) => {
      if (id === null) return [];
      const { company_id } = data as { company_id: string };
      return [{ id, data, company_id, retry_count: retry_count! }];
    });
    const { chosen, last_company } = rows[0]!;
    after = jobs.at(-1)?.company_id ?? last_company;
    return { jobs, is_contended: jobs.length < chosen };
  };
}
