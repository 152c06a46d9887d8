import type { Deps } from '../deps';
import type { Running } from '../jobs/loop';
import { startWorkers } from '../jobs/workers';
import { startCallCosts, startLegs, startTriggers } from './batch-loops';
import { startHousekeeping } from './housekeeping-loop';
import { startOutreach } from './outreach-loop';
import { createRunners } from './runners';
import { startWebhooks } from './webhook-loops';

/**
 * Starts everything that runs without a request: queued jobs, outreach, housekeeping, triggers,
 * legs, webhooks.
 */
export async function startJobs({ parts }: Pick<Deps, 'parts'>): Promise<Running> {
  const running = await Promise.all(parts().map(startJobsOf));
  return { stop: async () => void (await Promise.all(running.map((each) => each.stop()))) };
}

/** The same for one database. */
async function startJobsOf(deps: Deps): Promise<Running> {
  const { database, log } = deps;
  const workers = await startWorkers({ database, log, runners: createRunners(deps) });
  const all: Running[] = [
    workers,
    startOutreach(deps),
    startHousekeeping(deps),
    startTriggers(deps),
    startLegs(deps),
    startCallCosts(deps),
    startWebhooks(deps),
  ];
  return { stop: async () => void (await Promise.all(all.map((each) => each.stop()))) };
}
