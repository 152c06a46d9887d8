import { setTimeout } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import type { Deps } from '../../domain/deps';
import { measureJobs } from '../../data/jobs/measure-jobs';
import { TASK_NAMES } from '../../data/jobs/tasks';
import { findLastBackup, type LastBackup } from '../../operate/backup/last-backup';
import { measureQueues } from '../../domain/webhooks/measure-queues';

/** Age limit of cached results: several readers of the page cost the database one reading. */
const MAX_AGE_MS = 5_000;
/** A page is made without the database when that takes longer. */
const TIMEOUT_MS = 2_000;

/**
 * Returns a function that renders the metrics of the database: waiting jobs and webhooks, and the
 * last backup. They are equal in every process, so they are no part of the sum over processes.
 * While the database does not answer, the text says only that.
 */
export function databaseMetrics(
  deps: Pick<Deps, 'database' | 'parts' | 'clock' | 'log'>,
  maxAgeMs = MAX_AGE_MS,
): () => Promise<string> {
  let reading: Promise<string> | undefined;
  const read = () => {
    reading ??= readAll(deps)
      .then(
        (measured) => renderMetrics(measured),
        (error: unknown) => {
          deps.log.warn({ err: error }, 'the database could not be measured');
          return renderMetrics(undefined);
        },
      )
      .finally(() => void setTimeout(maxAgeMs, undefined, { ref: false }).then(forget));
    return reading;
  };
  const forget = () => void (reading = undefined);
  return () =>
    Promise.race([
      read(),
      setTimeout(TIMEOUT_MS, undefined, { ref: false }).then(() => renderMetrics(undefined)),
    ]);
}

interface Measured {
  jobs: Awaited<ReturnType<typeof measureJobs>>[];
  webhooks: Awaited<ReturnType<typeof measureQueues>>[];
  /** Undefined before the first. */
  last_backup: LastBackup | undefined;
  now: Date;
}

async function readAll({
  database,
  parts,
  clock,
}: Pick<Deps, 'database' | 'parts' | 'clock'>): Promise<Measured> {
  const now = clock();
  const all = parts().map((part) => part.database.sql);
  return {
    jobs: await Promise.all(all.map((sql) => measureJobs(sql))),
    webhooks: await Promise.all(all.map((sql) => measureQueues(sql, now))),
    last_backup: await findLastBackup(database.sql),
    now,
  };
}

/** Several databases are added up; the age is that of the oldest of all. */
function renderMetrics(measured: Measured | undefined): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `trunkline_${name}`, help, labelNames, registers: [registry] });
  gauge('database_up', 'Whether the database could be measured.').set(measured ? 1 : 0);
  if (!measured) return registry.metrics();
  const { jobs, webhooks, last_backup: lastBackup, now } = measured;
  const kind = ['kind'];
  const waiting = gauge('jobs_waiting', 'Jobs that could run now.', kind);
  const running = gauge('jobs_running', 'Jobs that run, in any process.', kind);
  const oldest = gauge('jobs_oldest_waiting_seconds', 'How long the oldest job waits.', kind);
  for (const name of TASK_NAMES) {
    const ofKind = jobs.map((byKind) => byKind.get(name)!);
    waiting.set({ kind: name }, sum(ofKind.map((backlog) => backlog.waiting)));
    running.set({ kind: name }, sum(ofKind.map((backlog) => backlog.running)));
    oldest.set({ kind: name }, computeLongestWait(ofKind, new Date()));
  }
  gauge('webhooks_due', 'Webhooks that have something to send now.').set(
    sum(webhooks.map(({ due }) => due)),
  );
  gauge('webhooks_oldest_due_seconds', 'How long the oldest delivery that is due waits.').set(
    computeLongestWait(webhooks, now),
  );
  // A gauge that is not set would say 1970.
  if (lastBackup)
    gauge('last_backup_timestamp_seconds', 'When everything was last backed up.').set(
      +lastBackup.at / 1000,
    );
  return registry.metrics();
}

const sum = (counts: readonly number[]): number => counts.reduce((total, n) => total + n, 0);

/** Seconds since the oldest of these times; 0 where there is none. */
const computeLongestWait = (items: readonly { oldest: Date | null }[], now: Date): number =>
  Math.max(0, ...items.map(({ oldest }) => (oldest ? (now.getTime() - +oldest) / 1000 : 0)));
