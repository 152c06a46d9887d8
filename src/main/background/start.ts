import { setTimeout } from 'node:timers/promises';
import type { Deps } from '../../domain/deps';
import type { Running } from '../../data/jobs/loop';
import { startWorkers } from '../../data/jobs/workers';
import { startAlerts, startCallCosts, startLegs, startTriggers } from './batch-loops';
import { startHousekeeping } from './housekeeping-loop';
import { startOutreach } from './outreach-loop';
import { createRunners } from './runners';
import { startWebhooks } from './webhook-loops';

const LOOK_MS = 1_000;

/**
 * Starts everything that runs without a request: queued jobs, outreach, housekeeping, triggers,
 * legs, webhooks. In a distributed installation the jobs follow the cells, which come, go and move.
 */
export async function startJobs({ parts, log }: Pick<Deps, 'parts' | 'log'>): Promise<Running> {
  const running = new Map<Deps, Running>();
  const follow = async () => {
    const currentParts = new Set(parts());
    for (const [part, jobs] of running)
      if (!currentParts.has(part)) {
        running.delete(part);
        await jobs.stop();
      }
    for (const part of currentParts)
      if (!running.has(part)) running.set(part, await startPartJobs(part));
  };
  await follow();
  const stopping = new AbortController();
  const following = (async () => {
    while (!stopping.signal.aborted) {
      await setTimeout(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      await follow().catch((error: unknown) => log.warn({ err: error }, 'jobs do not start'));
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await following;
      await Promise.all([...running.values()].map((jobs) => jobs.stop()));
    },
  };
}

async function startPartJobs(deps: Deps): Promise<Running> {
  const { database, log } = deps;
  const workers = await startWorkers({ database, log, runners: createRunners(deps) });
  const all: Running[] = [
    workers,
    startOutreach(deps),
    startHousekeeping(deps),
    startTriggers(deps),
    startLegs(deps),
    startCallCosts(deps),
    startAlerts(deps),
    startWebhooks(deps),
  ];
  return { stop: async () => void (await Promise.all(all.map((loop) => loop.stop()))) };
}
