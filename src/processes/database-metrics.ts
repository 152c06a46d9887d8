import { setTimeout } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import type { Deps } from '../deps';
import { measureJobs } from '../jobs/measure-jobs';
import { TASK_NAMES } from '../jobs/tasks';
import { measureQueues } from '../webhooks/measure-queues';

/** Age limit of cached results: several readers of the page cost the database one reading. */
const MAX_AGE_MS = 5_000;
/** A page is made without the database when that takes longer. */
const TIMEOUT_MS = 2_000;

/**
 * Returns a function that renders the metrics of the database: waiting jobs and webhooks. They are
 * equal in every process, so they are no part of the sum over processes. While the database does
 * not answer, the text says only that.
 */
export function databaseMetrics(
  { parts, clock, log }: Pick<Deps, 'parts' | 'clock' | 'log'>,
  max_age_ms = MAX_AGE_MS,
): () => Promise<string> {
  let reading: Promise<string> | undefined;
  const read = () => {
    reading ??= readAll(parts(), clock())
      .then(
        (found) => textOf(found),
        (error: unknown) => {
          log.warn({ err: error }, 'the database could not be measured');
          return textOf(undefined);
        },
      )
      .finally(() => void setTimeout(max_age_ms, undefined, { ref: false }).then(forget));
    return reading;
  };
  const forget = () => void (reading = undefined);
  return () =>
    Promise.race([
      read(),
      setTimeout(TIMEOUT_MS, undefined, { ref: false }).then(() => textOf(undefined)),
    ]);
}

interface Found {
  jobs: Awaited<ReturnType<typeof measureJobs>>[];
  webhooks: Awaited<ReturnType<typeof measureQueues>>[];
  now: Date;
}

const readAll = async (parts: readonly Pick<Deps, 'database'>[], now: Date): Promise<Found> => ({
  jobs: await Promise.all(parts.map(({ database }) => measureJobs(database.sql))),
  webhooks: await Promise.all(parts.map(({ database }) => measureQueues(database.sql, now))),
  now,
});

/** Several databases are added up; the age is that of the oldest of all. */
function textOf(found: Found | undefined): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `trunkline_${name}`, help, labelNames, registers: [registry] });
  gauge('database_up', 'Whether the database could be measured.').set(found ? 1 : 0);
  if (!found) return registry.metrics();
  const { jobs, webhooks, now } = found;
  const kind = ['kind'];
  const waiting = gauge('jobs_waiting', 'Jobs that could run now.', kind);
  const running = gauge('jobs_running', 'Jobs that run, in any process.', kind);
  const oldest = gauge('jobs_oldest_waiting_seconds', 'How long the oldest job waits.', kind);
  for (const name of TASK_NAMES) {
    const of_kind = jobs.map((each) => each.get(name)!);
    waiting.set({ kind: name }, sum(of_kind.map((each) => each.waiting)));
    running.set({ kind: name }, sum(of_kind.map((each) => each.running)));
    oldest.set({ kind: name }, longest(of_kind, new Date()));
  }
  gauge('webhooks_due', 'Webhooks that have something to send now.').set(
    sum(webhooks.map(({ due }) => due)),
  );
  gauge('webhooks_oldest_due_seconds', 'How long the oldest delivery that is due waits.').set(
    longest(webhooks, now),
  );
  return registry.metrics();
}

const sum = (counts: readonly number[]): number => counts.reduce((total, n) => total + n, 0);

/** Seconds since the oldest of these times; 0 where there is none. */
const longest = (found: readonly { oldest: Date | null }[], now: Date): number =>
  Math.max(0, ...found.map(({ oldest }) => (oldest ? (now.getTime() - +oldest) / 1000 : 0)));
