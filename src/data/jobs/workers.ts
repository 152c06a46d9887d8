import type { Logger } from 'pino';
import type { Database } from '../client';
import { createWakeSignal, listen, type WakeSignal } from '../notifications';
import { jobRuns } from '../../platform/telemetry/metrics';
import { inSpan } from '../../platform/telemetry/tracing';
import { CLAIM_JOBS, END_JOB, EXTEND_JOB, RETRY_JOB } from './queries/job';
import { CHANNEL, TIMING, type JobContext, type Runners, type Timing } from './queue';
import { TASK_NAMES, TASKS, type TaskName } from './tasks';
import type { Sql } from '../sql';

export interface Workers {
  /** Begins no further job, asks those that run to end, and waits for them. */
  stop(): Promise<void>;
}

interface WorkersOptions {
  database: Database;
  log: Logger;
  runners: Runners;
  timing?: Timing;
}

export async function startWorkers({
  database,
  log,
  runners,
  timing = TIMING,
}: WorkersOptions): Promise<Workers> {
  const stopping = new AbortController();
  const bells = new Map(TASK_NAMES.map((name) => [name, createWakeSignal()]));
  const listener = listen({
    url: database.session_url,
    channel: CHANNEL,
    onNotification: (name) => bells.get(name as TaskName)?.notify(),
    stopping: stopping.signal,
  });
  const loops = TASK_NAMES.map((name) => {
    const runner = runners[name] as (payload: unknown, context: JobContext) => Promise<void>;
    return loop({
      database,
      log,
      name,
      runner,
      timing,
      bell: bells.get(name)!,
      stopping: stopping.signal,
    });
  });
  return {
    stop: async () => {
      stopping.abort();
      bells.forEach(({ notify }) => notify());
      await Promise.all(loops);
      await listener;
    },
  };
}

interface Loop {
  database: Database;
  log: Logger;
  name: TaskName;
  runner: (payload: unknown, context: JobContext) => Promise<void>;
  timing: Timing;
  bell: WakeSignal;
  stopping: AbortSignal;
}

async function loop(context: Loop): Promise<void> {
  const { database, log, name, bell, stopping, timing } = context;
  const { concurrency } = TASKS[name];
  const companyMax = Math.ceil(concurrency / 2);
  const claim = claimer(database.sql, { name, timing });
  const running = new Map<Promise<void>, Job>();
  const claimFree = async (free: number): Promise<ClaimResult> => {
    if (free === 0) return NOTHING;
    return claim({ free, company_max: companyMax, running: running.values() }).catch(
      (error: unknown) => {
        log.warn({ err: error, job: name }, 'jobs could not be claimed; this will be tried again');
        return NOTHING;
      },
    );
  };
  while (!stopping.aborted) {
    const free = concurrency - running.size;
    const { jobs, is_contended } = await claimFree(free);
    for (const job of jobs) {
      const work = run(context, job).finally(() => {
        running.delete(work);
        bell.notify();
      });
      running.set(work, job);
    }
    if (free === 0 || (jobs.length < free && !is_contended)) await bell.wait(timing.poll_ms);
  }
  await Promise.all(running.keys());
}

const NOTHING: ClaimResult = { jobs: [], is_contended: false };

/** Runs one job with a heartbeat. Its error is logged, and the job runs again. */
async function run(context: Loop, job: Job): Promise<void> {
  const { id, data, runs } = job;
  const { log, name, runner, stopping, timing } = context;
  const { sql } = context.database;
  const takenOver = new AbortController();
  // While the database is down, no other process can take over the job.
  const beat = () =>
    void extendOwnJob(context, job).then(
      (mine) => mine || takenOver.abort(),
      () => undefined,
    );
  beat();
  const heartbeat = setInterval(beat, timing.heartbeat_ms);
  const measure = jobRuns.startTimer({ kind: name });
  try {
    const signal = AbortSignal.any([stopping, takenOver.signal]);
    const attributes = { 'trunkline.job': name, 'trunkline.job_id': id };
    await inSpan(`job ${name}`, { kind: 'CONSUMER', attributes, begins: true }, () =>
      runner(data, { job_id: id, signal }),
    );
    // A run that was suspended until another process took over the job does not end it.
    await sql(END_JOB, { id, runs });
    measure({ result: 'done' });
  } catch (error) {
    measure({ result: stopping.aborted || takenOver.signal.aborted ? 'interrupted' : 'failed' });
    if (!stopping.aborted && !takenOver.signal.aborted)
      log.warn({ err: error, job: name, job_id: id }, 'a job failed and will run again');
    // While the database is down this fails: then the job expires, and runs again.
    const { retry_seconds } = timing;
    await sql(RETRY_JOB, { id, runs, retry_seconds }).catch(() => undefined);
  } finally {
    clearInterval(heartbeat);
  }
}

/** Postpones the expiry of a job. False when the job is over or another run of it has begun. */
async function extendOwnJob({ database, timing }: Loop, { id, runs }: Job): Promise<boolean> {
  const { expire_seconds } = timing;
  const extended = await database.sql(EXTEND_JOB, { id, runs, expire_seconds });
  return extended.length === 1;
}

interface Job {
  id: string;
  company_id: string;
  data: unknown;
  /** The number of this run: a process that takes over the job has a higher one. */
  runs: number;
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

interface ClaimResult {
  jobs: Job[];
  /** Another process has claimed some of the chosen jobs, so that others may be left. */
  is_contended: boolean;
}

/**
 * Returns a function that claims jobs of a kind by turns of the companies whose jobs wait. A
 * company has a part of the slots of each process, and so of all: others find free ones.
 */
export function claimer(
  sql: Sql,
  { name, timing: { expire_seconds } = TIMING }: { name: TaskName; timing?: Timing },
): (claim: Claim) => Promise<ClaimResult> {
  let after = '';
  return async ({ free, company_max, running }) => {
    const busy = new Map<string, number>();
    for (const { company_id } of running) busy.set(company_id, (busy.get(company_id) ?? 0) + 1);
    const rows = await sql(CLAIM_JOBS, {
      name,
      expire_seconds,
      after,
      busy: [...busy.keys()],
      busy_counts: [...busy.values()],
      company_max,
      max: free,
      max_companies: MAX_COMPANIES,
    });
    const jobs = rows.flatMap(({ id, company_id, data, runs }) =>
      id === null ? [] : [{ id, company_id: company_id!, data, runs: runs! }],
    );
    const { chosen, last_company } = rows[0]!;
    after = jobs.at(-1)?.company_id ?? last_company;
    return { jobs, is_contended: jobs.length < chosen };
  };
}
